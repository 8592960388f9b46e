"""Settings of figures: the keys of figures.yaml, one class for each kind, and what a series is."""

import re
from dataclasses import dataclass, replace
from math import log
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field

from fathom.config.schema.section import (
    STACKS,
    AsTuple,
    Doc,
    ListOf,
    Pattern,
    Section,
    Unique,
    unique,
)
from fathom.config.schema.table import Id, Ids
from fathom.io.errors import FathomError, nearest

METRICS, DIAGNOSTICS, MEASUREMENT = "metrics", "diagnostics", "measurement"
UPDATE = "update"
UNITS = {"bits": 1 / log(2), "nats": 1.0}
_FORM = re.compile(r"(\w+(?:\.\w+)?)(?: in (\w+))?")
# What heat maps may have in place of an axis, or of the lower end of their colours.
NONE, LOWEST, MASKS = "none", "lowest possible", "masks"
# An update, a share of the training, or the end of an epoch.
At = (
    Annotated[int, Field(ge=1)]
    | Annotated[str, Pattern(r"^(100%|[1-9][0-9]?%|epoch [1-9][0-9]*)$", "50%")]
)
PartT = TypeVar("PartT", bound=Section)
# Ids of a table may be numbers, here as there.
UniqueIds = Annotated[Ids, AfterValidator(unique)]
# A dozen of matplotlib's names, which are checked without it.
Colour = (
    Literal[
        "black", "gray", "blue", "cyan", "green", "olive", "orange", "brown", "red", "pink",
        "purple", "magenta",
    ]
    | Annotated[str, Pattern(r"^#[0-9a-fA-F]{6}$", "#4477AA")]
)  # fmt: skip


@dataclass(frozen=True)
class Series:
    """A quantity that figures can draw."""

    place: str  # METRICS, DIAGNOSTICS or MEASUREMENT
    key: str  # a column of metrics.tsv, a file of diagnostics/, or a measurement
    axes: tuple[str, ...]  # what its numbers are indexed by
    factor: float = 1.0  # a recorded number times this is in the unit that was asked for
    gates: str = ""  # the stack of whose gates it is
    sigmoid: bool = False  # whether it is σ of what was recorded


def _series() -> dict[str, Series]:
    """Return the series by name; those of a stack end in its name."""
    series = {
        "nll.train": Series(METRICS, "nll", (UPDATE,)),
        "nll.valid": Series(METRICS, "valid_nll", (UPDATE,)),
        "nll.train_sample": Series(METRICS, "train_nll", (UPDATE,)),
        "gradient_norm": Series(METRICS, "gradient_norm", (UPDATE,)),
        "gradient_ratio": Series(DIAGNOSTICS, "encoder_gradient_ratio", (UPDATE,)),
        "mixture_weights": Series(DIAGNOSTICS, "encoder_weights", (UPDATE, "source", "memory")),
        "masks": Series(MEASUREMENT, "masks", ("task", "site", "group")),
        "similarity": Series(MEASUREMENT, "similarity", ("task", "task")),
    }
    for stack in STACKS:
        alpha = Series(DIAGNOSTICS, f"{stack}_alpha", (UPDATE, "task", "layer"))
        used = Series(DIAGNOSTICS, f"{stack}_utilisation", (UPDATE, "layer"), gates=stack)
        series |= {
            f"gradient_norm.{stack}": Series(
                DIAGNOSTICS, f"{stack}_gradient_norm", (UPDATE, "layer")
            ),
            f"alpha.{stack}": alpha,
            f"utilisation.{stack}": used,
            f"samples.{stack}": replace(alpha, key=f"{stack}_samples", gates=stack),
            f"probability.{stack}": replace(alpha, gates=stack, sigmoid=True),
            f"gates.{stack}": Series(MEASUREMENT, f"gates.{stack}", ("task", "layer"), gates=stack),
        }
    return series


SERIES = _series()


def series_named(text: str) -> Series:
    """Return the series of a name such as `nll.train in bits`, the place of what is raised."""
    match = _FORM.fullmatch(text)
    if match is None or match[1] not in SERIES:
        name = match[1] if match else text
        raise FathomError(f"no series '{name}'", text, nearest(name, SERIES))
    series, unit = SERIES[match[1]], match[2]
    if unit is None:
        return series
    if unit not in UNITS or not match[1].startswith("nll"):
        raise FathomError(f"no unit '{unit}' of {match[1]}", text, nearest(unit, UNITS))
    return replace(series, factor=UNITS[unit])


class FigureSettings(Section):
    """The keys that every figure has; all others belong to its kind."""

    kind: str = Doc("Its kind, whose keys it has besides these.")
    title: str = Doc("A short heading.")
    section: str = Doc("Where the paper discusses it.")
    caption: str = Doc("What a reader must know to read it.", "")

    def run_series(self) -> list[tuple[str, str | None]]:
        """Return each run that it draws, as figures.yaml names it, with a series of the run."""
        return []

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that it draws."""
        return tuple(dict.fromkeys(run for run, _ in self.run_series()))

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it is drawn from."""
        return ()

    def series_of(self, run: str) -> tuple[str, ...]:
        """Return the names of the series that it draws of a run."""
        return tuple(name for each, name in self.run_series() if each == run and name)

    def measurements(self, run: str) -> tuple[str, ...]:
        """Return the keys of the measurements that it draws of a run."""
        series = [series_named(name) for name in self.series_of(run)]
        keys = [each.key for each in series if each.place == MEASUREMENT]
        return tuple(dict.fromkeys(keys))


def _over(panel: PartT, figure: FigureSettings) -> PartT:
    form = type(panel)
    return form(**{key: getattr(figure, key) for key in form.model_fields} | panel.given())


