"""How a table reads: numbers as text, rows, headings and notes; the same for every format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fathom.artefacts.table.comparison import ComparedCell, ComparedTable
from fathom.artefacts.table.notes import ADDED, DOUBTFUL, FEW, FEW_SENTENCES, notes_of
from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.sources import NOT_RUN
from fathom.artefacts.table.verdicts import Verdict, signed
from fathom.config.reported import Reported
from fathom.config.vocabulary import Vocabulary

OURS = "Not in the paper"
_SCALED = ("millions", "thousands")
_COUNTS = 2  # significant digits that a scaled count keeps
_BOLD = "bold"


@dataclass(frozen=True)
class CellView:
    """A cell as text.

    Attributes:
        text: the number or the words in its place.
        spread: `±0.12`, or nothing.
        span: columns that it covers; 0 where a cell to the left covers it.
        bold: whether the paper prints it in bold, or ours passes the test of its bold cells.
        verdict: a word for the verdict's colour, or nothing.
    """

    text: str = ""
    spread: str = ""
    span: int = 1
    bold: bool = False
    verdict: str = ""

    @property
    def full(self) -> str:
        """The text with its spread."""
        return f"{self.text} {self.spread}" if self.spread else self.text


@dataclass(frozen=True)
class RowView:
    """A row; `kind` is "result", "paper" (reported numbers), "verdict" or "count"."""

    label: str
    kind: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True)
class BlockView:
    """A part of a table with its own heading, columns and rows."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[RowView, ...]


@dataclass(frozen=True)
class TableView:
    """A table as it is read.

    Attributes:
        name: `<paper>_<table>`, to refer to it.
        title: `Table <number> · <title>`.
        caption: where it is in the paper, and at which scale it was reproduced.
        blocks: its parts.
        notes: what a reader must know, one sentence or more each.
    """

    name: str
    title: str
    caption: str
    blocks: tuple[BlockView, ...]
    notes: tuple[str, ...]


def label(name: str, title: str) -> str:
    """Return what a table or figure is called: `Table <number> · <title>` for `table<number>`."""
    match = re.fullmatch(r"([a-z]+)(\d+\w*)", name)
    return f"{match[1].capitalize()} {match[2]} · {title}" if match else f"{name} · {title}"


def place(section: str) -> str:
    """Return where an artefact is in its paper."""
    return section if section.startswith(("§", "App.")) else f"“{section}”"


def caption(section: str, reference: str, scale: str) -> str:
    """Return where an artefact is in its paper, and at which scale it was reproduced."""
    return f"{place(section)} of {reference.rstrip('.')}. Scale: {scale}."


def view(compared: ComparedTable, reference: str, verdicts: bool = False) -> TableView:
    """Lay a table out.

    Args:
        compared: the table and its cells.
        reference: authors, title and year of the paper.
        verdicts: whether comparable rows are followed by a row of verdicts.
    """
    table = compared.table
    blocks = [
        _block(heading, cells, compared, verdicts, added)
        for heading, cells, added in parts(compared.cells)
    ]
    return TableView(
        name=f"{table.paper}_{table.name}",
        title=label(table.name, table.title),
        caption=caption(table.section, reference, compared.scale),
        blocks=tuple(blocks),
        notes=tuple(notes_of(compared)),
    )


def shown(own: CellResult, decimals: int) -> CellView:
    """Return our cell as text."""
    if own.value is None:
        return CellView(own.words)
    decimals = _decimals(own, decimals)
    spread = "" if own.stderr is None else f"±{own.stderr:.{decimals}f}"
    mark = DOUBTFUL if own.doubtful else ""
    # The mean of some seeds alone must not read as that of all.
    some = f" ({own.seeds} of {own.of} seeds)" if own.lost and own.seeds < own.of else ""
    return CellView(f"{own.value:z.{decimals}f}{mark}{some}", spread)


def reported_text(reported: Reported | None) -> CellView:
    """Return the paper's cell as printed, with its spread and mark."""
    if reported is None:
        return CellView()
    if not reported.value:
        return CellView(reported.note)
    delta = f" ({reported.note})" if reported.note else ""
    misprint = f" [{reported.right}]" if reported.right else ""
    spread = f"±{reported.stderr}" if reported.stderr else ""
    return CellView(reported.value + delta + misprint, spread, bold=reported.mark == _BOLD)


