"""Tables of a paper: tables.yaml read, and the run or corpus and the value that each cell shows.

A cell resolves in this order. The run is the row's entry for the column, or else the row's run; in
a table without runs it is the corpus. The value is the row's, or the column's, or the table's. The
task is the row or column whose id is a task of the run's data; a cell without a task is a mean.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal

from fathom.config import tokenizers
from fathom.config.inventory import Inventory
from fathom.config.measurement_keys import ShownValue, parse
from fathom.config.merge import fill_name, placeholders
from fathom.config.scales import leaves
from fathom.config.schema.columns import Vocabulary
from fathom.config.schema.run import RunSettings
from fathom.config.schema.table import (
    BlockSettings,
    Mark,
    MetricSettings,
    RowSettings,
    TableSettings,
)
from fathom.config.spec import Spec
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, findings_in, nearest, refuse, unknown

TASKS = "tasks"


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a paper."""

    paper: str
    name: str  # its key in tables.yaml
    settings: TableSettings  # with all that it takes from the tables it is like
    values: Value = field(repr=False)  # the same with places
    vocabulary: Vocabulary = field(repr=False)
    metric: MetricSettings  # the paper's; the table and its blocks may say otherwise
    marks: Mapping[str, Mark]  # what marks on printed cells mean: the table's, or the paper's


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    block: str  # the heading of its block; empty in a table without blocks
    row: str
    column: str  # row and column are the printed ids
    # The row's id in reported cells and claims: `block/row` where two blocks have the same cell.
    id: str
    ours: bool  # whether the paper does not have it
    # Empty: N/A in the paper, or a value that the run does not have; so are all fields that follow.
    # Unread: of a run that has a mistake; value and task are what tables.yaml says.
    kind: Literal["run", "corpus", "empty", "unread"] = "empty"
    source: str = ""  # the run's full name, `<paper>/<run>`, or the data set
    value: ShownValue | None = None
    task: str | None = None  # None for a number of several tasks
    tasks: tuple[str, ...] = ()  # without a task, those of which it is the mean; else empty
    gates: str = ""  # of the decoding: soft, hard or plain; empty for a corpus
    metric: str = ""  # sacreBLEU's tokenizer; empty for a value without one
    metric_known: bool = True  # whether the paper's metric is known for all its tasks
    less: str = ""  # the row whose cell of the column is subtracted; empty for a number itself

    @property
    def key(self) -> str:
        """The key of the measurement that it shows; empty for an empty cell."""
        return self.value.key(self.gates, self.metric) if self.value else ""


def resolve_cells(
    table: Table, inventory: Inventory, scale: str | None, outline: bool = False
) -> tuple[Cell, ...]:
    """Return the cells of a table in the printed order (no scale: the papers' settings).

    With `outline` no run is asked for, and `tasks` are those of all data sets.
    """
    cells: list[Cell] = []
    findings: list[FathomError] = []
    for heading, settings in table.settings.blocks.items() or [("", BlockSettings())]:
        try:
            block = _Block(table, inventory, scale, heading, settings, outline)
        except FathomError as error:
            findings += findings_in(error)
            continue
        for row in block.rows:
            findings += block.unknown_columns(row)
            for column in block.columns:
                try:
                    cells.append(block.cell(row, column))
                except FathomError as error:
                    findings += findings_in(error)
    refuse(findings)
    times = Counter((cell.row, cell.column) for cell in cells)
    if table.settings.blocks and any(number > 1 for number in times.values()):
        cells = [replace(cell, id=f"{cell.block}/{cell.row}") for cell in cells]
    return tuple(cells)


def runs_by_row(cells: Iterable[Cell]) -> dict[str, tuple[str, ...]]:
    """Return the full names of the runs of each row."""
    rows: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.kind == "run":
            rows.setdefault(cell.id, {})[cell.source] = None
    return {row: tuple(runs) for row, runs in rows.items()}


def setting_numbers(run: RunSettings) -> dict[str, float]:
    """Return the settings of a run that are numbers, and its epochs, by path."""
    numbers: dict[str, float] = {}
    for path, value, _ in leaves(run):
        text = str(value).partition(" epoch")[0]
        with suppress(ValueError):
            if text.lstrip("-")[:1].isdigit():
                numbers[".".join(map(str, path))] = float(text)
    return numbers