class LineSettings(Section):
    """A line in its long form."""

    run: str = Doc("The run that is drawn.")
    series: str | None = Doc("In place of the panel's series.", None)


class Panel(Section):
    """A panel; what it does not say is the figure's."""

    series: str | None = Doc("What is drawn.", None)
    x: str | None = Doc("The axis that runs from left to right.", None)
    lines: dict[str, str | LineSettings] = Doc("The run of each line, by label.", {})
    at: At | None = Doc("The update, share of the training, or epoch.", None)
    select: dict[str, str] = Doc("A place on an axis: first, last or a label.", {})
    line_by: str | None = Doc("An axis with a line for each of its places.", None)
    labels: UniqueIds = Doc("Labels of these lines; evenly spread over them.", ())
    smooth: Annotated[int | None, Field(ge=1)] = Doc("Points of a moving median.", None)
    reference: float | None = Doc("A horizontal line.", None)
    colours: dict[str, Colour] = Doc("A line's colour, by label.", {})
    log_y: bool = Doc("Whether the vertical axis is logarithmic.", False)

    def line(self, label: str) -> LineSettings:
        """Return a line with its series."""
        line = self.lines[label]
        line = LineSettings(run=line) if isinstance(line, str) else line
        return line.model_copy(update={"series": line.series or self.series})


class Lines(Panel, FigureSettings):
    """A figure of lines."""

    panels: dict[str, Panel] = Doc("Panels from left to right, by title.", {})

    def parts(self) -> dict[str, Panel]:
        """Return the panels with all that they take from the figure."""
        panels = self.panels or {"": Panel()}
        return {title: _over(panel, self) for title, panel in panels.items()}

    def run_series(self) -> list[tuple[str, str | None]]:
        """Return the run and the series of each line."""
        lines = [part.line(label) for part in self.parts().values() for label in part.lines]
        return [(line.run, line.series) for line in lines]


class Map(Section):
    """What a panel may say; what it does not say is the figure's."""

    run: str | None = Doc("The run that is drawn.", None)
    series: str | None = Doc("What is drawn.", None)
    rows: str | None = Doc("The axis from bottom to top; none for one row a place.", None)
    columns: str | None = Doc("The axis from left to right.", None)
    at: At | Annotated[ListOf[At], AfterValidator(unique)] | None = Doc(
        "An update, a share of the training or an epoch; or several, with `rows: none`.", None
    )
    order: UniqueIds = Doc("Names along both axes of tasks, in this order.", ())
    numbers: bool = Doc("Whether each field shows its number.", False)
    smooth: Annotated[int | None, Field(ge=1)] = Doc("Points of a moving median.", None)

    @property
    def places(self) -> tuple[int | str, ...]:
        """The places in the training that are drawn."""
        return self.at if isinstance(self.at, tuple) else () if self.at is None else (self.at,)

    @property
    def axes(self) -> tuple[str, str]:
        """The axes of rows and columns; one that comes twice has a name of its own."""
        again = "_2" if self.columns == self.rows else ""
        return str(self.rows), f"{self.columns}{again}"


class HeatMap(Map, FigureSettings):
    """A figure of heat maps: of series of runs, or one of a table's cells."""

    panels: dict[str, str | Map] = Doc("The run of each panel, by title.", {})
    range: Annotated[tuple[float | Literal["lowest possible"], float] | None, AsTuple] = Doc(
        "The values at both ends of the colours, in all panels.", None
    )
    table: str | None = Doc("The table whose cells are drawn in place of series.", None)
    value: Id | None = Doc("The column of this table.", None)
    cells: dict[str, str] = Doc("The run of each field, by `row, column`.", {})

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it is drawn from."""
        return (self.table,) if self.table else ()

    def parts(self) -> dict[str, Map]:
        """Return the panels with all that they take from the figure."""
        panels = self.panels or {"": Map()}
        return {
            title: _over(Map(run=panel) if isinstance(panel, str) else panel, self)
            for title, panel in panels.items()
        }

    def run_series(self) -> list[tuple[str, str | None]]:
        """Return the run and the series of each panel, and the masks that give its range."""
        masks = [MASKS] if self.range and self.range[0] == LOWEST else []
        parts = [part for part in self.parts().values() if part.run]
        return [(str(part.run), name) for part in parts for name in (part.series, *masks)]


class GroupedBars(FigureSettings):
    """A figure of grouped bars."""

    table: str = Doc("The table whose rows are drawn.")
    columns: Unique[Id] = Doc("A group of bars for each; `tasks` means all tasks.")
    less: Id = Doc("The row that is subtracted.")
    bars: Annotated[dict[str, Id], Field(min_length=1)] = Doc("The row of each bar, by label.")
    not_drawn: UniqueIds = Doc("Rows that are in the csv alone.", ())

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it is drawn from."""
        return (self.table,)

    @property
    def rows(self) -> dict[str, str]:
        """The label of each row; empty for a row that is not drawn."""
        return {row: label for label, row in self.bars.items()} | dict.fromkeys(self.not_drawn, "")


class LabelledPoints(FigureSettings):
    """A figure of labelled points."""

    series: str = Doc("What is projected.")
    points: str = Doc("The axis whose places are the points.")
    project: Literal["pca"] = Doc("How the other axes become a plane.")
    panels: Annotated[dict[str, str], Field(min_length=1)] = Doc("The run of each panel, by title.")

    def run_series(self) -> list[tuple[str, str | None]]:
        """Return the run of each panel, with its series."""
        return [(run, self.series) for run in self.panels.values()]


KINDS: dict[str, type[FigureSettings]] = {
    "grouped_bars": GroupedBars,
    "heat_map": HeatMap,
    "labelled_points": LabelledPoints,
    "lines": Lines,
}
