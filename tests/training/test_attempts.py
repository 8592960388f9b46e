import pytest

from fathom.training.attempts import DAMAGED, Attempts, recipe_of, recorded
from tests.support.refused import says
from tests.support.small_corpus import silent


def test_an_attempt_without_an_end_was_killed_and_stays_in_the_list(tmp_path):
    path = tmp_path / "attempts.json"
    Attempts(path, silent).start(0, recipe=2)
    second = Attempts(path, silent)
    second.start(40, recipe=3)
    second.end(100, "finished")
    first, last = Attempts(path, silent).all
    assert (first["from_update"], first["end"], first["ended_as"]) == (0, None, None)
    assert (last["from_update"], last["to_update"], last["ended_as"]) == (40, 100, "finished")
    assert last["pid"]


def test_a_resumed_training_has_the_lowest_recipe_of_its_attempts(tmp_path):
    attempts = Attempts(tmp_path / "attempts.json", silent)
    for recipe in (3, 2, 4):
        attempts.start(0, recipe)
    assert attempts.recipe == 2


DAMAGES = [b"", b"{}", b"[]", b"\0\0\0", b"\xff", b'{"attempts": {}}', b'{"attempts": [1]}']


@pytest.mark.parametrize("content", DAMAGES)
def test_a_damaged_list_is_set_aside_with_one_line_and_begins_again(tmp_path, content):
    path = tmp_path / "attempts.json"
    path.write_bytes(content)
    assert recorded(path) is None
    lines = []
    attempts = Attempts(path, lines.append)
    assert len(lines) == 1
    says("damaged attempts", where="attempts.json").check(lines)
    assert attempts.all == []
    assert (tmp_path / DAMAGED).read_bytes() == content
    attempts.start(3, recipe=2)
    assert [one["from_update"] for one in recorded(path)] == [3]


def test_a_list_that_is_not_there_is_empty(tmp_path):
    assert recorded(tmp_path / "attempts.json") == []


@pytest.mark.parametrize("attempt", [{}, {"recipe": None}, {"recipe": "2"}])
def test_an_attempt_without_a_recipe_is_older_than_all(attempt):
    assert recipe_of(attempt) == 0
