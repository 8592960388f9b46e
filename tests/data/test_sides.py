from itertools import pairwise

import pytest
from fairseq.data.data_utils import post_process
from fairseq.tokenizer import tokenize_line

from fathom.config.rules import subword_faults
from fathom.data.sides import Text, evenly, join_marked, sides, text_models
from fathom.io.errors import FathomError
from fathom.io.files import write_lines
from tests.support.refused import refused
from tests.support.small_corpus import (
    DEFINITION,
    LANGUAGES,
    ODD,
    TASKS,
    record_corpus,
    small_data,
    write_corpus,
)

ENGLISH = dict.fromkeys(TASKS, "eng")
FOREIGN = tuple(Text(task, LANGUAGES[task]) for task in TASKS)
PIVOT = tuple(Text(task, "eng") for task in TASKS)
ALONE = {"tasks": DEFINITION["tasks"]}
PAIR = {"tasks": [["law", "fra"], ["it", "fra"]], "pivot": "eng"}
BOTH = {language: {"law": language, "it": language} for language in ("eng", "fra")}
MARKED = DEFINITION | {"pieces": "marked"}


# Sides


@pytest.mark.parametrize(
    ("definition", "direction", "languages"),
    [
        (DEFINITION, "many_to_one", [LANGUAGES, ENGLISH]),
        (DEFINITION, "one_to_many", [ENGLISH, LANGUAGES]),
        # One language pair has the direction of its data set, text without pairs one side.
        (PAIR | {"translates": ["eng", "fra"]}, None, [BOTH["eng"], BOTH["fra"]]),
        (PAIR | {"translates": ["fra", "eng"]}, None, [BOTH["fra"], BOTH["eng"]]),
        (ALONE, None, [LANGUAGES]),
    ],
)
def test_the_sides_follow_the_direction(definition, direction, languages):
    found = sides(small_data(definition, direction=direction, joint=100))
    assert [side.languages for side in found] == languages
    assert [side.name for side in found] == ["source", "target"][: len(languages)]


@pytest.mark.parametrize(
    ("keys", "own", "pivot"),
    [
        ({}, dict.fromkeys(TASKS, "foreign"), "english"),
        ({"joint": 100}, dict.fromkeys(TASKS, "joint"), "joint"),
        ({"per_task": 60}, {task: f"per_task.{task}" for task in TASKS}, "english"),
    ],
)
def test_each_text_is_cut_by_its_model_in_both_directions(keys, own, pivot):
    for direction in ("many_to_one", "one_to_many"):
        both = sides(small_data(direction=direction, **keys))
        foreign, english = both if direction == "many_to_one" else both[::-1]
        assert foreign.models == own
        assert english.models == dict.fromkeys(TASKS, pivot)


def test_text_in_pieces_has_no_models_and_sentences_of_whole_words(tmp_path):
    marked = small_data(DEFINITION | {"pieces": "marked"}, algorithm="published")
    write_lines(tmp_path / "bos" / "test.eng", ["ta@@ lo mi", ""])
    record_corpus(tmp_path)
    for side in sides(marked):
        assert (side.models, side.marked) == ({}, True)
    assert list(sides(marked)[1].lines(tmp_path, "bos", "test")) == ["ta@@ lo mi", ""]
    assert sides(marked)[1].sentences(tmp_path, "bos", "test") == ["talo mi", ""]
    assert sides(small_data())[1].sentences(tmp_path, "bos", "test") == ["ta@@ lo mi", ""]


@pytest.mark.parametrize(
    "line",
    [
        "Die Re@@ publi@@ k &quot; ist &quot; ein@@ zig .",
        "one",
        "ends inside@@",
        "an @ and an @@ alone @@",
        "e@@@ mail@@ @@",
        "  wide\u3000blank\u00a0s \t ",
        "",
    ],
)
def test_marked_pieces_are_cut_and_joined_as_fairseq_does_it(line):
    assert line.split() == tokenize_line(line)
    assert join_marked(line.split()) == post_process(" ".join(line.split()), "@@ ")


# Models


@pytest.mark.parametrize(
    ("data", "models"),
    [
        (small_data(), [("english", "english", 80, PIVOT), ("foreign", "foreign", 120, FOREIGN)]),
        (small_data(direction="one_to_many"), text_models(small_data())),
        (small_data(joint=100), [("joint", "joint", 100, FOREIGN + PIVOT)]),
        (
            small_data(per_task=60),
            [
                ("english", "english", 80, PIVOT),
                *((f"per_task.{text.task}", "per_task", 60, (text,)) for text in FOREIGN),
            ],
        ),
        (small_data(ALONE, joint=100, direction=None), [("joint", "joint", 100, FOREIGN)]),
        (
            small_data(pieces={"tasks": [["sun", "bos"]], "pivot": "eng"}, joint=100),
            [("joint", "joint", 100, (Text("sun", "bos"), Text("sun", "eng")))],
        ),
        (small_data(MARKED, algorithm="published"), []),
    ],
)
def test_each_key_of_the_subwords_is_a_model_of_its_texts(data, models):
    if isinstance(models, list):
        found = [(model.name, model.key, model.pieces, model.texts) for model in text_models(data)]
    else:
        found = text_models(data)
    assert found == models


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (small_data(ALONE, direction=None), "data.subwords.english"),
        (small_data(algorithm="published"), "data.subwords.algorithm"),
        (small_data(MARKED), "data.subwords.algorithm"),
        (small_data(pieces=ALONE, joint=100), "data.pieces_of"),
        (small_data(MARKED, pieces=DEFINITION, algorithm="published"), "data.subwords.algorithm"),
        (
            small_data(pieces={"tasks": [["bos", "bos"]], "pivot": "eng"}, per_task=9),
            "data.pieces_of",
        ),
    ],
)
def test_keys_that_ask_for_missing_text_are_named(data, where):
    assert where in [".".join(key) for key, _, _ in subword_faults(data)]
    with pytest.raises(FathomError):
        text_models(data)


def test_a_model_may_learn_from_some_sentences_that_are_drawn_evenly(corpus):
    (all_of_them,) = text_models(small_data(joint=100))
    lines = list(all_of_them.training_lines(corpus))
    (some,) = text_models(small_data(joint=100, sentences=len(lines) // 3))
    assert list(some.training_lines(corpus)) == lines[2::3][: len(lines) // 3]
    (more,) = text_models(small_data(joint=100, sentences=2 * len(lines)))
    assert list(more.training_lines(corpus)) == lines
    for total, most in ((10, 3), (10, 10), (7, 1), (0, 0)):
        numbers = [int(line) for line in evenly(map(str, range(total)), total, most)]
        assert len(numbers) == most
        assert len({after - before for before, after in pairwise(numbers)}) <= 2


# Text of a corpus


def test_text_is_refused_that_is_not_finished_is_missing_or_not_the_prepared_one(tmp_path):
    corpus = write_corpus(tmp_path / "corpora" / "small-12345678")
    lines = list(Text("bos", "bos").lines(corpus, "train"))
    # Only line feeds end a sentence.
    assert lines[3] == ODD
    assert len(lines) == len(list(Text("bos", "eng").lines(corpus, "train")))
    (corpus / "kor" / "train.hangul").unlink()
    for language in ("hangul", "kor"):
        with refused(where=corpus / "kor" / f"train.{language}"):
            Text("kor", language).lines(corpus, "train")
    write_lines(corpus / "bos" / "test.eng", ["ta lo"])
    with pytest.raises(FathomError, match=r"test.eng.*fathom prepare small-12345678"):
        Text("bos", "eng").lines(corpus, "test")
