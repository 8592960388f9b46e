import pytest

from fathom.errors import FathomError
from fathom.subwords.sides import require_corpus, sides
from tests.subwords.small_corpus import LANGUAGES, ODD, TASKS, small_data


def test_many_to_one_translates_into_the_pivot_and_one_to_many_out_of_it():
    source, target = sides(small_data())
    assert source.languages == LANGUAGES
    assert set(target.languages.values()) == {"eng"}
    source, target = sides(small_data(direction="one_to_many"))
    assert set(source.languages.values()) == {"eng"}
    assert target.languages == LANGUAGES


def test_a_joint_side_has_one_part_and_a_side_per_task_has_one_for_each():
    source, target = sides(small_data(source_parts="per_task"))
    assert source.parts == {task: [task] for task in TASKS}
    assert [source.part(task) for task in TASKS] == list(TASKS)
    assert target.parts == {"target": list(TASKS)}
    assert target.part("kor") == "target"


@pytest.mark.parametrize(
    ("direction", "side"), [("many_to_one", "target"), ("one_to_many", "source")]
)
def test_the_pivot_side_cannot_have_a_model_for_each_task(direction, side):
    key = f"{side}_parts"
    with pytest.raises(FathomError, match=f"data.subwords.{key}"):
        sides(small_data(direction=direction, **{key: "per_task"}))


def test_only_line_feeds_end_a_sentence(corpus):
    source, target = sides(small_data())
    lines = source.lines(corpus, "bos", "train")
    assert lines[3] == ODD
    assert len(lines) == len(target.lines(corpus, "bos", "train"))


def test_training_lines_come_task_by_task(corpus):
    source, _ = sides(small_data())
    expected = [line for task in TASKS for line in source.lines(corpus, task, "train")]
    assert list(source.training_lines(corpus, "source")) == expected


def test_a_corpus_without_its_summary_is_not_finished(tmp_path, corpus):
    require_corpus(corpus)
    with pytest.raises(FathomError):
        require_corpus(tmp_path)


def test_a_file_that_the_corpus_lacks_is_named(tmp_path):
    source, _ = sides(small_data())
    with pytest.raises(FathomError, match=r"kor/train\.hangul: no such file"):
        source.lines(tmp_path, "kor", "train")
