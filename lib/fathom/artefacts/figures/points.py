"""The points of a figure for each seed, where a reader needs more than the drawn one."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fathom.artefacts.figures import kinds
from fathom.artefacts.figures.inputs import Inputs, RunFiles
from fathom.artefacts.table.sources import NOT_RUN, outcome_words
from fathom.config.figures import Figure
from fathom.config.schema.figures import Drawn, series_named

if TYPE_CHECKING:
    from pandas import DataFrame

# The columns of a figure's csv that have the axes of a curve or a picture, by how many these are.
_COLUMNS = {1: ("x",), 2: ("row", "column")}


def axes(drawn: Drawn) -> dict[str, str]:
    """Return the axis of a curve, which is `x`, or those of a picture, `row` and `column`."""
    return dict(zip(_COLUMNS[len(drawn.axes)], drawn.axes, strict=True))


def worst(figure: Figure) -> float:
    """Return the bad end of what is drawn; nan unless all series of the figure have the same."""
    bounds = {series_named(name).worst for name in _series(figure.values.plain)}
    return bounds.pop() if len(bounds) == 1 else math.nan


def _series(values: Any) -> Iterator[str]:
    """Yield the series that a figure names, in its panels and lines too."""
    for key, value in values.items() if isinstance(values, dict) else ():
        if key == "series":
            yield str(value)
        yield from _series(value)


def by_seed(figure: Figure, inputs: Inputs) -> "dict[int, DataFrame]":
    """Return the numbers of a figure's csv for each seed; a training under way is not run.

    A training without a result has its outcome in place of numbers, where these have a bad end.

    Args:
        figure: the figure.
        inputs: its runs with all their seeds.

    Raises:
        FathomError: a file that it is drawn from cannot be used.
    """
    frames, judged = {}, not math.isnan(worst(figure))
    for seed in sorted({seed for run in inputs.runs.values() for seed in run.source.folders}):
        runs = {name: with_seed(run, seed) for name, run in inputs.runs.items()}
        points = kinds.rows(figure, replace(inputs, runs=runs))
        for run in runs.values():
            training = run.source.training(run.seed)
            words = outcome_words(training) if training else NOT_RUN
            if words and (judged or training is None):
                points.loc[points["run"] == run.name, "words"] = words
        frames[seed] = points.loc[points["seed"] == seed]
    return frames


def with_seed(run: RunFiles, seed: int) -> RunFiles:
    """Return a run with one of its seeds, or with its first where it has no such seed."""
    seed = seed if seed in run.source.folders else run.seed
    folders = {seed: run.source.folders[seed]}
    return replace(run, source=replace(run.source, folders=folders))