@dataclass(frozen=True)
class _Line:
    """A row or a column."""

    id: str
    settings: Any  # of a row its long form; of a column the value that its cells show, or None
    path: Key  # its key in the table
    ours: bool  # whether the paper does not have it


class _Block:
    """A block of a table; what it does not say is the table's.

    A table without blocks is a single block without heading.
    """

    def __init__(
        self,
        table: Table,
        inventory: Inventory,
        scale: str | None,
        heading: str,
        settings: BlockSettings,
        outline: bool,
    ):
        self.table, self.inventory, self.scale = table, inventory, scale
        self.heading, self.settings, self.outline = heading, settings, outline
        self.corpus: str | None = self._given("corpus")
        self.names: dict[str, str] = table.settings.with_ | settings.with_  # for `<name>` in runs
        self.metric = table.metric.over(table.settings.metric).over(settings.metric)
        for key in ("rows", "columns"):
            if not self._given(key) and not getattr(table.settings.ours, key):
                where = self._where(("blocks", heading) if heading else ())
                raise FathomError(f"a table without {key}", where, f"add `{key}`")
        if self.corpus is None and not isinstance(self._given("rows") or {}, dict):
            remedy = "write {row: run}, or name a `corpus`"
            raise FathomError("these rows name no runs", self._where(self._path("rows")), remedy)
        self.rows = [replace(row, settings=self._long(row)) for row in self._lines("rows")]
        self.columns = self._lines("columns")
        # The ids of the paper's rows and columns in small letters.
        self.printed = {row.id.lower() for row in (*self.rows, *self.columns) if not row.ours}

    def _given(self, key: str) -> Any:
        """Return what the block says of a key, or else the table."""
        here = getattr(self.settings, key)
        return getattr(self.table.settings, key) if here is None else here

    def _path(self, key: str) -> Key:
        inside = key in self.settings.model_fields_set
        return ("blocks", self.heading, key) if inside else (key,)

    def _where(self, path: Key) -> str:
        return self.table.values.place(*path)

    # Rows and columns

    def _lines(self, key: str) -> list[_Line]:
        """Return rows or columns, `tasks` written out: those of the paper first, then ours."""
        lines: list[_Line] = []
        ours = getattr(self.table.settings.ours, key)
        for items, path in ((self._given(key) or {}, self._path(key)), (ours, ("ours", key))):
            is_ours = path[0] == "ours"
            if isinstance(items, dict):
                lines += [_Line(name, items[name], (*path, name), is_ours) for name in items]
                continue
            for number, item in enumerate(items):
                names = self._tasks() if item == TASKS else (item,)
                lines += [_Line(name, None, (*path, number), is_ours) for name in names]
        return lines

    def _long(self, row: _Line) -> RowSettings:
        if isinstance(row.settings, RowSettings):
            return row.settings
        return RowSettings(**{"run" if self.corpus is None else "value": row.settings})

    def _tasks(self) -> tuple[str, ...]:
        if self.corpus is not None:
            return self._tasks_of_corpus(self.corpus)
        if self.outline:
            cards = self.inventory.datasets.values()
            return (*dict.fromkeys(task for card in cards for task in card.tasks),)
        name, row = next(iter(self._given("rows").items()))
        pattern = row.run or "" if isinstance(row, RowSettings) else row
        run = str(fill_name(pattern, self.names))
        return self._run(run, self._where((*self._path("rows"), name)))[1].data.tasks

    def _tasks_of_corpus(self, corpus: str) -> tuple[str, ...]:
        datasets = self.inventory.datasets
        if corpus not in datasets:
            raise unknown("data set", corpus, self._where(self._path("corpus")), datasets)
        return datasets[corpus].tasks

    def _run(self, run: str, where: str) -> tuple[str, Spec]:
        name = self.inventory.run_in(self.table.paper, run, where)
        return name, self.inventory.spec(name, self.scale)

    def unknown_columns(self, row: _Line) -> Iterator[FathomError]:
        """Yield what a row says of columns that do not exist."""
        columns = [column.id for column in self.columns]
        for name in row.settings.runs():
            if name not in columns:
                where, names = self._where((*row.path, name)), ["run", "value", "empty", *columns]
                yield unknown("column", name, where, names)
        for name in row.settings.empty:
            if name not in columns:
                yield unknown("column", name, self._where((*row.path, "empty")), columns)

    # Cells

    def cell(self, row: _Line, column: _Line) -> Cell:
        """Return the cell where a row and a column meet."""
        less = self.table.settings.less.get(column.id, "")
        cell = Cell(self.heading, row.id, column.id, row.id, row.ours or column.ours, less=less)
        if column.id in row.settings.empty:
            return cell
        shared = self.table.vocabulary.column(column.id) if column.settings is None else None
        of_column = shared.value if shared else column.settings
        value = self._value(row, column, of_column)
        if self.outline:
            return replace(cell, kind="unread", value=value, task=self._task(cell, self._tasks()))
        if self.corpus is not None:
            tasks = self._tasks_of_corpus(self.corpus)
            if self.table.vocabulary.measurement(value).of != "corpus":
                what = f"'{value.measurement}' is not measured of a corpus"
                raise FathomError(what, self._where(row.path), "name runs, or another value")
            if self._task(cell, tasks) is None and shared is None:
                what = f"neither '{row.id}' nor '{column.id}' is a task of {self.corpus}"
                line = row if row.settings.value is None else column
                raise FathomError(what, self._where(line.path), nearest(line.id, tasks))
            return self._showing(replace(cell, kind="corpus", source=self.corpus), value, tasks)
        says = bool(of_column or shared or row.settings.value)
        return self._of_run(cell, row, column, value, says)

    def _of_run(self, cell: Cell, row: _Line, column: _Line, value: ShownValue, says: bool) -> Cell:
        pattern, where = row.settings.run, self._where(row.path)
        runs = row.settings.runs()
        if column.id in runs:
            pattern, where = runs[column.id], self._where((*row.path, column.id))
        if not pattern:
            raise FathomError(f"row '{row.id}' names no run", where, "write `row: run`")
        name, spec = self._run(self._filled(pattern, cell, where), where)
        measurement = self.table.vocabulary.measurement(value)
        if measurement.of == "corpus":
            what = f"'{value.measurement}' is not measured of a run"
            raise FathomError(what, where, "name a `corpus`, or another value")
        if value.setting:
            numbers = setting_numbers(self.inventory.run(name, self.scale))
            if value.setting not in numbers:
                raise unknown("numeric setting", value.setting, self._where(column.path), numbers)
        if not self._has(spec, value, measurement.of):
            return cell
        tasks = spec.data.tasks
        says = says or column.id in runs or "<column>" in pattern
        if not (says or self._task(cell, tasks)):
            # Without the row's run: the column is one finding, however many rows it has.
            what = f"column '{column.id}' is not a task, and names neither value nor run"
            remedy = nearest(column.id, (*tasks, *self.table.vocabulary.columns))
            raise FathomError(what, self._where(column.path), remedy)
        of_table = self._given("gates") or "soft"
        gates = value.gates or (of_table if spec.gates != ("plain",) else "plain")
        if value.has_gates and gates not in spec.gates:
            remedy = f"choose gates: {spec.gates[0]}"
            raise FathomError(f"{name} has no {gates} gates", self._where(row.path), remedy)
        cell = replace(cell, kind="run", source=name, gates=gates if value.has_gates else "")
        return self._showing(cell, value, tasks, spec.data.target_languages)

    def _filled(self, pattern: str, cell: Cell, where: str) -> str:
        names = {**self.names, "row": cell.row, "column": cell.column}
        run = str(fill_name(pattern, names))
        for missing in placeholders(run):
            raise FathomError(f"`with` gives no <{missing}>", where, nearest(missing, names))
        return run

    def _value(self, row: _Line, column: _Line, of_column: str | None) -> ShownValue:
        """Return what a cell shows: the row's value, or the column's, or the table's."""
        if row.settings.value and of_column:
            what = f"row '{row.id}' and column '{column.id}' both name a value"
            raise FathomError(what, self._where(row.path), "delete one of the two")
        text, path = self._given("value") or "bleu.test", self._path("value")
        if row.settings.value:
            long = self.table.values.find(*row.path, "value") is not None
            text, path = row.settings.value, (*row.path, "value") if long else row.path
        elif of_column:
            text, path = of_column, column.path
        try:
            return parse(text, self.table.vocabulary.measurements)
        except FathomError as error:
            raise FathomError(error.what, self._where(path), error.remedy) from None

    def _has(self, spec: Spec, value: ShownValue, of: str) -> bool:
        """Return whether a run has this value at all; a printed cell must have it."""
        if of != "gates":
            return not value.gates or value.gates in spec.gates
        has_gates = self.inventory.methods[spec.method.name].about.gates
        stacks = spec.method.stacks if has_gates else ()
        here = not value.stack or not stacks or value.stack in stacks
        return spec.gates != ("plain",) and here

    def _task(self, cell: Cell, tasks: tuple[str, ...]) -> str | None:
        """Return the task that the row or the column is, case ignored."""
        ids = (cell.row.lower(), cell.column.lower())
        return next((name for name in ids if name in tasks), None)

    def _showing(
        self,
        cell: Cell,
        value: ShownValue,
        tasks: tuple[str, ...],
        languages: Mapping[str, str] | None = None,
    ) -> Cell:
        task = self._task(cell, tasks)
        # A mean is that of the tasks which the paper's block shows, if it shows any.
        mean = () if task else tuple(name for name in tasks if name in self.printed) or tasks
        cell = replace(cell, value=value, task=task, tasks=mean)
        if not value.has_tokenizer:
            return cell
        unknown_for = {name.lower() for name in self.metric.unknown_for}
        known = not unknown_for & {*mean, task}
        of_tasks = [(languages or {})[name] for name in ([task] if task else tasks)]
        tokenize = self.metric.tokenize or tokenizers.of_languages(of_tasks)
        return replace(cell, metric=tokenize, metric_known=known)