def parts(cells: Iterable[ComparedCell]) -> Iterator[tuple[str, list[ComparedCell], bool]]:
    """Yield each part of a table with its heading: as the paper has it, then added columns.

    Rows that we add are in the first part. The last item says whether the part is not the paper's.
    """
    for heading, group in groupby(cells, lambda item: item.result.cell.block):
        block = list(group)
        own = {item.result.cell.column for item in block if _is_added(item, block)}
        yield heading, [item for item in block if item.result.cell.column not in own], False
        added = [item for item in block if item.result.cell.column in own]
        rows = {item.result.cell.row for item in added if _has_text(item)}
        added = [item for item in added if item.result.cell.row in rows]
        if added:
            yield f"{heading}: {OURS.lower()}" if heading else OURS, added, True


def _is_added(item: ComparedCell, cells: Iterable[ComparedCell]) -> bool:
    """Return whether the paper's table has no column of this id."""
    column = item.result.cell.column
    return all(other.result.cell.ours for other in cells if other.result.cell.column == column)


def rows_of(
    cells: Sequence[ComparedCell], vocabulary: Vocabulary
) -> dict[str, dict[str, tuple[ComparedCell, CellView]]]:
    """Return the rows of a part by id: each column's cell and its text."""
    columns = dict.fromkeys(item.result.cell.column for item in cells)
    decimals = {column: _column_digits(column, cells, vocabulary) for column in columns}
    rows: dict[str, dict[str, tuple[ComparedCell, CellView]]] = {}
    for item in cells:
        cell = item.result.cell
        digits = 0 if _is_count(item, vocabulary) else decimals[cell.column]
        rows.setdefault(cell.row, {})[cell.column] = (item, _shown(item, digits))
    return rows


def row_labels(cells: Sequence[ComparedCell], compared: ComparedTable) -> dict[str, str]:
    """Return what the rows of a part are called; those that the paper does not have are marked.

    A row has the unit of its numbers where those of a column differ.
    """
    columns = dict.fromkeys(item.result.cell.column for item in cells)
    by_row = any(len(_units(_in_column(column, cells))) > 1 for column in columns)
    # In a part that is not the paper's every row would be marked.
    mark = not all(_is_added(item, cells) for item in cells)
    labels = {}
    for row in dict.fromkeys(item.result.cell.row for item in cells):
        items = [item for item in cells if item.result.cell.row == row]
        name = _with_unit(_called(row, compared), items if by_row else ())
        added = mark and all(item.result.cell.ours for item in items)
        labels[row] = f"{name} {ADDED}" if added else name
    return labels


def column_labels(cells: Sequence[ComparedCell], compared: ComparedTable) -> dict[str, str]:
    """Return what the columns of a part are called; one with few test sentences is marked."""
    labels = {}
    for column in dict.fromkeys(item.result.cell.column for item in cells):
        name = _with_unit(_called(column, compared), _in_column(column, cells))
        labels[column] = name + (FEW if _few(column, cells) else "")
    return labels


def _called(name: str, compared: ComparedTable) -> str:
    called = {task.lower(): words for task, words in compared.shown_as.items()}
    return called.get(name.lower(), compared.table.vocabulary.title(name))


def _with_unit(name: str, items: Sequence[ComparedCell]) -> str:
    """Return a heading with the unit that all of its numbers share, if it does not say it."""
    units = _units(items)
    (unit,) = units if len(units) == 1 else ("",)
    return f"{name} ({unit})" if unit and not name.endswith(")") else name


def _units(items: Iterable[ComparedCell]) -> set[str]:
    """Return the units of some cells; one that is empty is that of the measurement."""
    values = [item.result.cell.value for item in items]
    return {value.unit if value.unit in _SCALED else "" for value in values if value}


def _in_column(column: str, cells: Iterable[ComparedCell]) -> list[ComparedCell]:
    return [item for item in cells if item.result.cell.column == column]


def _block(
    heading: str,
    cells: Sequence[ComparedCell],
    compared: ComparedTable,
    verdicts: bool,
    added: bool,
) -> BlockView:
    columns, labels = column_labels(cells, compared), row_labels(cells, compared)
    several = any(item.result.seeds > 1 for item in cells)
    rows: list[RowView] = []
    for row, items in rows_of(cells, compared.table.vocabulary).items():
        in_order = [items[column][0] for column in columns]
        views = [items[column][1] for column in columns]
        if several:
            views.append(CellView(str(max(item.result.seeds for item in in_order))))
        rows.append(RowView(labels[row], "result", tuple(_merged(views))))
        rows += _reported_rows(in_order, verdicts and not added, several)
    counts = sentences_row(list(columns), cells)
    names = list(columns.values())
    if several:
        names.append("Seeds")
        counts = counts and RowView(counts.label, counts.kind, (*counts.cells, CellView()))
    return BlockView(heading, tuple(names), (*rows, counts) if counts else tuple(rows))


