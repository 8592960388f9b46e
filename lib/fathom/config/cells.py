"""Cells of a table: the run or corpus, the value and the task that each one shows.

A cell resolves in this order. The run is the row's entry for the column, or else the row's run; in
a table without runs it is the corpus. The value is the row's, or the column's, or the table's. The
task is the row or column whose id is a task of the run's data; a cell without a task is a mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fathom.config.blocks import Block, BlockColumn, BlockRow
from fathom.config.known import Known, KnownRun
from fathom.config.places import placeholders, substitute
from fathom.config.schema.table import TableEntry
from fathom.config.values import ShownValue, parse
from fathom.config.yaml_files import KeyPath
from fathom.io.errors import FathomError, nearest, unknown

Kind = Literal["run", "corpus", "empty"]


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        block: the heading of its block; empty in a table without blocks.
        row, column: the printed ids.
        id: the row's id in reported cells and claims: `block/row` where two blocks have the same
            row and column, or else the row.
        kind: whether it shows a run or a corpus; "empty" where nothing can be shown: N/A in the
            paper, or a value that the run does not have.
        source: the run's full name, `<paper>/<run>`, or the data set; empty if the kind is.
        value: what it shows; None if the kind is empty.
        task: the task whose number it shows; None for a number of several tasks.
        tasks: without a task, those of which it is the mean; empty otherwise.
        gates: those of the decoding: soft, hard or plain; empty for a corpus.
        metric: sacreBLEU's tokenizer; empty for a value without one.
        metric_known: whether the paper's metric is known for all its tasks.
        ours: whether the paper does not have it.
    """

    block: str
    row: str
    column: str
    id: str
    kind: Kind
    source: str
    value: ShownValue | None
    task: str | None
    tasks: tuple[str, ...]
    gates: str
    metric: str
    metric_known: bool
    ours: bool

    @property
    def key(self) -> str:
        """The key of the measurement that it shows; empty for an empty cell."""
        return self.value.key(self.gates, self.metric) if self.value else ""


def resolve(table: TableEntry, block: Block, known: Known) -> Iterator[Cell | FathomError]:
    """Yield each cell of a block, row by row, or why it does not resolve."""
    for row in block.rows:
        yield from _wrong_keys(table, block, row)
        for column in block.columns:
            try:
                yield _Place(table, block, row, column, known).cell()
            except FathomError as error:
                yield error


def _wrong_keys(table: TableEntry, block: Block, row: BlockRow) -> Iterator[FathomError]:
    """Yield what a row says of columns that do not exist."""
    columns = [column.id for column in block.columns]
    for name in row.row.runs():
        if name not in columns:
            remedy = nearest(name, ["run", "value", "empty", *columns])
            yield FathomError(f"no column '{name}'", table.entry.where((*row.path, name)), remedy)
    for name in row.row.empty:
        if name not in columns:
            where = table.entry.where((*row.path, "empty"))
            yield FathomError(f"no column '{name}'", where, nearest(name, columns))


