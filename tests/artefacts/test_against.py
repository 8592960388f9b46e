"""`against`: each row of a table less one of them, with interval, p and Holm's correction."""

import csv
from html import unescape

import pytest
from scipy import stats

from fathom.artefacts.table.comparison import AGAINST, compare_table
from fathom.artefacts.table.differences import BY_SEED, PAIRED
from fathom.artefacts.table.formats import (
    html,
    markdown,
    numbers,
    seed_numbers,
    terminal,
    tex,
    write,
)
from fathom.artefacts.table.view import view
from fathom.results.measurements import Number, Record
from fathom.scoring.students_t import p_value
from tests.support.small_tables import KNOWN, Results, scores, table, texts

TABLE = """
table1:
  title: Depth
  section: ""
  against: small
  columns: [params, avg, tasks]
  rows: {6/6: small, 24/24: deep, Control: control}
"""
KEY = "bleu.test.plain.13a"


@pytest.fixture
def compared(tmp_path):
    """A function that compares the rows of the table."""

    def compare(results):
        spec = table(tmp_path, text=TABLE)
        return compare_table(spec, KNOWN.cells(spec), (), results.sources, "tiny")

    return compare


@pytest.fixture
def paired(tmp_path, compared):
    """Three rows on the same sentences, of which the first is the worst."""
    results = Results(tmp_path / "results")
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    results.score("p/control", texts(0.35, seed=3))
    return compared(results)


def test_every_format_has_difference_interval_and_p_and_no_reported_number(paired, tmp_path):
    laid_out = view(paired, "Depth")
    (block,) = laid_out.blocks
    assert block.columns[-5:] == AGAINST
    write(laid_out, paired, tmp_path / "table1")
    with open(tmp_path / "table1.csv", encoding="utf-8", newline="") as stream:
        lines = {(line["row"], line["column"]): line for line in csv.DictReader(stream)}
    base, deep = lines["6/6", "avg"], lines["24/24", "avg"]
    assert [base[name] for name in AGAINST] == [""] * 5
    assert float(deep["difference"]) == float(deep["value"]) - float(base["value"])
    assert float(deep["low"]) < float(deep["difference"]) < float(deep["high"])
    assert float(deep["p_holm"]) == 2 * float(deep["p"]) < 0.05
    assert "reported" not in deep
    shown = block.against[1]
    assert shown[0].startswith("+")
    lines, _ = terminal(block, 200)
    for text in (markdown(laid_out), tex(laid_out), html(laid_out), str(lines)):
        text = unescape(text).replace("$<$", "<")
        assert all(part in text for part in shown)
    assert shown[3] == "<0.001"
    less, corrected = [note for note in laid_out.notes if "difference" in note or "p_holm" in note]
    assert "Avg. minus that of small" in less
    assert PAIRED.format(10_000) in less
    assert corrected == "p_holm: p with Holm's correction for 2 rows."


def test_several_seeds_give_the_interval_and_p_over_seeds(tmp_path, compared, monkeypatch):
    monkeypatch.setitem(KNOWN.entries, "p/deep", (1, 2))
    results = Results(tmp_path / "results")
    for seed, value in ((1, 20.0), (2, 21.0)):
        results.write("p/small", {KEY: scores(value, value)}, seed)
        results.write("p/deep", {KEY: scores(value + 4 + seed, value + 5)}, seed)
    cells = {
        (each.result.cell.row, each.result.cell.column): each for each in compared(results).cells
    }
    against = cells["24/24", "avg"].against
    assert against.difference == 5.25
    # The differences of seeds 1 and 2 are 5 and 5.5.
    assert against.p == against.p_holm == pytest.approx(p_value(5.25, [(0.25, 2)]))
    assert against.low < 5.25 < against.high
    assert against.method == BY_SEED
    assert cells["Control", "avg"].against is None


LESS = """
table1:
  title: T
  section: S
  columns: {nll: nll.valid, delta: nll.valid}
  less: {delta: 6/6}
  rows: {6/6: small, 24/24: deep, Control: control}
"""


def test_a_column_of_differences_shows_them_with_the_paired_interval(tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN.entries, "p/deep", (1, 2))
    results, values = Results(tmp_path / "results"), ((3.8, 3.6), (3.9, 3.75))
    for seed, (small, deep) in enumerate(values, 1):
        for run, value in (("p/small", small), ("p/deep", deep)):
            record = Record(all=Number(value=value))
            results.write(run, {"nll.valid.plain": record}, seed)
    spec = table(tmp_path, text=LESS)
    found = compare_table(spec, KNOWN.cells(spec), (), results.sources, "tiny")
    (block,), pairs = view(found, "Depth").blocks, stats.ttest_rel(*zip(*values, strict=True))
    low, high = (-end for end in pairs.confidence_interval(0.95)[::-1])
    cells = {row[0].row: row[1].ours for row in block.cells}
    assert cells["24/24"].full == f"-0.175 [{low:+.3f}, {high:+.3f}]"
    assert (cells["6/6"].full, cells["Control"].text) == ("", "not run")
    assert any(
        note.endswith(f"minus that of 6/6; in brackets: {BY_SEED}.")
        for note in view(found, "").notes
    )
    lines = {(line["row"], line["column"]): line for line in numbers(found)}
    assert lines["24/24", "delta"]["p"] == pytest.approx(pairs.pvalue)
    assert {line["column"] for line in seed_numbers(found)} == {"nll"}
