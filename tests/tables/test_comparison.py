"""The comparison: every reported cell, whatever exists of its run."""

import csv

import pytest

from fathom.papers.paper import Paper
from fathom.tables import comparison
from fathom.tables.comparison import Judged, compare, counts, write
from fathom.tables.verdicts import Reported

HEADER = "paper,table,row,column,reported,reproduced,stderr,seeds,delta,verdict,cause,run,scale"


def cell(row, column, value, outcome=""):
    digits = "" if value is None else str(value)
    return Reported(row, column, digits, value, outcome, "")


@pytest.fixture
def judged(paper, typical):
    """The typical rows beside a paper that reports a bit of everything."""
    cells = (
        cell("6/6", "params", 66.0),
        cell("6/6", "avg", 29.5),
        cell("6/6", "bos", 23.0),
        cell("24/24", "bos", None, "diverged"),
        cell("24/24", "fra", 37.0),
        cell("LL-D, 6/12", "fra", None, "failed to train"),
        cell("LL-D, 6/12", "bos", None),
    )
    return Judged("a_paper", paper.artefacts["main"], cells, typical)


def test_every_reported_cell_is_judged_in_the_order_of_the_paper(judged):
    found = [
        (each.cell.row, each.cell.column, each.verdict.words) for each in compare([judged], "paper")
    ]
    assert found == [
        ("6/6", "params", "reproduced"),
        ("6/6", "avg", "reproduced"),
        ("6/6", "bos", "lower"),
        ("24/24", "bos", "no result as reported"),
        ("24/24", "fra", "no result unlike reported"),
        ("LL-D, 6/12", "fra", "trained unlike reported"),
    ]


@pytest.mark.parametrize(
    ("printed", "words"), [(65.65, "reproduced"), (65.6, "higher"), (67.0, "lower")]
)
def test_a_count_of_parameters_is_exact_to_one_percent(paper, typical, printed, words):
    table = Judged("a_paper", paper.artefacts["main"], (cell("6/6", "params", printed),), typical)
    line = compare([table], "paper")[0]
    assert (line.reproduced, line.verdict.words) == (66.3, words)


@pytest.mark.parametrize(
    "metric",
    [
        {"name": "13a", "known": False},
        {"name": "intl", "known": True},
        {"name": "13a", "known": True, "unknown_for": ["bos"]},
    ],
)
def test_a_doubtful_metric_leaves_scores_unjudged_and_sizes_judged(paper_mapping, typical, metric):
    paper_mapping["artefacts"]["main"]["metric"] = metric
    artefact = Paper.from_mapping("a_paper", paper_mapping).artefacts["main"]
    cells = (cell("6/6", "bos", 20.0), cell("6/6", "params", 66.3))
    lines = compare([Judged("a_paper", artefact, cells, typical)], "paper")
    assert [each.verdict.words for each in lines] == ["metric unknown", "reproduced"]


def test_nothing_has_to_exist(paper, rows):
    artefact = paper.artefacts["main"]
    cells = (cell("6/6", "bos", 20.7), cell("24/24", "bos", None, "diverged"))
    lines = compare([Judged("a_paper", artefact, cells, rows(artefact.rows))], "tiny")
    assert counts(lines) == {"not run": 2}


def test_the_file_has_the_agreed_columns_and_all_digits(judged, tmp_path):
    write(compare([judged], "paper"), tmp_path / "compare.csv", tmp_path / "compare.html")
    text = (tmp_path / "compare.csv").read_text(encoding="utf-8")
    assert text.split("\n")[0] == HEADER
    lines = list(csv.DictReader(text.split("\n")[:-1]))
    assert lines[1] == {
        "paper": "a_paper",
        "table": "main",
        "row": "6/6",
        "column": "avg",
        "reported": "29.5",
        "reproduced": "29.5",
        "stderr": "0.5",
        "seeds": "2",
        "delta": "0.0",
        "verdict": "reproduced",
        "cause": "",
        "run": "small-00000000",
        "scale": "paper",
    }
    assert (lines[3]["reported"], lines[3]["reproduced"]) == ("diverged", "")
    assert lines[3]["cause"] == "diverged at update 122"


def test_the_page_counts_the_verdicts(judged, tmp_path):
    write(compare([judged], "paper"), tmp_path / "compare.csv", tmp_path / "compare.html")
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "reproduced: 2, lower: 1" in page
    assert "<td>diverged at update 122</td>" in page


def test_writing_twice_gives_the_same_bytes(judged, tmp_path):
    for name in ("one", "two"):
        lines = compare([judged], "paper")
        write(lines, tmp_path / f"{name}.csv", tmp_path / f"{name}.html")
    for suffix in ("csv", "html"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (
            tmp_path / f"two.{suffix}"
        ).read_bytes()


def test_an_empty_comparison_can_be_read(tmp_path):
    write((), tmp_path / "compare.csv", tmp_path / "compare.html")
    assert (tmp_path / "compare.csv").read_text(encoding="utf-8") == HEADER + "\n"
    assert "No table has reported cells" in (tmp_path / "compare.html").read_text(encoding="utf-8")


def test_rounded_numbers_are_for_reading_only():
    assert comparison.rounded(-0.125, signed=True) in ("-0.12", "-0.13")
    assert comparison.rounded(None) == ""
    assert comparison.number(0.1) == "0.1"
