"""A small paper's tables, compared and laid out for a page."""

from types import SimpleNamespace

import pytest

from fathom.artefacts.page.tables import page_table
from fathom.artefacts.table.comparison import compare_table
from tests.support.small_tables import KNOWN, reported, table, typical

PRINTED = (
    reported("6/6", "avg", "29.5"),
    reported("6/6", "bos", "22", stderr="0.1"),
    reported("6/6", "fra", "38.0", mark="bold"),
    reported("6/6", "params", "224", right="66.3"),
    reported("24/24", "avg", note="diverged"),
    reported("24/24", "params", "90"),
    reported("LL-D, 6/12", "bos", note="diverged"),
)


@pytest.fixture
def compare(tmp_path):
    """A function that compares the small table, with the paper's settings or without."""

    def compared(comparable=True):
        drawn = table(tmp_path)
        sources = typical(tmp_path / "results", comparable).sources
        return compare_table(drawn, KNOWN.cells(drawn), PRINTED, sources, "paper")

    return compared


@pytest.fixture
def lay_out(compare):
    """A function that lays the same table out for the page."""

    def laid_out(comparable=True):
        nats = {"p/small": 1.5, "p/deep": None, "p/gated": -0.1, "p/control": None}
        runs = {
            name: SimpleNamespace(below_unigram=value, words="diverged")
            for name, value in nats.items()
        }
        return page_table(compare(comparable), runs)

    return laid_out


@pytest.fixture
def cell_at(lay_out):
    """A function that returns a cell by its row and column."""

    def at(row, column, comparable=True):
        cells = lay_out(comparable).cells
        return next(cell for cell in cells if cell.row == row and cell.column.startswith(column))

    return at
