"""How a table reads: cells as text, rows, footnotes; the same for every format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fathom.papers.columns import Column
from fathom.papers.paper import Artefact
from fathom.tables.grid import NOT_RUN, Cell
from fathom.tables.verdicts import JUDGED_SCALE

# The unit that is printed, in the manifest's unit.
UNITS = {"": 1.0, "millions": 1e6, "percent": 0.01}
FEW_SENTENCES = 100
FEW = "†"
EMPTY = "–"


@dataclass(frozen=True)
class Shown:
    """A cell as text; `span` is how many columns it covers, 0 where one to the left covers it."""

    text: str
    spread: str = ""
    span: int = 1

    @property
    def whole(self) -> str:
        """The text with its spread."""
        return f"{self.text} {self.spread}" if self.spread else self.text


@dataclass(frozen=True)
class Grid:
    """One grid of a sheet.

    Attributes:
        heading: printed above it; empty for the first.
        header: the columns' titles.
        body: the rows.
        texts: positions of the columns that hold text; numbers stand to the right.
        note: printed beneath it.
        footer: a last row, set apart, or nothing.
    """

    heading: str
    header: tuple[str, ...]
    body: tuple[tuple[Shown, ...], ...]
    texts: frozenset[int] = frozenset({0})
    note: str = ""
    footer: tuple[Shown, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A table as it is read: title, caption, grids, and the notes beneath them."""

    title: str
    caption: str
    grids: tuple[Grid, ...]
    notes: Sequence[str]


def sheet(artefact: Artefact, cells: Mapping[str, Mapping[str, Cell]], scale: str) -> Sheet:
    """Lay a table out.

    Args:
        artefact: the table.
        cells: its cells by row and column.
        scale: the scale of the cells' runs.
    """
    main = [column for column in artefact.columns if not column.group]
    grids = [_grid("", main, cells, "", _sentences(main, cells))]
    for name, note in artefact.groups.items():
        columns = [column for column in artefact.columns if column.group == name]
        rows = {row: each for row, each in cells.items() if _any(each, columns)}
        columns = [column for column in columns if _any_row(rows, column)]
        if rows:
            grids.append(_grid(name, columns, rows, note, ()))
    notes = list(_notes(artefact, cells, scale))
    caption = f"{artefact.caption} ({artefact.section} of the paper)"
    return Sheet(artefact.title, caption, tuple(grids), notes)


def shown(cell: Cell, column: Column) -> Shown:
    """Return a cell as text: number, mark and spread, or the words in its place."""
    if cell.value is None:
        return Shown(cell.words)
    unit = UNITS[column.unit]
    text = f"{cell.value / unit:.{column.decimals}f}"
    if column.unit == "percent":
        text += " %"
    if cell.sentences is not None and cell.sentences < FEW_SENTENCES:
        text += FEW
    spread = cell.stderr if cell.deviation is not None else cell.half_width
    if spread is None:
        return Shown(text)
    return Shown(text, f"±{spread / unit:.{column.decimals}f}")


def _grid(
    heading: str,
    columns: Sequence[Column],
    cells: Mapping[str, Mapping[str, Cell]],
    note: str,
    footer: tuple[Shown, ...],
) -> Grid:
    header = ("Model", *(column.title for column in columns))
    several = not heading and any(cell.seeds > 1 for row in cells.values() for cell in row.values())
    body = []
    for name, row in cells.items():
        line = [Shown(name), *_line(row, columns)]
        if several:
            line.append(Shown(str(max(cell.seeds for cell in row.values()))))
        body.append(tuple(line))
    if several:
        header = (*header, "Seeds")
        footer = (*footer, Shown("")) if footer else ()
    return Grid(heading, header, tuple(body), note=note, footer=footer)


def _line(row: Mapping[str, Cell], columns: Sequence[Column]) -> list[Shown]:
    """Return a row's cells; an outcome that all of its scores share is printed once."""
    line = [shown(row[column.name], column) for column in columns]
    scored = [at for at, column in enumerate(columns) if column.expression.reads_scores]
    words = {row[columns[at].name].words for at in scored}
    adjacent = scored == list(range(scored[0], scored[-1] + 1)) if scored else False
    if len(scored) > 1 and adjacent and len(words) == 1 and words != {""}:
        line[scored[0]] = Shown(words.pop(), span=len(scored))
        for at in scored[1:]:
            line[at] = Shown(EMPTY, span=0)
    return line


def _sentences(
    columns: Sequence[Column], cells: Mapping[str, Mapping[str, Cell]]
) -> tuple[Shown, ...]:
    """Return the row that counts each task's test sentences; nothing where no cell has any."""
    line = [Shown("test sentences")]
    for column in columns:
        counts = {row[column.name].sentences for row in cells.values()} - {None}
        own = column.expression.reads_scores and not column.expression.mean
        line.append(Shown(" to ".join(str(each) for each in _ends(counts)) if own else ""))
    return tuple(line) if any(each.text for each in line[1:]) else ()


def _ends(counts: set[int]) -> list[int]:
    return sorted({min(counts), max(counts)}) if counts else []


def _any(row: Mapping[str, Cell], columns: Sequence[Column]) -> bool:
    return any(row[column.name].value is not None or row[column.name].words for column in columns)


def _any_row(rows: Mapping[str, Mapping[str, Cell]], column: Column) -> bool:
    return any(_any(row, [column]) for row in rows.values())


def _notes(
    artefact: Artefact, cells: Mapping[str, Mapping[str, Cell]], scale: str
) -> Iterator[str]:
    """Yield the footnotes: scale, metric, intervals, marks, and what cells have to say."""
    main = [column for column in artefact.columns if not column.group]
    every = [row[column.name] for row in cells.values() for column in main]
    if scale == JUDGED_SCALE:
        yield f"Scale: {scale}."
    else:
        yield f"Scale: {scale}. Its numbers cannot be compared with the paper's."
    yield from _metric_notes(artefact, every)
    if any(column.expression.mean and column.expression.reads_scores for column in main):
        yield "A mean is that of the unrounded cells of its row."
    if any(cell.half_width is not None and cell.deviation is None for cell in every):
        yield (
            "±: half of the 95 % bootstrap interval over test sentences (one seed); that of a mean "
            "takes the test sets as independent."
        )
    if any(cell.deviation is not None for cell in every):
        yield "±: standard error over the seeds, where a row has several."
    if any(cell.sentences is not None and cell.sentences < FEW_SENTENCES for cell in every):
        yield f"{FEW}: fewer than {FEW_SENTENCES} test sentences, so no more than a hint."
    if any(cell.words == NOT_RUN for cell in every):
        yield f"{NOT_RUN}: there is no manifest of the run at this scale."
    for row, columns in cells.items():
        for note in dict.fromkeys(cell.note for cell in columns.values() if cell.note):
            yield f"{row}: {note}."


def _metric_notes(artefact: Artefact, every: Sequence[Cell]) -> Iterator[str]:
    """Yield which metric the scores are, of which gates, with its signatures."""
    metrics = list(dict.fromkeys(cell.metric for cell in every if cell.metric))
    signatures = list(dict.fromkeys(name for cell in every for name in cell.signatures))
    for metric in metrics:
        known = artefact.metric is not None and metric == artefact.metric.name
        doubt = "" if known and artefact.metric.known else " (not known to be the paper's)"
        yield f"Metric: {metric}{doubt}."
    if signatures:
        yield "Signature: " + "; ".join(signatures)
    if any(cell.gates == "soft" for cell in every):
        yield "Rows with gates are scored with noise-free soft gates."
