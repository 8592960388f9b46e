import pytest

from fathom.data.subwords.sides import sides, sides_of_pieces
from fathom.io.files import write_lines
from tests.support.small_corpus import DEFINITION, LANGUAGES, TASKS, record_corpus, small_data

ENGLISH = dict.fromkeys(TASKS, "eng")
ALONE = {"tasks": DEFINITION["tasks"]}
PAIR = {"tasks": [["law", "fra"], ["it", "fra"]], "pivot": "eng"}


def test_many_to_one_translates_into_the_pivot_and_one_to_many_out_of_it():
    source, target = sides(small_data())
    assert (source.name, source.languages) == ("source", LANGUAGES)
    assert (target.name, target.languages) == ("target", ENGLISH)
    source, target = sides(small_data(direction="one_to_many"))
    assert (source.languages, target.languages) == (ENGLISH, LANGUAGES)


@pytest.mark.parametrize(
    ("translates", "source", "target"),
    [(["eng", "fra"], "eng", "fra"), (["fra", "eng"], "fra", "eng")],
)
def test_one_language_pair_has_the_direction_of_its_data_set(translates, source, target):
    data = small_data(PAIR | {"translates": translates}, direction=None, joint=100)
    for side, language in zip(sides(data), (source, target), strict=True):
        assert side.languages == {"law": language, "it": language}


def test_text_without_pairs_has_the_source_side_alone():
    (source,) = sides(small_data(ALONE, direction=None, joint=100))
    assert (source.name, source.languages) == ("source", LANGUAGES)


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


def test_a_side_reads_its_language(corpus):
    source, target = sides(small_data())
    ours, theirs = (list(side.lines(corpus, "kor", "train")) for side in (source, target))
    assert ours != theirs
    assert len(ours) == len(theirs)


def test_pieces_of_another_data_set_have_its_tasks():
    other = {"tasks": [["sun", "bos"]], "pivot": "eng"}
    data = small_data(pieces=other, joint=100)
    assert sides(data)[0].languages == LANGUAGES
    assert sides_of_pieces(data)[0].languages == {"sun": "bos"}
    assert sides_of_pieces(small_data()) == sides(small_data())