def table_faults(
    table: Table, cells: tuple[Cell, ...], inventory: Inventory
) -> Iterator[FathomError]:
    """Yield what is wrong with a table whose cells all resolve."""
    times = Counter((cell.id, cell.column) for cell in cells)
    for column, number in {column: n for (_, column), n in times.items() if n > 1}.items():
        what = f"column '{column}' is there {number} times"
        yield FathomError(what, table.values.where, "delete the repeated column")
    if inventory.files.is_study(table.paper) and table.settings.model_fields_set & {"ours"}:
        remedy = "write its rows and columns as those of the table"
        yield FathomError("a study has no printed table", table.values.place("ours"), remedy)
    yield from _unknown_metric(table, cells)
    runs = (cell.source.removeprefix(f"{table.paper}/") for cell in cells)
    rows = dict.fromkeys(filter(None, chain((cell.row for cell in cells), runs)))
    for key in ("against", "base"):
        if (named := getattr(table.settings, key)) not in (None, *rows):
            yield unknown("row or run", named, table.values.place(key), rows)
    for column, row in table.settings.less.items():
        for kind, name in (("column", column), ("row", row)):
            valid = dict.fromkeys(getattr(cell, kind) for cell in cells)
            if name not in valid:
                yield unknown(kind, name, table.values.place("less", column), valid)
    for name, mark in (table.settings.marks or {}).items():
        where = table.values.place("marks", name, "to")
        yield from mark_faults(table, mark, cells, inventory, where)


def mark_faults(
    table: Table, mark: Mark, cells: tuple[Cell, ...], inventory: Inventory, where: str
) -> Iterator[FathomError]:
    """Yield that a mark's `to` is no row, column or run."""
    names = {name for cell in cells for name in (cell.row, cell.id, cell.column)}
    if mark.to not in names:
        runs = inventory.names_in(table.paper)
        if mark.to not in runs and mark.to not in inventory.entries:
            what = f"no row, column or run '{mark.to}'"
            yield FathomError(what, where, nearest(mark.to, (*sorted(names), *runs)))


def _unknown_metric(table: Table, cells: tuple[Cell, ...]) -> Iterator[FathomError]:
    tasks = sorted({task for cell in cells for task in (*cell.tasks, cell.task) if task})
    places: dict[Key, MetricSettings | None] = {(): table.settings.metric}
    places |= {("blocks", name): block.metric for name, block in table.settings.blocks.items()}
    for path, metric in places.items():
        for name in metric.unknown_for if metric else ():
            if name.lower() not in {task.lower() for task in tasks}:
                where = table.values.place(*path, "metric", "unknown_for")
                yield unknown("task", name, where, tasks)
