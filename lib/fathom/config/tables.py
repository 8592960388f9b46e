"""Tables of a paper: tables.yaml read, and the run or corpus and the value that each cell shows.

A cell resolves in this order. The run is the row's entry for the column, or else the row's run; in
a table without runs it is the corpus. The value is the row's, or the column's, or the table's. The
task is the row or column whose id is a task of the run's data; a cell without a task is a mean.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from fathom.config.catalogue import Catalogue
from fathom.config.merge import fill_text, placeholders
from fathom.config.schema.table import (
    BlockSettings,
    Mark,
    MetricSettings,
    RowSettings,
    TableSettings,
)
from fathom.config.spec import Spec
from fathom.config.vocabulary import ShownValue, Vocabulary, parse
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, findings_in, nearest, unknown

TASKS = "tasks"
Kind = Literal["run", "corpus", "empty"]


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

    @property
    def title(self) -> str:
        """Its heading."""
        return self.settings.title

    @property
    def section(self) -> str:
        """Where the paper discusses it."""
        return self.settings.section

    @property
    def caption(self) -> str:
        """What a reader must know to read it; may be empty."""
        return self.settings.caption


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    block: str  # the heading of its block; empty in a table without blocks
    row: str
    column: str  # row and column are the printed ids
    # The row's id in reported cells and claims: `block/row` where two blocks have the same cell.
    id: str
    kind: Kind  # empty: N/A in the paper, or a value that the run does not have
    source: str  # the run's full name, `<paper>/<run>`, or the data set; empty if the kind is
    value: ShownValue | None  # None if the kind is empty
    task: str | None  # None for a number of several tasks
    tasks: tuple[str, ...]  # without a task, those of which it is the mean; else empty
    gates: str  # of the decoding: soft, hard or plain; empty for a corpus
    metric: str  # sacreBLEU's tokenizer; empty for a value without one
    metric_known: bool  # whether the paper's metric is known for all its tasks
    ours: bool  # whether the paper does not have it

    @property
    def key(self) -> str:
        """The key of the measurement that it shows; empty for an empty cell."""
        return self.value.key(self.gates, self.metric) if self.value else ""


def resolve_cells(
    table: Table, catalogue: Catalogue, scale: str | None
) -> tuple[tuple[Cell, ...], list[FathomError]]:
    """Return the cells of a table that resolve, in the printed order, and why others do not.

    Args:
        table: the table.
        project: the catalogue, whose runs and data sets it shows.
        scale: the scale; None for the papers' own settings.
    """
    cells: list[Cell] = []
    findings: dict[str, FathomError] = {}
    for heading, settings in table.settings.blocks.items() or [("", BlockSettings())]:
        block = _Block(table, catalogue, scale, heading, settings)
        for found in block.cells():
            if isinstance(found, Cell):
                cells.append(found)
            else:
                findings |= {str(finding): finding for finding in findings_in(found)}
    times = Counter((cell.row, cell.column) for cell in cells)
    if table.settings.blocks and any(number > 1 for number in times.values()):
        cells = [replace(cell, id=f"{cell.block}/{cell.row}") for cell in cells]
    return tuple(cells), [*findings.values()]


@dataclass(frozen=True)
class _Row:
    """A row in its long form."""

    id: str
    settings: RowSettings
    path: Key  # its key in the table
    value_path: Key  # that of its value
    ours: bool  # whether the paper does not have it


@dataclass(frozen=True)
class _Column:
    """A column: a task, a shared column, one with a value, or the `<column>` of run names."""

    id: str
    value: str | None  # what it says that its cells show
    shared: bool  # whether config/columns.yaml has it
    path: Key
    ours: bool


class _Block:
    """A block of a table; what it does not say is the table's.

    A table without blocks is a single block without heading.
    """

    def __init__(
        self,
        table: Table,
        catalogue: Catalogue,
        scale: str | None,
        heading: str,
        settings: BlockSettings,
    ):
        self.table, self.catalogue, self.scale = table, catalogue, scale
        self.heading, self.settings = heading, settings
        self.corpus: str | None = self._given("corpus")
        self.names: dict[str, str] = table.settings.with_ | settings.with_  # for `<name>` in runs
        self.value: str = self._given("value") or "bleu.test"
        self.gates: str = self._given("gates") or "soft"
        self.metric = table.metric.over(table.settings.metric).over(settings.metric)

    def cells(self) -> Iterator[Cell | FathomError]:
        """Yield each cell, row by row, or why it does not resolve."""
        try:
            self._require_lines()
            rows, columns = self.rows, self.columns
        except FathomError as error:
            yield error
            return
        for row in rows:
            yield from self._unknown_columns(row)
            for column in columns:
                try:
                    yield self._cell(row, column)
                except FathomError as error:
                    yield error

    # Rows and columns

    @cached_property
    def rows(self) -> tuple[_Row, ...]:
        """Those of the paper first, then ours."""
        ours = self.table.settings.ours.rows
        return (
            *self._rows(self._given("rows"), self._path("rows"), ours=False),
            *self._rows(ours, ("ours", "rows"), ours=True),
        )

    @cached_property
    def columns(self) -> tuple[_Column, ...]:
        """Those of the paper first, then ours."""
        ours = self.table.settings.ours.columns
        return (
            *self._columns(self._given("columns"), self._path("columns"), ours=False),
            *self._columns(ours, ("ours", "columns"), ours=True),
        )

    @cached_property
    def printed(self) -> set[str]:
        """The ids of the paper's rows and columns in small letters."""
        return {line.id.lower() for line in (*self.rows, *self.columns) if not line.ours}

    def _rows(self, rows: Any, path: Key, ours: bool) -> Iterator[_Row]:
        for name, settings, place in self._lines(rows, path):
            value_path = place
            if isinstance(settings, RowSettings):
                value_path = (*place, "value")
            elif self.corpus is None:
                settings = RowSettings(run=settings)
            else:
                settings = RowSettings(value=settings)
            yield _Row(name, settings, place, value_path, ours)

    def _columns(self, columns: Any, path: Key, ours: bool) -> Iterator[_Column]:
        for name, value, place in self._lines(columns, path):
            shared = self.table.vocabulary.columns.get(name) if value is None else None
            value = shared.value if shared else value
            yield _Column(name, value, shared is not None, place, ours)

    def _lines(self, lines: Any, path: Key) -> Iterator[tuple[str, Any, Key]]:
        """Yield id, settings and path of each row or column, `tasks` written out."""
        if isinstance(lines, dict):
            for name, settings in lines.items():
                yield name, settings, (*path, name)
            return
        for number, item in enumerate(lines):
            for name in self._tasks() if item == TASKS else (item,):
                yield name, None, (*path, number)

    def _given(self, key: str) -> Any:
        """Return what the block says of a key, or else the table."""
        here = getattr(self.settings, key)
        return getattr(self.table.settings, key) if here is None else here

    def _path(self, key: str) -> Key:
        inside = key in self.settings.model_fields_set
        return ("blocks", self.heading, key) if inside else (key,)

    def _where(self, path: Key) -> str:
        return self.table.values.place(*path)

    def _require_lines(self) -> None:
        here: Key = ("blocks", self.heading) if self.heading else ()
        for key in ("rows", "columns"):
            if not self._given(key):
                raise FathomError(f"a table without {key}", self._where(here), f"add `{key}`")
        if self.corpus is None and not isinstance(self._given("rows"), dict):
            remedy = "write {row: run}, or name a `corpus`"
            raise FathomError("these rows name no runs", self._where(self._path("rows")), remedy)

    def _tasks(self) -> tuple[str, ...]:
        """Return the tasks of the block's corpus, or of its first row's run."""
        if self.corpus is not None:
            return self._tasks_of_corpus(self.corpus)
        name, row = next(iter(self._given("rows").items()))
        pattern = row.run or "" if isinstance(row, RowSettings) else row
        run = str(fill_text(pattern, self.names))
        return self._run(run, self._where((*self._path("rows"), name)))[1].data.tasks

    def _tasks_of_corpus(self, corpus: str) -> tuple[str, ...]:
        datasets = self.catalogue.datasets
        if corpus not in datasets:
            raise unknown("data set", corpus, self._where(self._path("corpus")), datasets)
        return datasets[corpus].tasks

    def _run(self, run: str, where: str) -> tuple[str, Spec]:
        """Return the full name of a run that the table names, and what it is."""
        name = self.catalogue.run_in(self.table.paper, run, where)
        return name, self.catalogue.spec(name, self.scale)

    def _unknown_columns(self, row: _Row) -> Iterator[FathomError]:
        """Yield what a row says of columns that do not exist."""
        columns = [column.id for column in self.columns]
        for name in row.settings.runs():
            if name not in columns:
                remedy = nearest(name, ["run", "value", "empty", *columns])
                where = self._where((*row.path, name))
                yield FathomError(f"no column '{name}'", where, remedy)
        for name in row.settings.empty:
            if name not in columns:
                yield unknown("column", name, self._where((*row.path, "empty")), columns)

    # Cells

    def _cell(self, row: _Row, column: _Column) -> Cell:
        """Return the cell where a row and a column meet.

        Raises:
            FathomError: If its run, corpus, value or task cannot be found.
        """
        if column.id in row.settings.empty:
            return self._made(row, column)
        value = self._value(row, column)
        if self.corpus is not None:
            tasks = self._of_corpus(self.corpus, value, row, column)
            return self._made(row, column, "corpus", self.corpus, value, tasks)
        runs = row.settings.runs()
        pattern, where = row.settings.run, self._where(row.path)
        if column.id in runs:
            pattern, where = runs[column.id], self._where((*row.path, column.id))
        if not pattern:
            raise FathomError(f"row '{row.id}' names no run", where, "write `row: run`")
        name, spec = self._run(self._filled(pattern, row, column, where), where)
        if self.table.vocabulary.measurement(value).of == "corpus":
            what = f"'{value.measurement}' is not measured of a run"
            raise FathomError(what, where, "name a `corpus`, or another value")
        if not self._has(spec, value):
            return self._made(row, column)
        tasks = spec.data.tasks
        says = column.value or column.shared or row.settings.value or column.id in runs
        if not (says or self._task(row, column, tasks) or "<column>" in pattern):
            # Without the row's run: the column is one finding, however many rows it has.
            what = f"column '{column.id}' is no task, and names neither value nor run"
            remedy = nearest(column.id, (*tasks, *self.table.vocabulary.columns))
            raise FathomError(what, self._where(column.path), remedy)
        gates = value.gates or (self.gates if spec.gates != ("plain",) else "plain")
        if value.has_gates and gates not in spec.gates:
            remedy = f"choose gates: {spec.gates[0]}"
            raise FathomError(f"{name} has no {gates} gates", self._where(row.path), remedy)
        return self._made(row, column, "run", name, value, tasks, gates)

    def _filled(self, pattern: str, row: _Row, column: _Column, where: str) -> str:
        """Return the name of a run with `<name>` replaced."""
        names = {**self.names, "row": row.id, "column": column.id}
        run = str(fill_text(pattern, names))
        for missing in placeholders(run):
            raise FathomError(f"`with` gives no <{missing}>", where, nearest(missing, names))
        return run

    def _value(self, row: _Row, column: _Column) -> ShownValue:
        """Return what a cell shows: the row's value, or the column's, or the table's."""
        if row.settings.value and column.value:
            what = f"row '{row.id}' and column '{column.id}' both name a value"
            raise FathomError(what, self._where(row.path), "delete one of the two")
        text, path = self.value, self._path("value")
        if row.settings.value:
            text, path = row.settings.value, row.value_path
        elif column.value:
            text, path = column.value, column.path
        try:
            return parse(text, self.table.vocabulary.measurements)
        except FathomError as error:
            raise FathomError(error.what, self._where(path), error.remedy) from None

    def _of_corpus(
        self, corpus: str, value: ShownValue, row: _Row, column: _Column
    ) -> tuple[str, ...]:
        """Return the tasks of the block's corpus, of which a cell shows a value."""
        tasks = self._tasks_of_corpus(corpus)
        if self.table.vocabulary.measurement(value).of != "corpus":
            what = f"'{value.measurement}' is not measured of a corpus"
            raise FathomError(what, self._where(row.path), "name runs, or another value")
        if self._task(row, column, tasks) is None and not column.shared:
            what = f"neither '{row.id}' nor '{column.id}' is a task of {corpus}"
            line = row if row.settings.value is None else column
            raise FathomError(what, self._where(line.path), nearest(line.id, tasks))
        return tasks

    def _has(self, spec: Spec, value: ShownValue) -> bool:
        """Return whether a run has this value at all; a printed cell must have it."""
        if self.table.vocabulary.measurement(value).of != "gates":
            return not value.gates or value.gates in spec.gates
        has_gates = self.catalogue.methods[spec.method.name].about.gates
        stacks = spec.method.stacks if has_gates else ()
        here = not value.stack or not stacks or value.stack in stacks
        return spec.gates != ("plain",) and here

    def _task(self, row: _Row, column: _Column, tasks: tuple[str, ...]) -> str | None:
        """Return the task that the row or the column is, case ignored."""
        ids = (row.id.lower(), column.id.lower())
        return next((name for name in ids if name in tasks), None)

    def _made(
        self,
        row: _Row,
        column: _Column,
        kind: Kind = "empty",
        source: str = "",
        value: ShownValue | None = None,
        tasks: tuple[str, ...] = (),
        gates: str = "",
    ) -> Cell:
        task = self._task(row, column, tasks)
        # A mean is that of the tasks which the paper's block shows, if it shows any.
        mean = () if task else tuple(name for name in tasks if name in self.printed) or tasks
        has_metric = value is not None and value.has_tokenizer
        unknown_for = {name.lower() for name in self.metric.unknown_for}
        return Cell(
            block=self.heading,
            row=row.id,
            column=column.id,
            id=row.id,
            kind=kind,
            source=source,
            value=value,
            task=task,
            tasks=mean,
            gates=gates if value is not None and value.has_gates else "",
            metric=(self.metric.tokenize or "") if has_metric else "",
            metric_known=not (has_metric and unknown_for & {*mean, *([task] if task else [])}),
            ours=row.ours or column.ours,
        )


