"""The page of the comparison, and its lines for a terminal."""

import re
from types import SimpleNamespace

from fathom.artefacts.comparison import averages, page
from fathom.artefacts.table.comparison import compare_table
from tests.support.small_tables import KNOWN, reported, table, typical

PRINTED = (reported("6/6", "avg", "29.5"), reported("24/24", "avg", note="diverged"))


def tables(folder, comparable=True):
    """Return the comparison of one table."""
    drawn = table(folder)
    sources = typical(folder / "results", comparable).sources
    return [compare_table(drawn, KNOWN.cells(drawn), PRINTED, sources, "paper")]


def test_the_page_shows_each_table_with_verdicts_and_their_counts(tmp_path):
    papers = {"p": SimpleNamespace(reference="A. Author: A paper. 2020")}
    text = page(papers, {"p": tables(tmp_path)})
    assert "Table 1 · Scores &amp; sizes" in text
    assert "2 reported cells: 1 reproduced, 1 no result as reported." in text
    assert '<tr class="verdict">' in text
    assert re.search(r'<td class="reproduced">0\.00 reproduced', text)


def test_a_page_without_comparable_runs_says_so(tmp_path):
    papers = {"p": SimpleNamespace(reference="A")}
    text = page(papers, {"p": tables(tmp_path, comparable=False)})
    assert "own settings, so no cell is compared" in text
    assert '<tr class="verdict">' not in text


def test_averages_are_one_line_each(tmp_path):
    assert list(averages(tables(tmp_path))) == [
        "p table1  6/6: 29.50 ±0.50, paper 29.5, reproduced"
    ]
