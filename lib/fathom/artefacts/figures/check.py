"""Names of figures.yaml, checked against runs, series with their axes, and tables."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fathom.artefacts.figures.grouped_bars import TASKS, columns_of
from fathom.config.paper import Figure
from fathom.config.project import Project
from fathom.config.schema.figures import (
    LOWEST,
    NONE,
    SERIES,
    UPDATE,
    GroupedBars,
    HeatMap,
    LabelledPoints,
    Lines,
    Series,
    series_named,
)
from fathom.config.schema.section import STACKS
from fathom.config.spec import Spec
from fathom.config.tables import Cell, Table
from fathom.config.yaml_values import Key
from fathom.io.errors import FathomError, nearest, unknown

ENDS = ("first", "last")  # words for a place on an axis
# Keys of heat maps of a table, and of others.
_OF_TABLE, _OF_SERIES = ("value", "cells"), ("panels", "run", "series", "at", "order", "smooth")


def findings(figure: Figure, project: Project, tables: Mapping[str, Table]) -> list[FathomError]:
    """Return what a figure says that is not in runs, series and tables, or does not fit."""
    check, settings = _Check(figure, project), figure.settings
    if isinstance(settings, Lines):
        _lines(check, settings)
    elif isinstance(settings, HeatMap):
        _heat_map(check, settings, tables)
    elif isinstance(settings, LabelledPoints):
        _labelled_points(check, settings)
    elif isinstance(settings, GroupedBars):
        _grouped_bars(check, settings, tables)
    return check.found


@dataclass
class _Check:
    """Collects what is wrong in a figure, or in one of its panels."""

    figure: Figure
    project: Project
    found: list[FathomError] = field(default_factory=list)
    panel: str = ""

    def where(self, path: Key) -> str:
        """Return where a key is written: in the panel, or else for all panels of the figure."""
        inside = ("panels", self.panel, *path)
        in_panel = self.panel and self.figure.values.find(*inside) is not None
        return self.figure.values.place(*(inside if in_panel else path))

    def wrong(self, path: Key, what: str, remedy: str) -> None:
        """Add a finding."""
        self.found.append(FathomError(what, self.where(path), remedy))

    def name(self, kind: str, name: str, valid: Iterable[str], path: Key) -> bool:
        """Return whether a name exists."""
        names = tuple(valid)
        if name not in names:
            self.found.append(unknown(kind, name, self.where(path), names))
        return name in names

    def run(self, name: str, path: Key) -> Spec | None:
        """Return what a run is."""
        try:
            run = self.project.run_in(self.figure.paper, name, self.where(path))
        except FathomError as error:
            self.found.append(error)
            return None
        return self.project.spec(run)

    def series(self, name: str | None) -> Series | None:
        """Return a series."""
        try:
            if name is not None:
                return series_named(name)
            self.wrong(("series",), "no series is given", f"add one: {nearest('', SERIES)}")
        except FathomError as error:
            self.wrong(("series",), error.what, error.remedy)
        return None

    def axes(self, series: Series, used: Mapping[str | None, str], at: bool) -> None:
        """Check that a series has the axes that are used, and that each of its axes is used.

        `used` has the key that uses an axis, by axis: `{"layer": "x"}`. `at` says whether a place
        in the training is given.
        """
        for axis, key in used.items():
            if axis is not None and axis not in series.axes:
                self.wrong((key,), f"no axis '{axis}'", nearest(axis, series.axes))
        if at and UPDATE not in series.axes:
            self.wrong(("at",), "the series has no updates to choose from", "delete `at`")
        for axis in dict.fromkeys(series.axes):
            if axis not in used and not (axis == UPDATE and at):
                remedy = "add `at`" if axis == UPDATE else f"add `select: {{{axis}: last}}`"
                self.wrong((), f"the axis '{axis}' is neither drawn nor selected", remedy)


def _lines(check: _Check, settings: Lines) -> None:
    for check.panel, part in settings.parts().items():
        if not part.lines:
            check.wrong((), "no lines are given", "add `lines: {label: run}`")
        if part.x is None:
            check.wrong((), "no axis is given", "add `x`, such as `x: update`")
        for label in part.lines:
            line = part.line(label)
            run, series = check.run(line.run, ("lines", label)), check.series(line.series)
            if series is not None and part.x is not None:
                used = {part.x: "x", part.line_by: "line_by"}
                used |= dict.fromkeys(part.select, "select")
                check.axes(series, used, part.at is not None)
            if series is not None and run is not None:
                _places(check, part.select, series, run)
        for label in part.colours:
            check.name("line", label, part.lines, ("colours", label))


def _places(check: _Check, select: Mapping[str, str], series: Series, run: Spec) -> None:
    """Check places on axes at the paper's own settings."""
    for axis, place in select.items():
        labels = _labels(axis, series, run)
        if labels and place not in (*ENDS, *labels):
            span = f"write {labels[0]} to {labels[-1]}, or last"
            remedy = span if labels[0].isdecimal() else nearest(place, (*ENDS, *labels))
            check.wrong(("select", axis), f"no {axis} '{place}'", remedy)


def _labels(axis: str, series: Series, run: Spec) -> tuple[str, ...]:
    """Return the labels of an axis; empty where config does not know them."""
    if axis == "task":
        return run.data.tasks
    shown = next((stack for stack in STACKS if stack in series.key), "")
    stack = {"layer": shown, "memory": "decoder", "source": "encoder"}.get(axis, "")
    counts = {"encoder": run.model.encoder_layers, "decoder": run.model.decoder_layers}
    layers = counts.get(stack, 0)
    return tuple(map(str, range(0 if axis == "source" else 1, layers + 1))) if layers else ()


