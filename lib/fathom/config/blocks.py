"""Blocks of a table: the rows and columns of each, the table's settings filled in."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fathom.config.known import Known
from fathom.config.places import substitute
from fathom.config.schema import table as settings
from fathom.config.schema.table import Metric, Row, TableEntry
from fathom.config.yaml_files import KeyPath
from fathom.io.errors import FathomError, unknown

TASKS = "tasks"


@dataclass(frozen=True)
class BlockRow:
    """A row of a block.

    Attributes:
        id: the printed text.
        row: its run or value.
        path: its key in the table's entry.
        ours: whether the paper does not have it.
    """

    id: str
    row: Row
    path: KeyPath
    ours: bool


@dataclass(frozen=True)
class BlockColumn:
    """A column of a block.

    Attributes:
        id: a task, a shared column, or the `<column>` of run names.
        value: what the column says its cells show, or None.
        shared: whether config/columns.yaml has it.
        path: its key in the table's entry.
        ours: whether the paper does not have it.
    """

    id: str
    value: str | None
    shared: bool
    path: KeyPath
    ours: bool


@dataclass(frozen=True)
class Block:
    """A block of a table; a table without blocks is one block without heading.

    Attributes:
        heading: printed above the block.
        corpus: the data set of a table without runs, or None.
        rows, columns: those of the paper first, then ours.
        names: the values of `<name>` in run names.
        value: what cells show where neither row nor column says it.
        value_path: the key of that value.
        gates: the gates of scores whose value names none.
        metric: how scores are computed.
        path: the block's key in the table's entry.
    """

    heading: str
    corpus: str | None
    rows: tuple[BlockRow, ...]
    columns: tuple[BlockColumn, ...]
    names: Mapping[str, str]
    value: str
    value_path: KeyPath
    gates: str
    metric: Metric
    path: KeyPath

    def shown(self, tasks: Iterable[str]) -> tuple[str, ...]:
        """Return those tasks that are rows or columns of the paper's block."""
        ids = {line.id.lower() for line in (*self.rows, *self.columns) if not line.ours}
        return tuple(task for task in tasks if task in ids)


def blocks(table: TableEntry, known: Known) -> Iterator[Block | FathomError]:
    """Yield each block of a table, or what is wrong with it."""
    for heading, own in table.settings.blocks.items() or [("", settings.Block())]:
        try:
            yield _block(heading, own, table, known)
        except FathomError as error:
            yield error


def _block(heading: str, own: settings.Block, table: TableEntry, known: Known) -> Block:
    """Return a block; what it does not say is the table's."""
    above, ours, where = table.settings, table.settings.ours, table.entry.where

    def path(key: str) -> KeyPath:
        return ("blocks", heading, key) if key in own.model_fields_set else (key,)

    here: KeyPath = ("blocks", heading) if heading else ()
    corpus = own.corpus or above.corpus
    rows = above.rows if own.rows is None else own.rows
    columns = above.columns if own.columns is None else own.columns
    names = above.with_ | own.with_
    if not rows:
        raise FathomError("a table without rows", where(here), "add `rows`")
    if not columns:
        raise FathomError("a table without columns", where(here), "add `columns`")
    if corpus is None and not isinstance(rows, dict):
        remedy = "write {row: run}, or name a `corpus`"
        raise FathomError("these rows name no runs", where(path("rows")), remedy)
    first = rows if isinstance(rows, dict) else {}
    expand = _Expansion(table, known, corpus, first, names, path("corpus" if corpus else "rows"))
    return Block(
        heading=heading,
        corpus=corpus,
        rows=(
            *expand.rows(rows, path("rows"), ours=False),
            *expand.rows(ours.rows, ("ours", "rows"), ours=True),
        ),
        columns=(
            *expand.columns(columns, path("columns"), ours=False),
            *expand.columns(ours.columns, ("ours", "columns"), ours=True),
        ),
        names=names,
        value=own.value or above.value or "bleu.test",
        value_path=path("value"),
        gates=own.gates or above.gates or "soft",
        metric=table.metric.over(above.metric).over(own.metric),
        path=here,
    )


@dataclass(frozen=True)
class _Expansion:
    """Writes out `tasks` and the short forms of a block's rows and columns."""

    table: TableEntry
    known: Known
    corpus: str | None
    first: Mapping[str, str | Row]
    names: Mapping[str, str]
    path: KeyPath

    def tasks(self) -> tuple[str, ...]:
        """Return the tasks of the block's corpus, or of its first row's run."""
        known, paper, where = self.known, self.table.paper, self.table.entry.where
        if self.corpus is not None:
            if self.corpus not in known.corpora:
                raise unknown("data set", self.corpus, where(self.path), known.corpora)
            return known.corpora[self.corpus]
        first, row = next(iter(self.first.items()))
        run = substitute(row if isinstance(row, str) else row.run or "", self.names)
        return known.run(paper, run, where((*self.path, first)))[1].tasks

    def rows(self, rows: settings.Rows, path: KeyPath, ours: bool) -> Iterator[BlockRow]:
        if not isinstance(rows, dict):
            for position, item in enumerate(rows):
                for name in self.tasks() if item == TASKS else (item,):
                    yield BlockRow(name, Row(), (*path, position), ours)
            return
        for name, row in rows.items():
            if isinstance(row, str):
                row = Row(run=row) if self.corpus is None else Row(value=row)
            yield BlockRow(name, row, (*path, name), ours)

    def columns(self, columns: settings.Columns, path: KeyPath, ours: bool):
        if isinstance(columns, dict):
            for name, value in columns.items():
                yield BlockColumn(name, value, False, (*path, name), ours)
            return
        for position, item in enumerate(columns):
            for name in self.tasks() if item == TASKS else (item,):
                shared = self.table.vocabulary.columns.get(name)
                value = shared.value if shared else None
                yield BlockColumn(name, value, shared is not None, (*path, position), ours)
