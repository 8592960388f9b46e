"""Tables on the page: in the paper's own shape, ours large and the reported number small."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fathom.artefacts.page.runs import Run
from fathom.artefacts.page.verdicts import Sign, sign_of
from fathom.artefacts.table.comparison import ComparedCell, ComparedTable
from fathom.artefacts.table.notes import notes_on_cells
from fathom.artefacts.table.verdicts import signed
from fathom.artefacts.table.view import (
    CellView,
    column_labels,
    label,
    parts,
    place,
    reported_text,
    row_labels,
    rows_of,
    sentences_row,
)
from fathom.config.reported import Reported

NOTHING = "–"  # where neither we nor the paper have anything


@dataclass(frozen=True)
class PageCell:
    """A cell with what it shows.

    Attributes:
        fragment: the id of its details.
        row, column: what its row and column are called.
        item: the cell and the comparison.
        ours: our number or words.
        reported: the paper's cell; empty for one that the paper does not have.
        difference: ours less the reported number, with a sign; empty where nothing is judged.
        sign: the verdict; None where there is nothing to compare.
    """

    fragment: str
    row: str
    column: str
    item: ComparedCell
    ours: CellView
    reported: CellView
    difference: str
    sign: Sign | None

    @property
    def has_number(self) -> bool:
        """Whether we have a number here."""
        return self.item.result.value is not None

    @property
    def spoken(self) -> str:
        """The cell in one sentence, for readers who cannot see where it is."""
        words = [f"{self.row}, {self.column}: ours {self.ours.full or NOTHING}"]
        words += [f"reported {self.reported.full}"] if self.reported.text else []
        words += [self.sign.words] if self.sign else []
        return ", ".join(words)


@dataclass(frozen=True)
class PageRow:
    """A row with its cells; `learned` has nats below the unigram baseline, from low to high."""

    label: str
    cells: tuple[PageCell, ...]
    learned: tuple[float, ...]
    words: str


@dataclass(frozen=True)
class PagePart:
    """A part of a table; `added` says whether its columns are not in the paper."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[PageRow, ...]
    sentences: tuple[str, ...]
    added: bool


@dataclass(frozen=True)
class PageTable:
    """A table of the page.

    Attributes:
        name: its key in tables.yaml, and the id of its section.
        number, title: `Table 5` and the heading.
        where: where it is in the paper.
        caption: what a reader must know to read it; may be empty.
        judged: whether any cell is compared with the paper's.
        has_runs: whether its cells show runs.
        parts: its parts.
        notes: what a reader must know of the numbers.
        most: the most nats that a run of it is below the unigram baseline.
    """

    name: str
    number: str
    title: str
    where: str
    caption: str
    judged: bool
    has_runs: bool
    parts: tuple[PagePart, ...]
    notes: tuple[str, ...]

    @property
    def cells(self) -> tuple[PageCell, ...]:
        """All of its cells."""
        return tuple(cell for part in self.parts for row in part.rows for cell in row.cells)

    @property
    def most(self) -> float:
        """The most nats that a run of it is below the unigram baseline."""
        rows = (row for part in self.parts for row in part.rows)
        return max((value for row in rows for value in row.learned), default=0.0)


def page_table(compared: ComparedTable, runs: Mapping[str, Run]) -> PageTable:
    """Return a table for the page.

    Args:
        compared: the table with all of its cells.
        runs: the paper's runs by full name.
    """
    table = compared.table
    number, _, title = label(table.name, table.title).partition(" · ")
    signs = [sign_of(item.verdict) for item in compared.cells if item.verdict]
    return PageTable(
        name=table.name,
        number=number,
        title=title,
        where=place(table.section),
        caption=table.caption,
        judged=any(sign.judged for sign in signs),
        has_runs=any(item.result.cell.kind == "run" for item in compared.cells),
        parts=tuple(_parts(compared, runs)),
        notes=tuple(notes_on_cells(compared)),
    )


def _parts(compared: ComparedTable, runs: Mapping[str, Run]) -> Iterator[PagePart]:
    for at, (heading, cells, added) in enumerate(parts(compared.cells)):
        columns, labels = column_labels(cells, compared), row_labels(cells, compared)
        counts = sentences_row(list(columns), cells)
        rows = []
        for number, (row, items) in enumerate(rows_of(cells, compared.table.vocabulary).items()):
            start = f"{compared.table.name}-{at}-{number}"
            shown = tuple(
                _cell(f"{start}-{place}", labels[row], name, *items[column])
                for place, (column, name) in enumerate(columns.items())
            )
            in_row = [item for item, _ in items.values()]
            rows.append(PageRow(labels[row], shown, *_learned(in_row, runs)))
        texts = tuple(cell.text for cell in counts.cells) if counts else ()
        yield PagePart(heading, tuple(columns.values()), tuple(rows), texts, added)


def _cell(fragment: str, row: str, column: str, item: ComparedCell, ours: CellView) -> PageCell:
    sign = sign_of(item.verdict) if item.verdict else None
    delta = item.verdict.delta if item.verdict else None
    decimals = item.reported.decimals if item.reported else 0
    return PageCell(
        fragment=fragment,
        row=row,
        column=column,
        item=item,
        ours=ours,
        reported=_printed(item.reported),
        difference="" if delta is None else minus(signed(delta, decimals)),
        sign=sign,
    )


def _printed(reported: Reported | None) -> CellView:
    cell = reported_text(reported)
    return CellView(minus(cell.text), cell.spread, bold=cell.bold)


def minus(text: str) -> str:
    """Return a number with a sign as wide as a plus."""
    return f"\u2212{text[1:]}" if text.startswith("-") and text[1:2].isdigit() else text


def _learned(
    items: Sequence[ComparedCell], runs: Mapping[str, Run]
) -> tuple[tuple[float, ...], str]:
    """Return the least and the most nats of a row's runs, and words where there are none."""
    names = dict.fromkeys(item.result.cell.source for item in items)
    own = [runs[name] for name in names if name in runs]
    nats = sorted(run.below_unigram for run in own if run.below_unigram is not None)
    words = ", ".join(dict.fromkeys(run.words for run in own)) if own and not nats else ""
    # Two numbers that read the same are one.
    bounds = {f"{value:.2f}": value for value in (nats[0], nats[-1])} if nats else {}
    return tuple(bounds.values()), words
