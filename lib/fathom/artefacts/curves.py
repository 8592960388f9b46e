"""Learning curves: training and validation NLL of runs, with the unigram baseline, as SVG.

The page of a paper shows them for the rows of its tables; `fathom curves` writes them alone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from fathom.artefacts.figures.inputs import VALUE, RunFiles
from fathom.artefacts.rendering import environment
from fathom.artefacts.table.sources import NOT_RUN, Source
from fathom.config.schema.figures import UPDATE, series_named
from fathom.results import training_file

if TYPE_CHECKING:
    from pandas import DataFrame

TRAINING, VALIDATION = "nll.train", "nll.valid"
POINTS = 150  # of a line; of more, the median of neighbours is drawn
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 220, 120, 24, 30, 6, 16
ABOVE = 0.4  # nats above the unigram baseline that are drawn
COLUMNS = 5  # of the pictures in a file

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class SeedCurve:
    """One training: NLL in nats a token over its updates.

    Attributes:
        seed: its seed.
        training: of the batches that were logged.
        validation: of each validation.
        unigram: the unigram baseline on the validation text; None before the training has ended.
        words: how it ended, where it has no result.
    """

    seed: int
    training: Points
    validation: Points
    unigram: float | None
    words: str


@dataclass(frozen=True)
class Curve:
    """A run with the curves of its seeds."""

    label: str
    run: str
    seeds: tuple[SeedCurve, ...]

    @property
    def words(self) -> str:
        """What a reader who cannot see the curve must know."""
        if not self.seeds:
            return NOT_RUN
        single = len(self.seeds) == 1
        ended = [
            seed.words if single else f"seed {seed.seed} {seed.words}"
            for seed in self.seeds
            if seed.words
        ]
        if self.last is None:
            return ", ".join(ended) or "no validation yet"
        updates = sorted({round(seed.validation[-1][0]) for seed in self.averaged})
        at = " to ".join(map(str, dict.fromkeys((updates[0], updates[-1]))))
        several = len(self.averaged) > 1
        of = f"mean of {len(self.averaged)} seeds" if several else f"seed {self.averaged[0].seed}"
        unigram = next((seed.unigram for seed in self.seeds if seed.unigram is not None), None)
        parts = (
            f"validation NLL {self.last:.2f} nats at update {at}",
            "" if single else of,
            "" if unigram is None else f"unigram baseline {unigram:.2f}",
            *ended,
        )
        return ", ".join(filter(None, parts))

    @property
    def averaged(self) -> tuple[SeedCurve, ...]:
        """The seeds whose last validation counts: those with a result, or all if none has one."""
        known = tuple(seed for seed in self.seeds if seed.validation)
        return tuple(seed for seed in known if not seed.words) or known

    @property
    def last(self) -> float | None:
        """The mean of the last validation over seeds."""
        values = [seed.validation[-1][1] for seed in self.averaged]
        return sum(values) / len(values) if values else None

    @property
    def record(self) -> dict[str, Any]:
        """The same for programs; what is unknown is None."""
        return {
            "label": self.label,
            "run": self.run,
            "last_validation": self.last,
            "seeds_averaged": [seed.seed for seed in self.averaged],
            "seeds": [
                {
                    "seed": seed.seed,
                    "update": seed.validation[-1][0] if seed.validation else None,
                    "last_validation": seed.validation[-1][1] if seed.validation else None,
                    "unigram_nll": seed.unigram,
                    "reason": seed.words,
                }
                for seed in self.seeds
            ],
        }


def curve(label: str, source: Source, updates: int | str) -> Curve:
    """Return the curves of all seeds of a run that were started.

    Args:
        label: what the run is called.
        source: the run.
        updates: how many updates it is to have.

    Raises:
        FathomError: a file of a training is damaged.
    """
    seeds = []
    for seed, folder in source.folders.items():
        files = RunFiles(replace(source, folders={seed: folder}), updates)
        training, validation = (
            _points(files.read(series_named(name))) for name in (TRAINING, VALIDATION)
        )
        if training or validation:
            unigram, words = _ended(folder.parent / "training.json")
            seeds.append(SeedCurve(seed, training, validation, unigram, words))
    return Curve(label, source.name, tuple(seeds))


def _ended(path: Path) -> tuple[float | None, str]:
    """Return the unigram baseline of a training, and how it ended where it has no result."""
    if not path.is_file():
        return None, "has not ended"
    file = training_file.read(path)
    return file.unigram_nll, "" if file.outcome.finished else file.outcome.words


def _points(frame: "DataFrame | None") -> Points:
    if frame is None:
        return ()
    return tuple(zip(frame[UPDATE].astype(float), frame[VALUE].astype(float), strict=True))


@dataclass(frozen=True)
class Line:
    """A line of a picture, as SVG has its points."""

    training: str
    validation: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Picture:
    """A curve laid out in a box; places are in units of the picture.

    Attributes:
        curve: the curve.
        lines: one for each seed.
        unigram: the height of the baseline; None without one.
        ticks: nats, and their height.
        last: the last update that is drawn.
    """

    curve: Curve
    lines: tuple[Line, ...]
    unigram: float | None
    ticks: tuple[tuple[str, float], ...]
    last: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT


def pictures(curves: Sequence[Curve]) -> list[Picture]:
    """Return the curves with one vertical axis for all; what is above it is cut off."""
    seeds = [seed for curve in curves for seed in curve.seeds]
    values = [nll for seed in seeds for _, nll in (*_thinned(seed.training), *seed.validation)]
    baselines = [seed.unigram for seed in seeds if seed.unigram is not None]
    if not values:
        return []
    low = math.floor(min(values))
    high = math.ceil(max(baselines) + ABOVE) if baselines else math.ceil(max(values))
    return [_picture(curve, low, max(high, low + 1)) for curve in curves if curve.seeds]


def _picture(curve: Curve, low: int, high: int) -> Picture:
    points = [point for seed in curve.seeds for point in (*seed.training, *seed.validation)]
    last = max(update for update, _ in points) or 1.0

    def x(update: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * update / last

    def y(nll: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - min(max(nll, low), high)) / (high - low)

    def path(points: Points) -> str:
        return " ".join(f"{x(update):.1f},{y(nll):.1f}" for update, nll in points)

    step = max(1, math.ceil((high - low) / 5))
    baselines = [seed.unigram for seed in curve.seeds if seed.unigram is not None]
    return Picture(
        curve=curve,
        lines=tuple(
            Line(
                path(_thinned(seed.training)),
                path(_thinned(seed.validation)),
                tuple((x(update), y(nll)) for update, nll in seed.validation[-1:]),
            )
            for seed in curve.seeds
        ),
        unigram=y(baselines[0]) if baselines else None,
        ticks=tuple((str(nats), y(nats)) for nats in range(low, high + 1, step)),
        last=round(last),
    )


def _thinned(points: Points) -> Points:
    """Return at most POINTS points: the medians of neighbours, and the last one."""
    if len(points) <= POINTS:
        return points
    size = math.ceil(len(points) / (POINTS - 1))
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    thinned = [(group[len(group) // 2][0], median(nll for _, nll in group)) for group in groups]
    return (*thinned[:-1], points[-1])


def svg(title: str, curves: Sequence[Curve]) -> str:
    """Return curves as one picture file that needs no other file.

    Args:
        title: what they are curves of.
        curves: one for each run.
    """
    drawn = pictures(curves)
    columns = min(COLUMNS, max(len(drawn), 1))
    template = environment().get_template("curves.svg")
    return template.render(title=title, pictures=drawn, columns=columns)


def rows(curves: Iterable[Curve]) -> "DataFrame":
    """Return a line for each point, all of them: label, run, seed, series, update, nll."""
    from pandas import DataFrame

    columns = ("label", "run", "seed", "series", "update", "nll")
    records = [
        (curve.label, curve.run, seed.seed, series, update, nll)
        for curve in curves
        for seed in curve.seeds
        for series, points in _series(seed)
        for update, nll in points
    ]
    return DataFrame(records, columns=columns, dtype=object)


def _series(seed: SeedCurve) -> list[tuple[str, Points]]:
    last = seed.validation[-1][0] if seed.validation else 0.0
    baseline = ((last, seed.unigram),) if seed.unigram is not None else ()
    return [(TRAINING, seed.training), (VALIDATION, seed.validation), ("unigram", baseline)]
