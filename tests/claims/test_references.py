"""Which cells a claim shows."""

import math

import pytest

from fathom.artefacts.claims.expressions import Comparison, Reference, parse
from fathom.artefacts.claims.quantities import Slice, Sum
from fathom.artefacts.claims.references import places, quantity, worst
from tests.support.small_tables import KNOWN, TABLES, table


def reference(text):
    """Return the table and its keys."""
    tree = parse(f"{text} > 0", "here")
    assert isinstance(tree, Comparison)
    (shown, _) = tree.operands
    assert isinstance(shown, Reference)
    return shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('table1["6/6", "avg"]', [("6/6", "avg")]),
        ('table1["6/6", ["bos", "fra"]]', [("6/6", "bos"), ("6/6", "fra")]),
        ('table1["6/6", tasks]', [("6/6", "bos"), ("6/6", "fra")]),
        ('table1["6/6", :]', [("6/6", one) for one in ("params", "avg", "bos", "fra")]),
        # A row alone is its results, and never its size or a column of ours.
        ('table1["LL-D, 6/12"]', [("LL-D, 6/12", one) for one in ("avg", "bos", "fra")]),
        ('table1["Control"]', [("Control", one) for one in ("avg", "bos", "fra")]),
        # All rows are those that the paper prints.
        ('table1[:, "avg"]', [(row, "avg") for row in ("6/6", "24/24", "LL-D, 6/12")]),
        # Rows without the column are not of it: N/A, or a value that the run does not have.
        ('table1[:, "depth_decoder"]', [("LL-D, 6/12", "depth_decoder")]),
        ('table1["LL-D, 6/12", "depth_decoder"]', [("LL-D, 6/12", "depth_decoder")]),
    ],
)
def test_keys_choose_cells(tmp_path, text, expected):
    assert places(reference(text), KNOWN.cells(table(tmp_path))) == expected


def test_one_cell_is_a_number_and_several_are_a_slice():
    numbers = [Sum(constant=1.0)]
    assert isinstance(quantity(reference('t["a", "b"]'), numbers), Sum)
    for text in ('t["a"]', 't["a", ["b"]]', 't[:, "b"]'):
        assert isinstance(quantity(reference(text), numbers), Slice)


def test_cells_that_a_scale_does_not_have_are_one_that_is_missing():
    (none,) = quantity(reference('t[:, "b"]'), [])
    assert none.missing


def test_the_worst_value_follows_from_what_is_better(tmp_path):
    drawn = table(
        tmp_path, text=TABLES.replace("[params, avg, tasks]", "[nll_valid, params, avg, tasks]")
    )
    cells = {cell.column: cell for cell in KNOWN.cells(drawn) if cell.id == "LL-D, 6/12"}
    ends = {
        name: worst(cells[name], drawn.vocabulary) for name in ("avg", "nll_valid", "depth_decoder")
    }
    assert (ends["avg"], ends["nll_valid"]) == (-math.inf, math.inf)
    assert math.isnan(ends["depth_decoder"])
