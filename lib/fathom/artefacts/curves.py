"""Learning curves: training and validation NLL of runs, with the unigram baseline.

The page of a paper shows them for the rows of its tables; `fathom figure <table> --curves` writes
them alone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from fathom.artefacts.figures import drawing
from fathom.artefacts.parameters import KEY as PARAMETERS
from fathom.artefacts.rendering import write_csv
from fathom.artefacts.table.sources import NOT_RUN, ResultSource, SeriesLost
from fathom.config.schema.figures import UPDATE
from fathom.config.tables import Cell
from fathom.io import metrics
from fathom.io.files import is_there, write_text
from fathom.io.metrics import Row
from fathom.results import training_record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ABOVE = 0.4  # nats above the unigram baseline that are drawn
COLUMNS = ("label", "run", "seed", "series", "update", "nll")  # of the csv
HEIGHT, LETTERS = 1.1, 30  # of a panel: inches, and letters of a line of its title
GREY = "#8A8A8A"
LEGEND = (
    "NLL in nats per token over updates: training (grey), validation (blue, with its last value); "
    "dashed: the unigram baseline.",
    "Of several seeds the median, and of validation the range and the last value of each.",
)

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SeedCurve:
    """One training: NLL in nats per token over its updates."""

    seed: int
    training: Points  # of the batches that were logged
    validation: Points
    unigram: float | None  # the baseline on the validation text; None before the training ended
    words: str  # how it ended, where it has no result


@dataclass(frozen=True)
class LearningCurve:
    """A run with the curves of its seeds."""

    label: str
    run: str
    seeds: tuple[SeedCurve, ...]
    lost: tuple[str, ...] = ()  # which series are left out, and why

    @property
    def words(self) -> str:
        """What a reader who cannot see the curve must know."""
        if not self.seeds:
            return NOT_RUN
        several, averaged = len(self.seeds) > 1, self.averaged
        ended = [
            f"seed {seed.seed} {seed.words}" if several else seed.words
            for seed in self.seeds
            if seed.words
        ]
        if self.last is None:
            return ", ".join(ended) or "no validation yet"
        updates = sorted({round(seed.validation[-1][0]) for seed in averaged})
        at = " to ".join(map(str, dict.fromkeys((updates[0], updates[-1]))))
        words = [f"validation NLL {self.last:.2f} nats at update {at}"]
        if several:
            count, first = len(averaged), averaged[0].seed
            words.append(f"mean of {count} seeds" if count > 1 else f"seed {first}")
        if self.unigram is not None:
            words.append(f"unigram baseline {self.unigram:.2f}")
        return ", ".join([*words, *ended])

    @property
    def averaged(self) -> tuple[SeedCurve, ...]:
        """The seeds whose last validation counts: those with a result, or all if none has one."""
        validated = tuple(seed for seed in self.seeds if seed.validation)
        return tuple(seed for seed in validated if not seed.words) or validated

    @property
    def last(self) -> float | None:
        """The mean of the last validation over seeds."""
        values = [seed.validation[-1][1] for seed in self.averaged]
        return sum(values) / len(values) if values else None

    @property
    def unigram(self) -> float | None:
        """The unigram baseline; None before a training has ended."""
        return next((seed.unigram for seed in self.seeds if seed.unigram is not None), None)


def curve(label: str, source: ResultSource) -> LearningCurve:
    """Return the curves of all seeds of a run that were started; damaged series are left out."""
    seeds, lost = [], []
    for seed in source.folders:
        try:
            path = source.recorded(seed, "metrics.tsv")
        except SeriesLost as error:
            lost.append(f"{label}, seed {seed}: {error.note}")
            continue
        rows = metrics.read(path) if is_there(path) else []
        training, validation = (_points(rows, column) for column in ("nll", "valid_nll"))
        if training or validation:
            unigram, words, record = None, "has not ended", path.with_name("training.json")
            if is_there(record):
                file = training_record.read(record)
                unigram = file.unigram_nll
                words = "" if file.outcome.finished else file.outcome.words
            seeds.append(SeedCurve(seed, training, validation, unigram, words))
    return LearningCurve(label, source.name, tuple(seeds), tuple(lost))


def run_labels(cells: Iterable[Cell]) -> dict[str, str]:
    """Return what each run of a table is called: its row, and its column where that decides.

    A row that counts parameters names a run only if no other row has it.
    """
    runs = (cell for cell in cells if cell.kind == "run")
    cells = sorted(runs, key=lambda cell: cell.key == PARAMETERS)
    runs_of_row: dict[tuple[str, str], set[str]] = {}
    for cell in cells:
        runs_of_row.setdefault((cell.block, cell.row), set()).add(cell.source)
    names: dict[str, str] = {}
    for cell in cells:
        several = len(runs_of_row[cell.block, cell.row]) > 1
        name = f"{cell.row}, {cell.column}" if several else cell.row
        names.setdefault(cell.source, f"{cell.block}: {name}" if cell.block else name)
    return names


def rows(curves: Iterable[LearningCurve]) -> list[dict[str, Any]]:
    """Return a line for each point, all of them, by COLUMNS."""
    lines = []
    for curve in curves:
        for seed in curve.seeds:
            last = seed.validation[-1][0] if seed.validation else 0.0
            baseline = () if seed.unigram is None else ((last, seed.unigram),)
            series = {"nll.train": seed.training, "nll.valid": seed.validation, "unigram": baseline}
            for name, points in series.items():
                lines += [(curve.label, curve.run, seed.seed, name, *point) for point in points]
    return [dict(zip(COLUMNS, line, strict=True)) for line in lines]


def write(title: str, curves: Sequence[LearningCurve], stem: Path) -> None:
    """Write curves as svg and csv, to a path without a suffix."""
    write_csv(stem.with_suffix(".csv"), COLUMNS, rows(curves))
    with drawing.styled():
        drawn = draw(curves)
        drawing.print_around(drawn, title, LEGEND)
        text = drawing.rendered(drawn, "svg").decode("utf-8")
    write_text(stem.with_suffix(".svg"), text)


def draw(curves: Sequence[LearningCurve]) -> "Drawing":
    """Return a panel for each run, all of which must have been started, with one vertical axis.

    What is above the axis is cut off.
    """
    figure, axes = drawing.panels(len(curves), HEIGHT)
    nats = _range(curves)
    for panel, curve in zip(axes, curves, strict=True):
        _draw_curve(panel, curve)
        panel.set_ylim(*nats)
    drawing.share_labels(axes)
    return figure


def _draw_curve(panel: "Axes", curve: LearningCurve) -> None:
    """Draw the lines of a run over its seeds, and where each seed ends."""
    from matplotlib.ticker import MaxNLocator
    from pandas import DataFrame

    training, validation = (
        DataFrame([at for seed in curve.seeds for at in getattr(seed, name)], columns=["x", "nll"])
        for name in ("training", "validation")
    )
    # Of batches, the range says less than the median.
    batches = drawing.thinned(drawing.over_seeds(training, "nll")[["x", "median"]].to_numpy())
    panel.plot(*batches.T, color=GREY, linewidth=0.5)
    blue = drawing.look(0).color
    drawing.draw_seeds(panel, drawing.over_seeds(validation, "nll"), blue, linewidth=0.9)
    ends = [seed.validation[-1] for seed in curve.seeds if seed.validation]
    updates, lasts = ([end[at] for end in ends] for at in (0, 1))
    panel.plot(updates, lasts, "o", color=blue, markersize=2)
    if curve.unigram is not None:
        panel.axhline(curve.unigram, color=drawing.ink(), linewidth=0.5, linestyle="--")
    panel.set_title("\n".join(wrap(curve.label, LETTERS)), loc="left", fontsize="x-small")
    if curve.last is not None:
        place = {"xytext": (0, 2), "textcoords": "offset points", "ha": "right", "va": "bottom"}
        text = f"{curve.last:.2f}"
        panel.annotate(text, (max(updates), curve.last), **place, color=blue, fontsize="x-small")
    panel.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def _points(rows: Iterable[Row], column: str) -> Points:
    """Return a column of metrics.tsv over its updates, empty fields left out."""
    points = ((row[UPDATE] or 0.0, row.get(column)) for row in rows)
    return tuple((update, value) for update, value in points if value is not None)


def _range(curves: Sequence[LearningCurve]) -> tuple[int, int]:
    """Return the nats that are drawn; what is above them is cut off."""
    from numpy import array

    seeds = [seed for curve in curves for seed in curve.seeds]
    thinned = (drawing.thinned(array(seed.training or seed.validation)) for seed in seeds)
    values = [nll for seed in seeds for _, nll in seed.validation]
    values += [nll for points in thinned for _, nll in points]
    baselines = [seed.unigram for seed in seeds if seed.unigram is not None]
    low = math.floor(min(values))
    high = math.ceil(max(baselines) + ABOVE) if baselines else math.ceil(max(values))
    return low, max(high, low + 1)