def table_faults(
    table: Table, cells: tuple[Cell, ...], catalogue: Catalogue
) -> Iterator[FathomError]:
    """Yield what is wrong with a table whose cells all resolve."""
    times = Counter((cell.id, cell.column) for cell in cells)
    for column, number in {column: n for (_, column), n in times.items() if n > 1}.items():
        what = f"column '{column}' is there {number} times"
        yield FathomError(what, table.values.where, "delete the repeated column")
    yield from _lengths(table, cells, catalogue)
    yield from _first(table, cells)
    yield from _unknown_metric(table, cells)
    for name, mark in (table.settings.marks or {}).items():
        where = table.values.place("marks", name, "to")
        yield from mark_faults(table, mark, cells, catalogue, where)


def mark_faults(
    table: Table, mark: Mark, cells: tuple[Cell, ...], catalogue: Catalogue, where: str
) -> Iterator[FathomError]:
    """Yield that a mark's `to` is no row, column or run."""
    names = {name for cell in cells for name in (cell.row, cell.id, cell.column)}
    if mark.to not in names:
        runs = catalogue.names_in(table.paper)
        if mark.to not in runs and mark.to not in catalogue.entries:
            what = f"no row, column or run '{mark.to}'"
            yield FathomError(what, where, nearest(mark.to, (*sorted(names), *runs)))