def _heat_map(check: _Check, settings: HeatMap, tables: Mapping[str, Table]) -> None:
    low, high = settings.range or (LOWEST, 0.0)
    if low != LOWEST and low >= high:
        check.wrong(("range",), f"{low} is not below {high}", "write [low, high]")
    if settings.table is None:
        _series_map(check, settings)
    else:
        _cells(check, settings, tables)


def _series_map(check: _Check, settings: HeatMap) -> None:
    for key in filter(settings.given().__contains__, _OF_TABLE):
        check.wrong((key,), f"`{key}` is of a table, and none is given", "add `table`")
    for check.panel, part in settings.parts().items():
        for key in ("run", "rows", "columns"):
            if getattr(part, key) is None:
                check.wrong((), f"no `{key}` is given", f"add `{key}`")
        if (part.rows == NONE) != (len(part.places) > 1):
            what = "several places need `rows: none`, and it needs several places"
            check.wrong(("at",), what, "change `at` or `rows`")
        series = check.series(part.series)
        if series is not None and part.rows and part.columns:
            used: dict[str | None, str] = {part.columns: "columns", part.rows: "rows"}
            no_rows = used.pop(NONE, None)
            if "task" in series.axes and (no_rows or series.gates):
                used.setdefault("task", "rows")  # the mean over tasks
            check.axes(series, used, bool(part.places))
        if part.run is not None:
            # A panel's short form is the name of its run.
            short = isinstance(settings.panels.get(check.panel), str)
            run = check.run(part.run, () if short else ("run",))
            for name in part.order if run else ():
                check.name("task", name, run.data.tasks if run else (), ("order",))


def _cells(check: _Check, settings: HeatMap, tables: Mapping[str, Table]) -> None:
    if settings.range and settings.range[0] == LOWEST:
        check.wrong(("range",), f"cells of a table have no {LOWEST} value", "write a number")
    for key in filter(settings.given().__contains__, _OF_SERIES):
        check.wrong((key,), f"cells of a table have no `{key}`", "delete it, or `table`")
    for key in ("rows", "columns", *_OF_TABLE):
        if not getattr(settings, key):
            check.wrong((), f"no `{key}` is given", f"add `{key}`")
    name, value = settings.table or "", settings.value
    if value is None or not check.name("table", name, tables, ("table",)):
        return
    cells, own = check.project.cells(tables[name]), f"{check.figure.paper}/"
    if not check.name("column", value, dict.fromkeys(cell.column for cell in cells), ("value",)):
        return
    shown = [cell.source.removeprefix(own) for cell in cells if cell.column == value]
    for label, run in settings.cells.items():
        check.name("run of the column", run.removeprefix(own), shown, ("cells", label))
        if label.count(", ") != 1:
            what = f"'{label}' is not a row and a column"
            check.wrong(("cells", label), what, 'write "row, column": run')


def _labelled_points(check: _Check, settings: LabelledPoints) -> None:
    series = check.series(settings.series)
    if series is not None:
        axes = [axis for axis in series.axes if axis != UPDATE]
        check.name("axis", settings.points, axes, ("points",))
        if len(axes) < 2:
            what = f"'{settings.points}' is the only axis of the series"
            check.wrong(("series",), what, "choose another series")
    for title, run in settings.panels.items():
        check.run(run, ("panels", title))


def _grouped_bars(check: _Check, settings: GroupedBars, tables: Mapping[str, Table]) -> None:
    if not check.name("table", settings.table, tables, ("table",)):
        return
    table = tables[settings.table]
    cells = check.project.cells(table)
    rows: dict[str, set[str]] = {}
    for cell in cells:
        rows.setdefault(cell.id, set()).add(cell.column)
    columns = dict.fromkeys(cell.column for cell in cells)
    for name in settings.columns:
        check.name("column", name, (*columns, TASKS), ("columns",))
    drawn = columns_of(settings, cells)
    shown: list[tuple[Key, str]] = [(("less",), settings.less)]
    shown += [(("bars", label), row) for label, row in settings.bars.items()]
    shown += [(("not_drawn", at), row) for at, row in enumerate(settings.not_drawn)]
    seen: dict[str, str] = {}
    for path, row in shown:
        check.name("row", row, rows, path)
        if row in seen:
            # A row drawn twice, or the row whose difference to itself is 0.
            check.wrong(path, f"row '{row}' is {seen[row]} already", "delete one")
        seen.setdefault(row, f"in {'.'.join(map(str, path))}" if seen else "subtracted by `less`")
        # Blocks of a table may have columns of their own.
        absent = [name for name in drawn if name in columns and name not in rows.get(row, columns)]
        if absent:
            what = f"row '{row}' has no column '{absent[0]}'"
            check.wrong(path, what, "name columns that all of these rows have")
    _bar_columns(check, drawn, cells, table)


def _bar_columns(check: _Check, drawn: list[str], cells: Sequence[Cell], table: Table) -> None:
    """Refuse columns that are drawn twice, that no row has, or whose units are not one axis."""
    for column, times in Counter(drawn).items():
        if times > 1:
            what = f"column '{column}' is there {times} times"
            check.wrong(("columns",), what, f"delete it; `{TASKS}` has all tasks")
    if not drawn:
        what = "the table has no columns of single tasks"
        check.wrong(("columns",), what, "name some of its columns")
    values = [cell.value for cell in cells if cell.column in drawn]
    units = dict.fromkeys(table.vocabulary.measurement(value).unit for value in values if value)
    if len(units) > 1:
        what = f"columns of several units ({', '.join(unit or 'none' for unit in units)})"
        check.wrong(("columns",), what, "draw a figure for each unit")
