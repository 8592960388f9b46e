"""A training of an older recipe, deleted so that the run is trained again from nothing."""

import shutil
from collections.abc import Callable
from pathlib import Path

from fathom.io.locks import HOLDER, LOCK
from fathom.results.recipe import RECIPE
from fathom.train.attempts import recipe_of, recorded

# The lines of all attempts stay, and the lock, which is held.
STAYS = ("train.log", LOCK, HOLDER)


def delete_stale(folder: Path, report: Callable[[str], None]) -> None:
    """Delete what a training of an older recipe left, its translations and measurements too.

    Args:
        folder: of the run and seed, whose lock this process holds.
        report: called with a line, where something is deleted.
    """
    attempts = recorded(folder / "attempts.json") or []
    recipe = min(map(recipe_of, attempts), default=RECIPE["training"])
    if recipe >= RECIPE["training"]:
        return
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in STAYS:
            path.unlink()
    today = RECIPE["training"]
    report(f"{folder}: of recipe {recipe}, but today's is {today}: trained again from nothing")