def _lengths(table: Table, cells: tuple[Cell, ...], catalogue: Catalogue) -> Iterator[FathomError]:
    """Yield whether rows are trained unequally long and the table does not say so, or says so."""
    runs = {cell.source: catalogue.run(cell.source) for cell in cells if cell.kind == "run"}
    lengths = sorted({(run.group or "", str(run.training.updates)) for run in runs.values()})
    if len(lengths) > 1 and not table.settings.unequal:
        groups = ", ".join(f"{group} {updates}" for group, updates in lengths)
        what, remedy = f"rows train unequally long ({groups})", "add `unequal` and say why"
        yield FathomError(what, table.values.where, remedy)
    if len(lengths) < 2 and table.settings.unequal:
        where = table.values.place("unequal")
        yield FathomError("all rows train equally long", where, "delete `unequal`")


def _first(table: Table, cells: tuple[Cell, ...]) -> Iterator[FathomError]:
    first = table.settings.first
    if first is None:
        return
    rows = dict.fromkeys(cell.id for cell in cells)
    if first.row not in rows:
        yield unknown("row", first.row, table.values.place("first", "row"), rows)
    columns = dict.fromkeys(cell.column for cell in cells)
    for name in first.bands:
        if name not in columns:
            yield unknown("column", name, table.values.place("first", name), columns)
    if not first.bands:
        where = table.values.place("first")
        yield FathomError("no column has a band", where, "write `column: [low, high]`")


def _unknown_metric(table: Table, cells: tuple[Cell, ...]) -> Iterator[FathomError]:
    tasks = sorted({task for cell in cells for task in (*cell.tasks, cell.task) if task})
    places: dict[Key, MetricSettings | None] = {(): table.settings.metric}
    places |= {("blocks", name): block.metric for name, block in table.settings.blocks.items()}
    for path, metric in places.items():
        for name in metric.unknown_for if metric else ():
            if name.lower() not in {task.lower() for task in tasks}:
                where = table.values.place(*path, "metric", "unknown_for")
                yield unknown("task", name, where, tasks)
