"""Learning curves: training and validation NLL of runs, with the unigram baseline.

The page of a paper shows them for the rows of its tables; `fathom curves` writes them alone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from fathom.artefacts.figures import drawing
from fathom.artefacts.parameters import KEY as PARAMETERS
from fathom.artefacts.rendering import environment
from fathom.artefacts.table.sources import NOT_RUN, ResultSource, SeriesLost
from fathom.config.schema.figures import UPDATE
from fathom.config.tables import Cell
from fathom.io import metrics
from fathom.io.files import is_there
from fathom.io.metrics import Row
from fathom.results import training_record

ABOVE = 0.4  # nats above the unigram baseline that are drawn
TICKS = 5
COLUMNS = ("label", "run", "seed", "series", "update", "nll")  # of the csv
BESIDE = 5  # pictures beside each other
LETTERS = 40  # of the legend below one picture
LEFT, WIDTH, HEIGHT = 24, 310, 190  # of a picture: what is left of its axes, and their size
LEGEND = (
    "NLL in nats per token over updates: training (grey), validation (blue), the median of several "
    "seeds, of validation with their range; dashed: the unigram baseline"
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

    @property
    def record(self) -> dict[str, Any]:
        """The same for programs; what is unknown is None."""
        seeds = []
        for seed in self.seeds:
            update, nll = seed.validation[-1] if seed.validation else (None, None)
            line = {"seed": seed.seed, "update": update, "last_validation": nll}
            seeds.append(line | {"unigram_nll": seed.unigram, "reason": seed.words})
        averaged = [seed.seed for seed in self.averaged]
        record = {"label": self.label, "run": self.run, "last_validation": self.last}
        return record | {"seeds_averaged": averaged, "seeds": seeds}


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


def svg(title: str, curves: Sequence[LearningCurve]) -> str:
    """Return a curve of each run as one picture; all have the same vertical axis."""
    columns = min(BESIDE, len(curves))
    return _rendered(
        "curves.svg",
        title=title,
        pictures=pictures(curves, "axes"),
        columns=columns,
        lines=math.ceil(len(curves) / columns),
        legend=wrap(LEGEND, LETTERS * columns),
    )


def pictures(curves: Iterable[LearningCurve], axes: str) -> list[tuple[LearningCurve, str]]:
    """Return a picture of each run that was started, as SVG within a page.

    All have one vertical axis. What several have in common, its ticks, the unigram baseline and the
    last update, the first of them draws under an id that begins with `axes`, and others use.
    curves.css has the looks of all parts.
    """
    started, shared, drawn = [curve for curve in curves if curve.seeds], dict[Any, str](), []
    for curve in started:
        parts = _drawn(curve, _range(started))
        common = (parts["unigram"], parts["last"])
        first = common not in shared
        name = shared.setdefault(common, f"{axes}-{len(shared)}")
        picture = _rendered("curve.svg", curve=curve, axes=name, first=first, **parts)
        drawn.append((curve, picture))
    return drawn


def _rendered(template: str, **values: Any) -> str:
    return environment(autoescape=True).get_template(template).render(values)


def _drawn(curve: LearningCurve, nats: tuple[int, int]) -> dict[str, Any]:
    """Return the lines of a run over its seeds, where each seed ends, and the ticks.

    What is above the axis is cut off by the picture's box.
    """
    from pandas import DataFrame

    low, high = nats
    names = ("training", "validation")
    points = {name: [at for seed in curve.seeds for at in getattr(seed, name)] for name in names}
    last = round(max(update for each in points.values() for update, _ in each)) or 1

    def place(update: float, nll: float) -> tuple[float, float]:
        return LEFT + WIDTH * update / last, HEIGHT * (high - nll) / (high - low)

    over = {
        name: drawing.thinned(
            drawing.over_seeds(DataFrame(points[name], columns=["x", "nll"]), "nll").to_numpy()
        )
        for name in names
    }
    # Of batches, the range says less than the median.
    lowest, highest = ([place(at[0], at[of]) for at in over["validation"]] for of in (2, 3))
    bounds = (drawing.straightened(lowest), drawing.straightened(highest))
    lines = {"range": [*bounds[0], *reversed(bounds[1])]} if lowest != highest else {}
    for name in names:
        lines[name] = drawing.straightened([place(at[0], at[1]) for at in over[name]])
    baseline = None if curve.unigram is None else round(place(0, curve.unigram)[1])
    ticks = range(low, high + 1, max(1, math.ceil((high - low) / TICKS)))
    return {
        "lines": {name: drawing.line(line, 0) for name, line in lines.items() if line},
        "unigram": baseline,
        "ends": [place(*seed.validation[-1]) for seed in curve.seeds if seed.validation],
        "ticks": {tick: round(place(0, tick)[1]) for tick in ticks},
        "last": last,
        "box": (LEFT, WIDTH, HEIGHT),
    }


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
