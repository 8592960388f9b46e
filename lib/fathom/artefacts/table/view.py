"""How a table reads: numbers as text, rows, headings and notes; the same for every format."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest

from fathom.artefacts.table.comparison import AGAINST, ComparedCell, ComparedTable
from fathom.artefacts.table.notes import ADDED, DOUBTFUL, FEW, FEW_SENTENCES, TURNED, notes_of
from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.sources import WITHOUT_RESULT, other_text
from fathom.artefacts.table.verdicts import Sign, sign_of, signed
from fathom.config.reported import Reported
from fathom.config.schema.columns import Vocabulary

OURS = "Not in the paper"
_SCALED = ("millions", "thousands")
_COUNTS = 2  # significant digits that a scaled count keeps
_BOLD = "bold"


@dataclass(frozen=True)
class CellView:
    """A cell as text."""

    text: str = ""  # the number or the words in its place
    spread: str = ""  # `±0.12`, or nothing
    span: int = 1  # columns that it covers; 0 where a cell to the left covers it
    bold: bool = False  # whether the paper prints it in bold, or ours passes that test
    verdict: str = ""  # the verdict's style, or nothing

    @property
    def full(self) -> str:
        """The text with its spread."""
        return f"{self.text} {self.spread}" if self.spread else self.text


@dataclass(frozen=True)
class RowView:
    """A line; `kind` is "result", "paper" (reported numbers) or "count"."""

    label: str
    kind: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True)
class ShownCell:
    """A cell with both sides as text."""

    id: str  # unique among the tables of a paper
    row: str  # what its row and column are called
    here: str  # what its run is here, where its row's name has the paper's depths; or nothing
    column: str
    item: ComparedCell
    ours: CellView
    reported: CellView  # empty for a cell that the paper does not have

    @property
    def name(self) -> str:
        """What the row is called, with what its run is here."""
        return f"{self.row} (here {self.here})" if self.here else self.row

    @property
    def sign(self) -> Sign | None:
        """The verdict; None where there is nothing to compare."""
        return sign_of(self.item.verdict) if self.item.verdict else None

    @property
    def difference(self) -> str:
        """Ours less the reported number, with a sign; empty where nothing is judged."""
        delta = self.item.verdict.delta if self.item.verdict else None
        decimals = self.item.reported.decimals if self.item.reported else 0
        return "" if delta is None else signed(delta, decimals)


@dataclass(frozen=True)
class BlockView:
    """A part of a table with its own heading and columns."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[RowView, ...]  # as lines
    cells: tuple[tuple[ShownCell, ...], ...] = ()  # the same numbers row by row, as the page has
    sentences: tuple[str, ...] = ()  # test sentences by column; empty where nothing counts them
    added: bool = False  # whether its columns are not in the paper
    # The texts of `AGAINST` row by row; empty in a table that compares no rows.
    against: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class TableView:
    """A table as text."""

    name: str  # `<paper>_<table>`, to refer to it
    title: str  # `Table <number> · <title>`
    caption: str  # where it is in the paper, and at which scale it was reproduced
    blocks: tuple[BlockView, ...]
    notes: tuple[str, ...]  # what a reader must know, one sentence or more each


def label(name: str, title: str) -> str:
    """Return what a table or figure is called: `Table <number> · <title>` for `table<number>`."""
    match = re.fullmatch(r"([a-z]+)(\d+\w*)", name)
    return f"{match[1].capitalize()} {match[2]} · {title}" if match else f"{name} · {title}"


def place(section: str) -> str:
    """Return where an artefact is in its paper."""
    return section if section.startswith(("§", "App.", "Table ")) else f"“{section}”"


def caption(section: str, reference: str, scale: str) -> str:
    """Return where an artefact is in its paper, and at which scale it was reproduced."""
    of = f"{place(section)} of " if section else ""
    return f"{of}{reference.rstrip('.')}. Scale: {scale}."


def view(compared: ComparedTable, reference: str) -> TableView:
    """Return a table as text; the reference is authors, title and year of the paper."""
    table = compared.table
    return TableView(
        name=f"{table.paper}_{table.name}",
        title=label(table.name, table.settings.title),
        caption=caption(table.settings.section, reference, compared.scale)
        + other_text(compared.sources.values()),
        blocks=tuple(blocks(compared)),
        notes=tuple(notes_of(compared)),
    )


def blocks(compared: ComparedTable) -> Iterator[BlockView]:
    """Yield each part of a table: as the paper has it, then the columns that it does not have.

    Rows that we add are in the first part.
    """
    parts = []
    for heading, group in groupby(compared.cells, lambda item: item.result.cell.block):
        items = list(group)
        printed = {item.result.cell.column for item in items if not item.result.cell.ours}
        parts.append((heading, [x for x in items if x.result.cell.column in printed], False))
        # Of our columns, the rows that have anything.
        further = [item for item in items if item.result.cell.column not in printed]
        rows = {item.result.cell.row for item in further if item.result.shown}
        title = f"{heading}: {OURS.lower()}" if heading else OURS
        parts.append((title, [x for x in further if x.result.cell.row in rows], True))
    for number, (heading, items, added) in enumerate(part for part in parts if part[1]):
        yield _block(number, heading, items, compared, added)


