"""The paper's own cells: the printed ± decides, or the digits; misprints count as corrected."""

import math

import pytest

from fathom.artefacts.claims.expressions import parse
from fathom.artefacts.claims.judge import Judge
from fathom.artefacts.claims.printed import DIGITS, NOT_PRINTED, PRINTED, Printed, PrintedTable
from tests.support.small_tables import KNOWN, reported, table

CELLS = (
    reported("6/6", "avg", "27.1", stderr="0.10"),
    reported("6/6", "bos", "20.0"),
    reported("6/6", "fra", "34.2"),
    reported("24/24", "avg", note="diverged"),
    reported("24/24", "bos", note="diverged"),
    reported("24/24", "fra", note="diverged"),
    reported("LL-D, 6/12", "avg", "27.6", stderr="0.20"),
    reported("LL-D, 6/12", "bos", "20.5", mark="bold"),
    reported("LL-D, 6/12", "fra", "24.7", right="34.7"),
)


@pytest.fixture
def truth(tmp_path):
    """A function that returns the answer of the printed cells."""
    drawn = table(tmp_path)
    printed = Printed({"table1": PrintedTable(drawn, KNOWN.cells(drawn), CELLS)})

    def answer(text):
        return Judge(printed, "here").truth(parse(text, "here"))

    return answer


def test_the_printed_standard_errors_decide(truth):
    difference = 'table1["LL-D, 6/12", "avg"] - table1["6/6", "avg"]'
    half = 1.96 * math.hypot(0.1, 0.2)
    (fact,) = truth(f"{difference} > 0").evidence
    assert (fact.difference, fact.basis) == (pytest.approx(0.5), PRINTED)
    assert (fact.low, fact.high) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half))
    assert truth(f"{difference} > 0").answer == "holds"
    assert truth(f"{difference} > 0.1").answer == "inconclusive"
    assert truth(f"{difference} > 1").answer == "fails"


def test_without_a_printed_error_the_digits_decide(truth):
    (fact,) = truth('table1["LL-D, 6/12", "bos"] - table1["6/6", "bos"] >= 0.5').evidence
    assert (fact.answer, fact.low, fact.basis) == ("holds", None, DIGITS)


def test_misprints_count_as_corrected(truth):
    assert truth('table1["LL-D, 6/12", "fra"] > table1["6/6", "fra"]').answer == "holds"


def test_a_printed_outcome_is_the_worst_value_and_no_result(truth):
    assert truth('failed(table1["24/24"]) and trained(table1["6/6"])').answer == "holds"
    assert truth('table1["24/24", "avg"] < table1["6/6", "avg"]').answer == "holds"


def test_a_mark_that_means_significance_is_read(truth):
    assert truth('significant(table1["LL-D, 6/12", "bos"])').answer == "holds"
    assert truth('significant(table1["LL-D, 6/12", "fra"])').answer == "fails"


def test_rows_of_ours_and_figures_are_not_printed(truth):
    for text in ('table1["Control", "avg"] > 1', 'end(figure2["a"]) > 1', 'figure3["a", "b"] > 1'):
        assert truth(text).answer == "absent"
        assert NOT_PRINTED in truth(text).evidence[0].text
