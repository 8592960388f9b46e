from itertools import pairwise

import pytest

from fathom.config.rules import subword_faults
from fathom.data.subwords.texts import Text, evenly, require_corpus, text_models
from fathom.io.errors import FathomError
from fathom.io.files import write_lines
from tests.support.refused import refused
from tests.support.small_corpus import DEFINITION, LANGUAGES, ODD, TASKS, small_data, write_corpus

OWN = tuple(Text(task, LANGUAGES[task]) for task in TASKS)
PIVOT = tuple(Text(task, "eng") for task in TASKS)
ALONE = {"tasks": DEFINITION["tasks"]}
MARKED = DEFINITION | {"pieces": "marked"}


def test_foreign_and_english_are_a_model_each():
    foreign_english = text_models(small_data())
    assert [(model.name, model.pieces) for model in foreign_english] == [
        ("english", 80),
        ("foreign", 120),
    ]
    assert [model.texts for model in foreign_english] == [PIVOT, OWN]


def test_joint_is_one_model_of_all_text():
    (joint,) = text_models(small_data(joint=100))
    assert (joint.name, joint.key, joint.pieces, joint.texts) == (
        "joint",
        "joint",
        100,
        OWN + PIVOT,
    )


def test_per_task_is_a_model_for_each_task():
    english, *models = text_models(small_data(per_task=60))
    assert english.name == "english"
    assert [model.name for model in models] == [f"per_task.{task}" for task in TASKS]
    assert [model.texts for model in models] == [(text,) for text in OWN]
    assert {(model.key, model.pieces) for model in models} == {("per_task", 60)}


def test_text_without_pairs_is_one_text_for_each_task():
    (joint,) = text_models(small_data(ALONE, joint=100, direction=None))
    assert joint.texts == OWN


def test_the_models_do_not_depend_on_the_direction():
    there, back = (text_models(small_data(direction=way)) for way in ("many_to_one", "one_to_many"))
    assert there == back


def test_pieces_of_another_data_set_learn_from_its_text():
    other = {"tasks": [["sun", "bos"]], "pivot": "eng"}
    (joint,) = text_models(small_data(pieces=other, joint=100))
    assert joint.texts == (Text("sun", "bos"), Text("sun", "eng"))


def test_text_that_comes_in_pieces_needs_no_model():
    assert text_models(small_data(MARKED, algorithm="published")) == ()


def test_published_pieces_need_text_that_comes_in_pieces_and_it_needs_them():
    with refused("no pieces of its own", where="data.subwords.algorithm"):
        text_models(small_data(algorithm="published"))
    with refused("comes cut", where="data.subwords.algorithm", remedy="published"):
        text_models(small_data(MARKED))


def test_pieces_are_not_taken_of_text_that_is_cut_in_another_way():
    with refused("one comes cut", where="data.pieces_of"):
        text_models(small_data(MARKED, pieces=DEFINITION))


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (small_data(ALONE, direction=None), "data.subwords.english"),
        (small_data(pieces=ALONE, joint=100), "data.pieces_of"),
        (
            small_data(pieces={"tasks": [["bos", "bos"]], "pivot": "eng"}, per_task=9),
            "data.pieces_of",
        ),
    ],
)
def test_keys_that_ask_for_missing_text_are_named(data, where):
    assert [".".join(key) for key, _, _ in subword_faults(data)] == [where]
    with pytest.raises(FathomError):
        text_models(data)


def test_training_lines_come_text_by_text(corpus):
    (joint,) = text_models(small_data(joint=100))
    expected = [line for text in OWN + PIVOT for line in text.lines(corpus, "train")]
    assert list(joint.training_lines(corpus)) == expected


def test_a_model_may_learn_from_some_sentences_that_are_drawn_evenly(corpus):
    (all_of_them,) = text_models(small_data(joint=100))
    lines = list(all_of_them.training_lines(corpus))
    (some,) = text_models(small_data(joint=100, sentences=len(lines) // 3))
    assert list(some.training_lines(corpus)) == lines[2::3][: len(lines) // 3]
    (more,) = text_models(small_data(joint=100, sentences=2 * len(lines)))
    assert list(more.training_lines(corpus)) == lines


@pytest.mark.parametrize(("total", "most"), [(10, 3), (10, 10), (7, 1), (0, 0)])
def test_as_many_lines_are_drawn_as_are_asked_for(total, most):
    numbers = [int(line) for line in evenly(map(str, range(total)), total, most)]
    assert len(numbers) == most
    assert len({after - before for before, after in pairwise(numbers)}) <= 2


def test_only_line_feeds_end_a_sentence(corpus):
    lines = list(Text("bos", "bos").lines(corpus, "train"))
    assert lines[3] == ODD
    assert len(lines) == len(list(Text("bos", "eng").lines(corpus, "train")))


def test_a_corpus_without_its_summary_is_not_finished(tmp_path, corpus):
    require_corpus(corpus)
    with pytest.raises(FathomError):
        require_corpus(tmp_path)


def test_a_file_that_the_corpus_lacks_is_named(tmp_path):
    corpus = write_corpus(tmp_path)
    (corpus / "kor" / "train.hangul").unlink()
    with refused("no such file", where=corpus / "kor" / "train.hangul"):
        Text("kor", "hangul").lines(corpus, "train")
    with refused("not recorded", "corpus.json", where=corpus / "kor" / "train.kor"):
        Text("kor", "kor").lines(corpus, "train")


def test_a_text_that_is_not_the_prepared_one_is_refused(tmp_path):
    corpus = write_corpus(tmp_path / "corpora" / "small-12345678")
    write_lines(corpus / "bos" / "test.eng", ["ta lo"])
    with refused("changed file", where="test.eng", remedy="fathom prepare small-12345678"):
        Text("bos", "eng").lines(corpus, "test")