def our_text(result: CellResult, decimals: int) -> CellView:
    """Return our value with its spread, or the words in its place."""
    if result.value is None:
        return CellView(result.words)
    decimals = _decimals(result, decimals)
    # No seed changes the size of a network, and a spread that rounds to 0 says nothing.
    known = result.stderr is None or result.cell.key in WITHOUT_RESULT
    spread = "" if known else f"±{result.stderr:.{decimals}f}"
    spread = spread if spread.strip("±0.") else ""
    mark = DOUBTFUL if result.doubtful else ""
    # The mean of some seeds alone must not read as that of all.
    lost = result.lost and result.seeds < result.of
    some = f" ({result.seeds} of {result.of} seeds)" if lost else ""
    return CellView(f"{result.value:z.{decimals}f}{mark}{some}", spread)


def _reported_text(reported: Reported | None) -> CellView:
    """Return the paper's cell as printed, with its spread and mark."""
    if reported is None:
        return CellView()
    if not reported.value:
        return CellView(reported.sign)
    delta = f" ({reported.note})" if reported.note else ""
    misprint = f" [{reported.right}]" if reported.right else ""
    spread = f"±{reported.stderr}" if reported.stderr else ""
    return CellView(reported.value + delta + misprint, spread, bold=reported.mark == _BOLD)


def _block(
    number: int,
    heading: str,
    items: Sequence[ComparedCell],
    compared: ComparedTable,
    added: bool,
) -> BlockView:
    """Return a part of a table; `added` says that its columns are not the paper's."""
    vocabulary = compared.table.vocabulary
    by_column = _grouped(items, "column")
    titles, digits, sentences = {}, {}, []
    for column, cells in by_column.items():
        counts = [each.result.sentences for each in cells if each.result.sentences is not None]
        few = FEW if any(count < FEW_SENTENCES for count in counts) else ""
        titles[column] = _with_unit(compared.called(column), cells) + few
        digits[column] = _column_digits(cells, vocabulary)
        bounds = sorted({min(counts), max(counts)}) if counts else []
        sentences.append("–".join(map(str, bounds)))
    # A row has the unit of its numbers where those of a column differ.
    unit_by_row = any(len(_units(cells)) > 1 for cells in by_column.values())
    rows = []
    for at, (row, cells) in enumerate(_grouped(items, "row").items()):
        name = _with_unit(compared.called(row), cells if unit_by_row else ())
        here = _here(name, cells, compared)
        # In a part that is not the paper's every row would be marked.
        if not added and all(item.result.cell.ours for item in cells):
            name = f"{name} {ADDED}"
        in_column = {item.result.cell.column: item for item in cells}
        shown = (
            ShownCell(
                id=f"{compared.table.name}-{number}-{at}-{place}",
                row=name,
                here=here,
                column=title,
                item=in_column[column],
                ours=_ours(in_column[column], digits[column], vocabulary),
                reported=_reported_text(in_column[column].reported),
            )
            for place, (column, title) in enumerate(titles.items())
        )
        rows.append(tuple(shown))
    several = any(item.result.seeds > 1 for item in items)
    counted = tuple(sentences) if any(sentences) else ()
    judged = compared_column(compared)
    texts = [against_texts(row, judged, digits) for row in rows if judged in by_column]
    lines = [
        line
        for row, against in zip_longest(rows, texts, fillvalue=())
        for line in _lines(row, several, against)
    ]
    further = AGAINST if texts else ()
    if counted:
        blank = [""] * (several + len(further))
        lines.append(_line("test sentences", "count", map(CellView, (*counted, *blank))))
    columns = (*titles.values(), *(["Seeds"] if several else []), *further)
    return BlockView(heading, columns, tuple(lines), tuple(rows), counted, added, tuple(texts))


def _here(words: str, cells: Sequence[ComparedCell], compared: ComparedTable) -> str:
    """Return the depths of a row's run, where they are other ones than the row's name says."""
    runs = [each.result.cell for each in cells if each.result.cell.source in compared.sources]
    if not runs or (source := compared.sources[runs[0].source]).comparable:
        return ""
    of_paper, ours = source.paper_layers, source.layers
    decoder, ours_decoder = (f"L = {each.rpartition('/')[2]}" for each in (of_paper, ours))
    depths = {of_paper: ours, decoder: ours_decoder} if of_paper else {}
    named = (of for of in depths if re.search(rf"(?<![\w/]){of}(?![\w/])", words))
    here = [depths[of] for of in named]
    for other in compared.cells if "E[L] =" in words else ():
        if other.result.cell.id == runs[0].id and other.result.cell.key == "depth.decoder":
            here += [] if other.result.value is None else [f"E[L] = {other.result.value:.2f}"]
    return ", ".join(depth for depth in here if depth not in words)


def compared_column(compared: ComparedTable) -> str | None:
    """Return the column whose differences are printed: the first with scores of sentences."""
    cells = [item.result.cell for item in compared.cells if item.result.cell.value]
    scores = (cell.column for cell in cells if cell.value and cell.value.counts_sentences)
    return next(scores, None) if compared.table.settings.against is not None else None


