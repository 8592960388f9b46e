"""Grouped bars: differences of a table's rows, ours and the paper's."""

import math
from dataclasses import replace
from functools import partial

import matplotlib
import pytest

from fathom.artefacts.figures import drawing, grouped_bars
from fathom.artefacts.table.comparison import compare_table
from fathom.artefacts.table.differences import difference
from fathom.io.errors import Findings
from fathom.results.recipe import RECIPE
from tests.support.refused import refused, says
from tests.support.small_figures import figure, findings, inputs
from tests.support.small_tables import KNOWN, TABLES, Results, reported, scores, table, texts

BLEU = "bleu.test.plain.13a"
BARS = (
    'kind: grouped_bars, table: table1, columns: [tasks], less: 6/6, bars: {deeper: "24/24"},'
    ' not_drawn: ["LL-D, 6/12"]'
)
PRINTED = (
    reported("6/6", "bos", "20.0"),
    reported("6/6", "fra", "38.0"),
    reported("24/24", "bos", "21.5"),
    reported("24/24", "fra", note="diverged"),
)


def inputs_of(folder, deep=(21.5, 37.0), outcome="finished", printed=PRINTED, base=True, then=None):
    """Return a table whose rows have these scores; `then` is called when they are measured."""
    results = Results(folder / "results")
    if base:
        results.write("p/small", {BLEU: scores(20.0, 38.0)}, 1)
    results.write("p/deep", {BLEU: scores(*deep)} if outcome == "finished" else {}, 1, outcome)
    results.write("p/gated", {"bleu.test.soft.13a": scores(22.0, 40.0)})
    if then:
        then()
    drawn = table(folder)
    compared = compare_table(drawn, KNOWN.cells(drawn), printed, results.sources, "tiny")
    return inputs([], {"table1": compared})


def numbers(folder, **changes):
    """Return the figure's numbers by row and column."""
    settings = figure(folder, BARS).settings
    frame = grouped_bars.rows(settings, inputs_of(folder, **changes))
    return {(line.row, line.column): line for line in frame.itertuples()}


def drawn(folder, **changes):
    """Return the axes of the figure."""
    settings = figure(folder, BARS).settings
    with matplotlib.rc_context(drawing.style()):
        frame = grouped_bars.rows(settings, inputs_of(folder, **changes))
        return grouped_bars.draw(settings, frame).axes[0]


@pytest.mark.parametrize(
    ("old", "new", "key", "nearest"),
    [
        ("table: table1", "table: tabel1", "table", "table1"),
        ("less: 6/6", "less: 6/7", "less", "6/6"),
        ('deeper: "24/24"', 'deeper: "24/25"', "bars.deeper", "24/24"),
        ("LL-D, 6/12", "LL-D, 6/21", "not_drawn", "LL-D, 6/12"),
        ("[tasks]", "[bso]", "columns", "bos"),
    ],
)
def test_what_does_not_exist_is_a_finding_with_its_key(tmp_path, old, new, key, nearest):
    (finding,) = findings(figure(tmp_path, BARS.replace(old, new)), {"table1": table(tmp_path)})
    assert f"figure1.{key}" in finding
    assert f"'{nearest}'" in finding


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"24/24"}', '"24/24", same: "24/24"}', says("already", "24/24", where="bars.same")),
        ('["LL-D, 6/12"]', '["24/24"]', says("already", "24/24", where="not_drawn.0")),
        ('"24/24"}', '"24/24", none: 6/6}', says("already", "6/6", where="bars.none")),
        ("[tasks]", "[bos, tasks]", says("column twice", "bos", 2, where="columns")),
        ("[tasks]", "[tasks, depth_decoder]", says("several units", where="columns")),
    ],
)
def test_what_cannot_be_drawn_together_is_a_finding_with_its_key(tmp_path, old, new, message):
    assert old in BARS
    wrong = findings(figure(tmp_path, BARS.replace(old, new)), {"table1": table(tmp_path)})
    assert len(wrong) == 1
    message.check(wrong)


def test_a_table_without_columns_of_tasks_has_no_bars_of_tasks(tmp_path):
    means = table(tmp_path, text=TABLES.replace("[params, avg, tasks]", "[params, avg]", 1))
    drawn = figure(tmp_path, BARS)
    says("no task columns", where="columns").check(findings(drawn, {"table1": means}))


def test_a_row_without_a_column_that_is_drawn_is_a_finding(tmp_path):
    blocks = """
table1:
  title: Domains in blocks
  section: §5
  blocks:
    A: {rows: {one: small}, columns: [bos, fra]}
    B: {rows: {two: deep}, columns: [fra]}
"""
    text = "kind: grouped_bars, table: table1, columns: [bos, fra], less: one, bars: {other: two}"
    wrong = findings(figure(tmp_path, text), {"table1": table(tmp_path, text=blocks)})
    says("column of a row", "two", "bos", where="figure1.bars.other").check(wrong)
    assert len(wrong) == 1


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('{deeper: "24/24"}', "{}", "bars"),
        ("[tasks]", "[]", "columns"),
        ("[tasks]", "[bos, bos]", "columns"),
        ('["LL-D, 6/12"]', '["24/24", "24/24"]', "not_drawn"),
    ],
)
def test_a_list_without_use_is_refused_with_its_line(tmp_path, old, new, key):
    with refused(where=f"figures.yaml:1: figure1.{key}", error=Findings):
        figure(tmp_path, BARS.replace(old, new))


def test_tasks_are_the_papers_columns_of_single_tasks(tmp_path):
    assert list(numbers(tmp_path)) == [
        ("24/24", "bos"), ("24/24", "fra"), ("LL-D, 6/12", "bos"), ("LL-D, 6/12", "fra"),
    ]  # fmt: skip


