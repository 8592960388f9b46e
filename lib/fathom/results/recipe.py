"""Which recipe made a result: one number for each stage, raised by whoever changes its numbers.

A comment, a message or a new file changes no number and leaves the recipe as it is. The frozen tiny
runs (tests/pipeline/reference.json) show when a number has moved and its recipe was not raised.
"""

from collections.abc import Mapping

RECIPE = {"training": 2, "decoding": 1, "scoring": 1}


def stale(recorded: Mapping[str, int]) -> dict[str, str]:
    """Return the stages whose recorded recipe is not today's, each with a sentence that says so.

    Args:
        recorded: the recipe of each stage that a result went through, as its files record it.
    """
    return {
        stage: f"recipe {recipe} is older than {RECIPE[stage]}"
        if recipe < RECIPE[stage]
        else f"recipe {recipe} is newer than {RECIPE[stage]}: update fathom"
        for stage, recipe in recorded.items()
        if recipe != RECIPE[stage]
    }
