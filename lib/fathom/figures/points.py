"""The points of a figure for each seed, where a reader needs more than the drawn one."""

from dataclasses import replace
from typing import TYPE_CHECKING

from fathom.figures import kinds
from fathom.figures.inputs import Inputs, RunFiles
from fathom.papers.figures import Figure
from fathom.tables.sources import NOT_RUN

if TYPE_CHECKING:
    from pandas import DataFrame

# Which setting of a figure names the axis of a column of its csv.
_AXES = {"x": "x", "row": "rows", "column": "columns"}


def axes(figure: Figure) -> dict[str, str]:
    """Return the axis that is drawn as `x`, `row` and `column`."""
    values = figure.entry.values
    return {column: str(values[key]) for column, key in _AXES.items() if key in values}


def by_seed(figure: Figure, inputs: Inputs) -> "dict[int, DataFrame]":
    """Return the numbers of a figure's csv for each seed; a training under way is not run.

    Args:
        figure: the figure.
        inputs: its runs with all their seeds.

    Raises:
        FathomError: a file that it is drawn from cannot be used.
    """
    frames = {}
    for seed in sorted({seed for run in inputs.runs.values() for seed in run.source.folders}):
        runs = {name: with_seed(run, seed) for name, run in inputs.runs.items()}
        points = kinds.rows(figure, replace(inputs, runs=runs))
        under_way = [run.name for run in runs.values() if run.source.training(run.seed) is None]
        points.loc[points["run"].isin(under_way), "words"] = NOT_RUN
        frames[seed] = points.loc[points["seed"] == seed]
    return frames


def with_seed(run: RunFiles, seed: int) -> RunFiles:
    """Return a run with one of its seeds, or with its first where it has no such seed."""
    seed = seed if seed in run.source.folders else run.seed
    folders = {seed: run.source.folders[seed]}
    return replace(run, source=replace(run.source, folders=folders))