def against_texts(
    row: Sequence[ShownCell], column: str | None, digits: Mapping[str, int]
) -> tuple[str, ...]:
    """Return a row's difference in a column, its interval and p as texts; empty for its base."""
    items = [cell.item for cell in row if cell.item.result.cell.column == column]
    against, decimals = items[0].against, digits[column or ""]
    if against is None:
        return ("",) * len(AGAINST)
    points = (against.difference, against.low, against.high)
    return (
        *("" if value is None else signed(value, decimals) for value in points),
        *("" if p is None else _p(p) for p in (against.p, against.p_holm)),
    )


def _p(p: float) -> str:
    """Return a p with three decimals; no p is 0."""
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def _lines(row: Sequence[ShownCell], several: bool, against: Sequence[str]) -> Iterator[RowView]:
    """Yield the lines of a row: ours, and the paper's numbers.

    Where some row has `several` seeds, their number is a cell; `against` are the last cells.
    """
    items = [cell.item for cell in row]
    seeds = [str(max(item.result.seeds for item in items))] if several else []
    last = [*map(CellView, (*seeds, *against))]
    blank = [CellView()] * len(last)
    yield _line(row[0].name, "result", (*(cell.ours for cell in row), *last))
    if any(item.reported for item in items):
        yield _line("paper", "paper", (*(cell.reported for cell in row), *blank))


def _line(label: str, kind: str, cells: Iterable[CellView]) -> RowView:
    return RowView(label, kind, _merged([*cells]))


def _grouped(items: Iterable[ComparedCell], axis: str) -> dict[str, list[ComparedCell]]:
    """Return cells by their row or column."""
    groups: dict[str, list[ComparedCell]] = {}
    for item in items:
        groups.setdefault(getattr(item.result.cell, axis), []).append(item)
    return groups


def _with_unit(name: str, items: Sequence[ComparedCell]) -> str:
    """Return a heading with the unit that all of its numbers share, if it does not say it."""
    units = _units(items)
    (unit,) = units if len(units) == 1 else ("",)
    return f"{name} ({unit})" if unit and not name.endswith(")") else name


def _units(items: Iterable[ComparedCell]) -> set[str]:
    """Return the units of some cells; an empty unit is that of the measurement."""
    values = [item.result.cell.value for item in items]
    return {value.unit if value.unit in _SCALED else "" for value in values if value}


def _ours(item: ComparedCell, decimals: int, vocabulary: Vocabulary) -> CellView:
    """Return our cell with its difference to another cell, and its verdict's style."""
    value = item.result.cell.value
    # A number of things has no decimals, next to one in thousands either.
    if value is not None and value.unit is None and not vocabulary.measurement(value).decimals:
        decimals = 0
    cell = our_text(item.result, decimals)
    delta = f" ({signed(item.delta, decimals)})" if item.delta is not None else ""
    if item.result.cell.less and item.against:
        # Not ±, which is small where two seeds are: the interval.
        points = (item.against.difference, item.against.low, item.against.high)
        number, *ends = (signed(x, decimals) for x in points if x is not None)
        cell = replace(cell, text=number, spread=f"[{', '.join(ends)}]" if ends else "")
    delta += f" {TURNED}" if item.turned else ""
    style = item.verdict.style if item.verdict else ""
    return replace(cell, text=cell.text + delta, bold=item.mark == _BOLD, verdict=style)


def _column_digits(items: Sequence[ComparedCell], vocabulary: Vocabulary) -> int:
    """Return the decimals of a column: as many as the paper prints, else the measurement's."""
    printed = [item.reported.decimals for item in items if item.reported and item.reported.value]
    values = [item.result.cell.value for item in items]
    usual = [vocabulary.measurement(value).decimals for value in values if value]
    return max(printed or usual, default=0)


def _decimals(result: CellResult, decimals: int) -> int:
    """Return more decimals for a scaled count below 10, none for a count; a setting has its own."""
    value, unit = abs(result.value or 0.0), result.cell.value and result.cell.value.unit
    if result.cell.key.startswith("setting."):
        return len(f"{value:.9f}".rstrip("0").partition(".")[2])
    if unit in _SCALED and 0 < value < 10:
        return max(decimals, _COUNTS - 1 - int(f"{value:e}".partition("e")[2]))
    return 0 if unit is None and result.value == int(value) > FEW_SENTENCES else decimals


def _merged(cells: Sequence[CellView]) -> tuple[CellView, ...]:
    """Print words that neighbours share once, over all of their columns."""
    merged: list[CellView] = []
    for words, group in groupby(cells, lambda cell: cell.text if _is_words(cell.text) else ""):
        alike = list(group)
        if words and len(alike) > 1:
            merged.append(CellView(words, span=len(alike), verdict=alike[0].verdict))
            merged += [CellView(span=0)] * (len(alike) - 1)
        else:
            merged += alike
    return tuple(merged)


def _is_words(text: str) -> bool:
    return bool(text) and not any(map(str.isdigit, text.split()[0]))