def scored(folder):
    """Return the inputs of a figure whose rows are scored on the same sentences."""
    results = Results(folder / "results")
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    results.write("p/gated", {"bleu.test.soft.13a": scores(22.0, 40.0)})
    drawn = table(folder)
    compared = compare_table(drawn, KNOWN.cells(drawn), (), results.sources, "tiny")
    return inputs([], {"table1": compared}), results.sources


def test_rows_on_the_same_sentences_have_paired_intervals(tmp_path):
    given, sources = scored(tmp_path)
    frame = grouped_bars.rows(figure(tmp_path, BARS).settings, given)
    line = frame[(frame["row"] == "24/24") & (frame["column"] == "bos")].iloc[0]
    own, base = (
        item.result
        for row in ("24/24", "6/6")
        for item in given.tables["table1"].cells
        if (item.result.cell.row, item.result.cell.column) == (row, "bos")
    )
    less = difference(own, base, sources)
    assert (line.value, line.low) == (less.result.value, less.result.value - less.half)
    assert line.high - line.value == pytest.approx(less.half)
    assert (line.p, line.p_sacrebleu) == (less.paired.p, less.paired.p_sacrebleu)
    assert (line.interval, line.note) == (less.method, "")
    assert (line.label, line.less, line.scale) == ("deeper", "6/6", "tiny")


def test_a_bar_without_an_interval_says_why(tmp_path):
    given, _ = scored(tmp_path)
    frame = grouped_bars.rows(figure(tmp_path, BARS).settings, given)
    line = frame[frame["row"] == "LL-D, 6/12"].iloc[0]
    assert (math.isnan(line.low), line.interval) == (True, "")
    assert line.note.startswith("LL-D, 6/12: no interval of the difference: ")


def test_seeds_that_are_not_shown_are_noted_for_both_rows(tmp_path):
    given = inputs_of(tmp_path)
    compared = given.tables["table1"]
    sources = {
        name: replace(source, unused=(7,)) if name in ("p/deep", "p/small") else source
        for name, source in compared.sources.items()
    }
    given = inputs([], {"table1": replace(compared, sources=sources)})
    frame = grouped_bars.rows(figure(tmp_path, BARS).settings, given)
    notes = frame[frame["row"] == "24/24"]["note"].iloc[0].split("; ")
    words = "seed 7 is trained and not shown"
    assert [note for note in notes if note.endswith(words)] == [f"24/24: {words}", f"6/6: {words}"]


def test_the_notes_of_cells_are_in_the_csv(tmp_path, monkeypatch):
    newer = partial(monkeypatch.setitem, RECIPE, "scoring", 2)
    notes = numbers(tmp_path, then=newer)["24/24", "bos"].note.split("; ")
    assert [note.partition(": ")[0] for note in notes] == ["24/24"] * 3
    assert sum("recipe 1 is older than 2" in note for note in notes) == 2


def test_the_papers_differences_stand_in_the_csv(tmp_path):
    lines = numbers(tmp_path)
    assert lines["24/24", "bos"].reported == pytest.approx(1.5)
    assert math.isnan(lines["24/24", "fra"].reported)


def test_a_row_that_is_not_drawn_has_no_label(tmp_path):
    line = numbers(tmp_path)["LL-D, 6/12", "bos"]
    assert (line.label, line.value) == ("", 2.0)


def test_a_run_without_a_result_has_words(tmp_path):
    line = numbers(tmp_path, outcome="diverged")["24/24", "fra"]
    assert (math.isnan(line.value), line.words) == (True, "diverged at update 122")


def test_a_base_without_a_result_leaves_nothing_to_subtract(tmp_path):
    assert numbers(tmp_path, base=False)["24/24", "bos"].words == "not run (6/6)"


def test_our_bars_are_filled_and_the_papers_are_outlined(tmp_path):
    axes = drawn(tmp_path)
    ours, paper = axes.containers[:2]
    assert [bar.get_height() for bar in ours] == [1.5, -1.0]
    assert paper[0].get_height() == pytest.approx(1.5)
    assert paper[0].get_facecolor()[3] == 0.0
    assert matplotlib.colors.to_hex(ours[0].get_facecolor()).upper() == drawing.look(0).color
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["bos", "fra"]
    assert axes.get_ylabel() == "Δ BLEU over 6/6"


def legend(axes):
    return [text.get_text() for text in axes.get_legend().texts]


def test_the_legend_names_outlines(tmp_path):
    axes = drawn(tmp_path)
    assert legend(axes) == ["deeper", "paper"]
    assert axes.get_legend().get_title().get_text() == ""


def test_the_legend_says_what_the_whiskers_are(tmp_path):
    settings = figure(tmp_path, BARS).settings
    frame = grouped_bars.rows(settings, scored(tmp_path)[0])
    with matplotlib.rc_context(drawing.style()):
        title = grouped_bars.draw(settings, frame).axes[0].get_legend().get_title().get_text()
    assert title == f"Whiskers: {frame['interval'].iloc[0]}"
    assert "95 % paired bootstrap interval of the difference, 1,000 draws" in title


def test_a_missing_bar_is_a_mark_with_words_in_the_legend(tmp_path):
    axes = drawn(tmp_path, outcome="diverged")
    assert [text.get_text() for text in axes.texts] == ["×", "×"]
    assert legend(axes)[0] == "deeper (× diverged at update 122)"


def test_without_reported_cells_nothing_is_outlined(tmp_path):
    assert "paper" not in legend(drawn(tmp_path, printed=()))
