"""Tables of a paper: tables.yaml read, and the cells of each table."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from fathom.config.blocks import blocks
from fathom.config.cells import Cell, resolve
from fathom.config.inheritance import expand
from fathom.config.known import Known
from fathom.config.schema.table import Mark, Metric, TableEntry, TableSettings
from fathom.config.validation import check
from fathom.config.vocabulary import Vocabulary
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, Findings, Partly, nearest, right_and_wrong


class Table(TableEntry):
    """A table of a paper, with its cells."""

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

    def cells(self, known: Known) -> tuple[Cell, ...]:
        """Return the cells block by block and row by row, in the printed order, ours last.

        Raises:
            Findings: everything that does not resolve.
        """
        cells, findings = self.resolve(known)
        if findings:
            raise Findings(findings)
        return cells

    def resolve(self, known: Known) -> tuple[tuple[Cell, ...], list[FathomError]]:
        """Return the cells that resolve, and why others do not."""
        cells: list[Cell] = []
        findings: dict[str, FathomError] = {}
        for block in blocks(self, known):
            for cell in [block] if isinstance(block, FathomError) else resolve(self, block, known):
                if isinstance(cell, FathomError):
                    findings[str(cell)] = cell
                else:
                    cells.append(cell)
        repeated = any(n > 1 for n in Counter((cell.row, cell.column) for cell in cells).values())
        if repeated and self.settings.blocks:
            cells = [replace(cell, id=f"{cell.block}/{cell.row}") for cell in cells]
        return tuple(cells), list(findings.values())


def load(
    file: YamlFile, paper: str, vocabulary: Vocabulary, metric: Metric, marks: Mapping[str, Mark]
) -> dict[str, Table]:
    """Read a paper's tables.yaml.

    Args:
        file: tables.yaml.
        paper: the paper's name.
        vocabulary: measurements and shared columns.
        metric: the paper's.
        marks: the paper's.

    Raises:
        Partly: everything that is wrong in the file alone.
    """
    tables: dict[str, Table] = {}
    entries, findings, left_out = right_and_wrong(expand, file)
    for name, entry in entries.items():
        settings, wrong = check(TableSettings, entry.values, entry.where)
        findings += wrong
        if settings is not None:
            means = marks if settings.marks is None else settings.marks
            tables[name] = Table(paper, name, settings, entry, vocabulary, metric, means)
    if findings:
        raise Partly(findings, tables, [*left_out, *(entries.keys() - tables.keys())])
    return tables


def findings(table: Table, cells: tuple[Cell, ...], known: Known) -> Iterator[FathomError]:
    """Yield what is wrong with a table whose cells all resolve.

    Args:
        table: the table.
        cells: its cells.
        known: runs and corpora that it may name.
    """
    yield from _repeated(table, cells)
    yield from _lengths(table, cells, known)
    yield from _first(table, cells)
    yield from _unknown_metric(table, cells)
    for name, mark in (table.settings.marks or {}).items():
        yield from mark_findings(table, name, mark, cells, known)


def mark_findings(
    table: Table, name: str, mark: Mark, cells: tuple[Cell, ...], known: Known
) -> Iterator[FathomError]:
    """Yield a mark's `to` that is no row, column or run."""
    names = {cell.row for cell in cells} | {cell.id for cell in cells}
    names |= {cell.column for cell in cells} | {*known.runs, *known.names(table.paper)}
    if mark.to not in names:
        where = table.entry.where(("marks", name, "to"))
        yield FathomError(f"no row, column or run '{mark.to}'", where, nearest(mark.to, names))


def _repeated(table: Table, cells: tuple[Cell, ...]) -> Iterator[FathomError]:
    """Yield the columns that are there twice; equal rows of two blocks have ids of their own."""
    times = Counter((cell.id, cell.column) for cell in cells)
    repeated = {column: number for (_, column), number in times.items() if number > 1}
    for column, number in repeated.items():
        what = f"column '{column}' is there {number} times"
        yield FathomError(what, table.entry.where(()), "delete the repeated column")


def _lengths(table: Table, cells: tuple[Cell, ...], known: Known) -> Iterator[FathomError]:
    """Yield whether rows are trained unequally long and the table does not say so, or says so."""
    runs = {cell.source for cell in cells if cell.kind == "run"}
    lengths = sorted({(known.runs[run].group, str(known.runs[run].updates)) for run in runs})
    if len(lengths) > 1 and not table.settings.unequal:
        groups = ", ".join(f"{group} {updates}" for group, updates in lengths)
        remedy = "add `unequal` and say why"
        yield FathomError(f"rows train unequally long ({groups})", table.entry.where(()), remedy)
    if len(lengths) < 2 and table.settings.unequal:
        where = table.entry.where(("unequal",))
        yield FathomError("all rows train equally long", where, "delete `unequal`")


def _first(table: Table, cells: tuple[Cell, ...]) -> Iterator[FathomError]:
    first = table.settings.first
    if first is None:
        return
    rows = dict.fromkeys(cell.id for cell in cells)
    if first.row not in rows:
        where = table.entry.where(("first", "row"))
        yield FathomError(f"no row '{first.row}'", where, nearest(first.row, rows))
    columns = dict.fromkeys(cell.column for cell in cells)
    for name in first.bands:
        if name not in columns:
            where = table.entry.where(("first", name))
            yield FathomError(f"no column '{name}'", where, nearest(name, columns))
    if not first.bands:
        where = table.entry.where(("first",))
        yield FathomError("no column has a band", where, "write `column: [low, high]`")


def _unknown_metric(table: Table, cells: tuple[Cell, ...]) -> Iterator[FathomError]:
    tasks = {task for cell in cells for task in (*cell.tasks, cell.task) if task}
    known = {task.lower() for task in tasks}
    places = {(): table.settings.metric}
    places |= {("blocks", name): block.metric for name, block in table.settings.blocks.items()}
    for place, metric in places.items():
        for name in metric.unknown_for if metric else ():
            if name.lower() not in known:
                where = table.entry.where((*place, "metric", "unknown_for"))
                yield FathomError(f"no task '{name}'", where, nearest(name, sorted(tasks)))