@dataclass(frozen=True)
class _Place:
    """Where a row and a column meet."""

    table: TableEntry
    block: Block
    row: BlockRow
    column: BlockColumn
    known: Known

    def cell(self) -> Cell:
        """Return the cell.

        Raises:
            FathomError: its run, corpus, value or task cannot be found.
        """
        if self.column.id in self.row.row.empty:
            return self._made("empty")
        value = self.value()
        if self.block.corpus is not None:
            tasks = self._corpus(value)
            return self._made("corpus", self.block.corpus, value, tasks)
        name, run, pattern = self.run(value)
        if not self.available(value, run):
            return self._made("empty")
        task = self.task(run.tasks)
        says = self.column.value or self.column.shared or self.row.row.value
        if not (task or says or "<column>" in pattern or self.column.id in self.row.row.runs()):
            # Without the row's run: the column is one finding, however many rows it has.
            what = f"column '{self.column.id}' is no task, and names neither value nor run"
            names = (*run.tasks, *self.table.vocabulary.columns)
            raise FathomError(what, self.where(self.column.path), nearest(self.column.id, names))
        gates = value.gates or (self.block.gates if run.gated else "plain")
        if value.has_gates and gates not in run.gates:
            what, where = f"{name} has no {gates} gates", self.where(self.row.path)
            raise FathomError(what, where, f"choose gates: {run.gates[0]}")
        return self._made("run", name, value, run.tasks, gates if value.has_gates else "")

    def where(self, path: KeyPath) -> str:
        """Return file, line and key of a key of the table."""
        return self.table.entry.where(path)

    def value(self) -> ShownValue:
        """Return what the cell shows: the row's value, or the column's, or the table's."""
        row, column = self.row, self.column
        if row.row.value and column.value:
            what = f"row '{row.id}' and column '{column.id}' both name a value"
            raise FathomError(what, self.where(row.path), "delete one of the two")
        if row.row.value:
            long = self.table.entry.get((*row.path, "value")) is not None
            text, path = row.row.value, (*row.path, "value") if long else row.path
        elif column.value:
            text, path = column.value, column.path
        else:
            text, path = self.block.value, self.block.value_path
        try:
            return parse(text, self.table.vocabulary.measurements)
        except FathomError as error:
            raise FathomError(error.what, self.where(path), error.remedy) from None

    def run(self, value: ShownValue) -> tuple[str, KnownRun, str]:
        """Return the run's full name, what is known of it, and its name as written."""
        own = self.row.row.runs().get(self.column.id)
        pattern = own or self.row.row.run
        path = (*self.row.path, self.column.id) if own else self.row.path
        if not pattern:
            what = f"row '{self.row.id}' names no run"
            raise FathomError(what, self.where(path), "write `row: run`")
        names = {**self.block.names, "row": self.row.id, "column": self.column.id}
        run = str(substitute(pattern, names))
        for missing in placeholders(run):
            remedy = nearest(missing, names)
            raise FathomError(f"`with` gives no <{missing}>", self.where(path), remedy)
        name, known = self.known.run(self.table.paper, run, self.where(path))
        if self.table.vocabulary.measurement(value).of == "corpus":
            what = f"'{value.measurement}' is not measured of a run"
            raise FathomError(what, self.where(path), "name a `corpus`, or another value")
        return name, known, pattern

    def _corpus(self, value: ShownValue) -> tuple[str, ...]:
        """Return the tasks of the block's corpus."""
        corpus, where = self.block.corpus or "", self.where((*self.block.path, "corpus"))
        if corpus not in self.known.corpora:
            raise unknown("data set", corpus, where, self.known.corpora)
        tasks = self.known.corpora[corpus]
        if self.table.vocabulary.measurement(value).of != "corpus":
            what = f"'{value.measurement}' is not measured of a corpus"
            raise FathomError(what, self.where(self.row.path), "name runs, or another value")
        if self.task(tasks) is None and not self.column.shared:
            what = f"neither '{self.row.id}' nor '{self.column.id}' is a task of {corpus}"
            line = self.row if self.row.row.value is None else self.column
            raise FathomError(what, self.where(line.path), nearest(line.id, tasks))
        return tasks

    def available(self, value: ShownValue, run: KnownRun) -> bool:
        """Return whether a run has this value at all; a printed cell must have it."""
        if self.table.vocabulary.measurement(value).of == "gates":
            return run.gated and (not value.stack or not run.stacks or value.stack in run.stacks)
        return not value.gates or value.gates in run.gates

    def task(self, tasks: tuple[str, ...]) -> str | None:
        """Return the task that the row or the column is, case ignored."""
        ids = (self.row.id.lower(), self.column.id.lower())
        return next((name for name in ids if name in tasks), None)

    def _made(
        self,
        kind: Kind,
        source: str = "",
        value: ShownValue | None = None,
        tasks: tuple[str, ...] = (),
        gates: str = "",
    ) -> Cell:
        task = self.task(tasks)
        mean = () if task else self.block.shown(tasks) or tasks
        has_metric = value is not None and value.has_tokenizer
        metric = self.block.metric
        unknown = {name.lower() for name in metric.unknown_for}
        return Cell(
            block=self.block.heading,
            row=self.row.id,
            column=self.column.id,
            id=self.row.id,
            kind=kind,
            source=source,
            value=value,
            task=task,
            tasks=mean,
            gates=gates,
            metric=metric.tokenize or "" if has_metric else "",
            metric_known=not (has_metric and unknown & {*mean, *([task] if task else [])}),
            ours=self.row.ours or self.column.ours,
        )
