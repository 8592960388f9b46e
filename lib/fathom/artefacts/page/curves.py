"""Learning curves on the page: those of each table's rows, each run once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.curves import Picture, curve, pictures
from fathom.artefacts.page.runs import Run
from fathom.artefacts.page.tables import PageTable
from fathom.config.tables import Cell


@dataclass(frozen=True)
class TableCurves:
    """The curves of a table's rows, those left out that an earlier table has.

    Attributes:
        table: the table.
        pictures: one for each run that was started.
        elsewhere: the names of runs that an earlier table shows.
    """

    table: PageTable
    pictures: tuple[Picture, ...]
    elsewhere: tuple[str, ...]


def run_labels(cells: Iterable[Cell]) -> dict[str, str]:
    """Return what each run of a table is called: its row, and its column where that decides."""
    own = [cell for cell in cells if cell.kind == "run"]
    runs_of_row: dict[tuple[str, str], set[str]] = {}
    for cell in own:
        runs_of_row.setdefault((cell.block, cell.row), set()).add(cell.source)
    names: dict[str, str] = {}
    for cell in own:
        several = len(runs_of_row[cell.block, cell.row]) > 1
        name = f"{cell.row}, {cell.column}" if several else cell.row
        names.setdefault(cell.source, f"{cell.block}: {name}" if cell.block else name)
    return names


def table_curves(
    artefacts: Artefacts, tables: Iterable[PageTable], runs: Mapping[str, Run]
) -> list[TableCurves]:
    """Return the curves of all tables whose cells show runs.

    Args:
        artefacts: where all files are.
        tables: the tables of the page.
        runs: the paper's runs by full name.

    Raises:
        FathomError: a file of a training is damaged.
    """
    drawn: set[str] = set()
    shown = []
    for table in tables:
        names = run_labels(cell.item.result.cell for cell in table.cells)
        new = [name for name in names if name not in drawn]
        curves = [curve(names[name], runs[name].source, artefacts.updates(name)) for name in new]
        elsewhere = tuple(label for name, label in names.items() if name in drawn)
        drawn.update(new)
        if names:
            shown.append(TableCurves(table, tuple(pictures(curves)), elsewhere))
    return shown
