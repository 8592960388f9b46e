"""Cells next to what the paper reports: verdicts, differences, lines and counts."""

import pytest

from fathom.artefacts.table.comparison import compare_table, counts, lines, write_csv
from fathom.artefacts.table.formats import numbers
from fathom.artefacts.table.notes import notes_of
from fathom.artefacts.table.view import view
from fathom.config.schema.table import Mark
from fathom.results.measurements import Number, Record
from tests.support.small_tables import KNOWN, Results, reported, scores, table, texts, typical

BLEU = "bleu.test.plain.13a"
MARK = Mark(means="gain", to="6/6", test="paired_bootstrap", draws=1000, share=0.5)
PRINTED = (
    reported("6/6", "avg", "29.5"),
    reported("6/6", "bos", "22.0"),
    reported("6/6", "fra", "38.0", stderr="0.2"),
    reported("6/6", "params", "66.3"),
    reported("24/24", "avg", note="diverged"),
    reported("LL-D, 6/12", "bos", "22.0", mark="bold"),
)


def compared(folder, results, printed=PRINTED, name="table1", scale="paper"):
    """Return a table with its cells compared."""
    drawn = table(folder, name)
    return compare_table(drawn, KNOWN.cells(drawn), printed, results.sources, scale)


def item(compared, row, column):
    """Return one compared cell."""
    (one,) = [
        part
        for part in compared.cells
        if (part.result.cell.row, part.result.cell.column) == (row, column)
    ]
    return one


@pytest.fixture
def usual(tmp_path):
    return compared(tmp_path, typical(tmp_path / "results"))


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ("6/6", "avg", "reproduced"),
        ("6/6", "bos", "lower"),
        ("6/6", "params", "reproduced"),
        ("24/24", "avg", "no result as reported"),
        ("LL-D, 6/12", "bos", "reproduced"),
    ],
)
def test_each_reported_cell_has_a_verdict(usual, row, column, words):
    assert item(usual, row, column).verdict.words == words


def test_a_cell_of_ours_has_no_verdict(usual):
    for row, column in (("LL-D, 6/12", "depth_decoder"), ("Control", "bos")):
        assert (item(usual, row, column).reported, item(usual, row, column).verdict) == (None, None)


def test_the_verdict_is_by_run_and_not_by_the_scales_name(tmp_path):
    other = compared(tmp_path, typical(tmp_path / "results", comparable=False), scale="my")
    assert item(other, "6/6", "avg").verdict.words == "not comparable (my)"


def test_the_cell_of_a_task_has_a_wider_tolerance_than_a_mean(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/deep", {BLEU: scores(20.0, 20.0)})
    printed = (reported("24/24", "avg", "20.9"), reported("24/24", "bos", "20.9"))
    small = compared(tmp_path, results, printed)
    assert item(small, "24/24", "avg").verdict.words == "lower"
    assert item(small, "24/24", "bos").verdict.words == "reproduced"


def test_a_cell_that_the_paper_prints_as_a_difference_is_one(tmp_path):
    results = Results(tmp_path / "results")
    for run, size in (("p/small", 91.6e6), ("p/deep", 104.6e6)):
        results.write(run, {"parameters": Record(all=Number(value=size))})
    printed = (reported("deep", "params", "13", mark="added"),)
    one = item(compared(tmp_path, results, printed, "table2"), "deep", "params")
    assert one.result.value == pytest.approx(13.0)
    assert one.verdict.words == "reproduced"


def test_a_difference_printed_next_to_a_number_leaves_the_number(tmp_path):
    results = Results(tmp_path / "results")
    results.write("p/deep", {BLEU: scores(61.0, 60.4)})
    printed = (reported("deep", "fra", "60.4", mark="delta", note="-0.6"),)
    one = item(compared(tmp_path, results, printed, "table2"), "deep", "fra")
    assert (one.result.value, one.delta) == (60.4, pytest.approx(-0.6))
    assert one.verdict.words == "reproduced"


def test_our_cells_have_the_mark_of_the_test_that_they_pass(tmp_path):
    results = Results(tmp_path / "results")
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    results.score("p/control", texts(0.4, seed=2))
    drawn = table(tmp_path, marks={"bold": MARK})
    own = compare_table(drawn, KNOWN.cells(drawn), PRINTED, results.sources, "paper")
    marks = {row: item(own, row, "bos").mark for row in ("6/6", "24/24", "Control")}
    assert marks == {"6/6": "", "24/24": "bold", "Control": ""}
    assert item(own, "24/24", "avg").mark == "bold"
    assert item(own, "24/24", "params").mark == ""
    shown = view(own, "").blocks[0].rows
    assert {row.label for row in shown if row.kind == "result" and row.cells[1].bold} == {"24/24"}
    (note,) = [note for note in notes_of(own) if note.startswith("“bold”")]
    assert "paired bootstrap (1,000 draws of 50% of the sentences, of which 95% agree)" in note
    assert list(numbers(own)["mark"]).count("bold") == 3


def test_a_difference_that_is_printed_has_a_paired_spread(tmp_path):
    results = Results(tmp_path / "results")
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    printed = (reported("deep", "bos", "13", mark="added"),)
    own = compared(tmp_path, results, printed, "table2")
    less = item(own, "deep", "bos").result
    assert 0 < less.stderr < less.interval
    assert any("in pairs" in note for note in notes_of(own))


def test_lines_have_the_reported_digits_and_all_of_ours(usual, tmp_path):
    frame = lines([usual])
    assert list(frame["column"]) == ["params", "avg", "bos", "fra", "avg", "bos"]
    fra = frame[frame["column"] == "fra"].iloc[0]
    assert (fra["reported"], fra["reported_stderr"]) == ("38.0", "0.2")
    assert (fra["reproduced"], fra["seeds"], fra["run"]) == (38.5, 2, "p/small")
    outcome = frame[frame["verdict"] == "no result as reported"].iloc[0]
    assert (outcome["reported"], outcome["cause"]) == ("diverged", "diverged at update 122")
    write_csv(frame, tmp_path / "compare.csv")
    text = (tmp_path / "compare.csv").read_text("utf-8")
    assert "table1,6/6,fra,38.0,0.2,,38.5," in text
    assert ",22.0,,bold," in text
    assert "nan" not in text.lower()


def test_counts_of_verdicts_come_with_the_most_frequent_first(usual):
    assert counts([usual]) == {"reproduced": 4, "lower": 1, "no result as reported": 1}