def _shown(item: ComparedCell, decimals: int) -> CellView:
    """Return our cell with its difference to another one, and its verdict's colour."""
    cell = shown(item.result, decimals)
    delta = f" ({signed(item.delta, decimals)})" if item.delta is not None else ""
    bold = item.mark == _BOLD
    return CellView(cell.text + delta, cell.spread, bold=bold, verdict=colour(item.verdict))


def _reported_rows(items: Sequence[ComparedCell], verdicts: bool, several: bool) -> list[RowView]:
    """Return the row of reported numbers, and that of verdicts, where there are any."""
    rows = []
    end = [CellView()] if several else []
    if any(item.reported for item in items):
        cells = _merged([reported_text(item.reported) for item in items])
        rows.append(RowView("paper", "paper", (*cells, *end)))
    known = {item.verdict.words for item in items if item.verdict and item.result.comparable}
    if verdicts and known - {NOT_RUN}:
        cells = _merged([_verdict(item.verdict) for item in items])
        rows.append(RowView("verdict", "verdict", (*cells, *end)))
    return rows


def _verdict(verdict: Verdict | None) -> CellView:
    if verdict is None:
        return CellView()
    delta = "" if verdict.delta is None else f"{signed(verdict.delta, 2)} "
    return CellView(delta + verdict.words, verdict=colour(verdict))


def colour(verdict: Verdict | None) -> str:
    """Return the verdict's words as the name of a style."""
    return re.sub(r"\W+", "-", verdict.words.partition("(")[0].strip()) if verdict else ""


def _merged(cells: Sequence[CellView]) -> list[CellView]:
    """Print words that neighbours share once, over all of their columns."""
    merged = list(cells)
    at = 0
    while at < len(cells):
        end = at + 1
        while end < len(cells) and _is_words(cells[at].text) and cells[end].text == cells[at].text:
            merged[end] = CellView(span=0)
            end += 1
        if end > at + 1:
            first = cells[at]
            merged[at] = CellView(first.text, span=end - at, verdict=first.verdict)
        at = end
    return merged


def _is_words(text: str) -> bool:
    return bool(text) and not any(character.isdigit() for character in text.split()[0])


def _is_count(item: ComparedCell, vocabulary: Vocabulary) -> bool:
    """Return whether a cell shows a number of things, none of which is a part of one."""
    value = item.result.cell.value
    return value is not None and value.unit is None and not vocabulary.measurement(value).decimals


def _column_digits(column: str, cells: Iterable[ComparedCell], vocabulary: Vocabulary) -> int:
    """Return the decimals of a column: as many as the paper prints, else the measurement's."""
    items = [item for item in cells if item.result.cell.column == column]
    printed = [item.reported.decimals for item in items if item.reported and item.reported.value]
    values = [item.result.cell.value for item in items]
    usual = [vocabulary.measurement(value).decimals for value in values if value]
    return max(printed or usual, default=0)


def _decimals(own: CellResult, decimals: int) -> int:
    """Return more decimals for a scaled count that would print as 0 or 1; none for a count."""
    value, unit = abs(own.value or 0.0), own.cell.value and own.cell.value.unit
    if unit in _SCALED and 0 < value < 10:
        return max(decimals, _COUNTS - 1 - int(f"{value:e}".partition("e")[2]))
    return 0 if unit is None and own.value == int(value) > FEW_SENTENCES else decimals


def _has_text(item: ComparedCell) -> bool:
    return item.result.value is not None or bool(item.result.words)


def _few(column: str, cells: Iterable[ComparedCell]) -> bool:
    """Return whether any score of a column has few test sentences."""
    counts = [item.result.sentences for item in cells if item.result.cell.column == column]
    return any(count is not None and count < FEW_SENTENCES for count in counts)


def sentences_row(columns: Sequence[str], cells: Sequence[ComparedCell]) -> RowView | None:
    """Return the row that counts each column's test sentences."""
    views = []
    for column in columns:
        counts = {
            item.result.sentences
            for item in cells
            if item.result.cell.column == column and item.result.sentences is not None
        }
        bounds = sorted({min(counts), max(counts)}) if counts else []
        views.append(CellView("–".join(str(count) for count in bounds)))
    has_any = any(cell.text for cell in views)
    return RowView("test sentences", "count", tuple(views)) if has_any else None
