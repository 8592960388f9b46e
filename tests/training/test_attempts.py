from fathom.training.attempts import Attempts
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
