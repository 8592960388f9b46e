"""A result is stale if a stage's recipe was raised after it."""

from fathom.results import recipe
from tests.support.refused import prose


def test_each_stage_has_a_recipe_of_its_own():
    assert set(recipe.RECIPE) == {"training", "decoding", "scoring"}


def test_only_what_was_made_with_another_recipe_is_stale(monkeypatch):
    monkeypatch.setattr(recipe, "RECIPE", {"training": 2, "decoding": 1, "scoring": 1})
    assert recipe.stale({"training": 2, "decoding": 1}) == {}
    assert recipe.stale({"training": 1, "scoring": 1}) == {"training": prose("older recipe", 1, 2)}
    assert recipe.stale({"decoding": 5}) == {"decoding": prose("newer recipe", 5, 1)}
