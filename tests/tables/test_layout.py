"""How a table reads: numbers with marks and spreads, outcomes once, footnotes where they apply."""

import pytest

from fathom.papers.columns import Column
from fathom.tables.grid import Cell, cells
from fathom.tables.layout import Shown, sheet, shown


@pytest.fixture
def laid(table, typical):
    return sheet(table, cells(table, typical, "paper"), "paper")


def column(unit="", decimals=1):
    return Column("c", "c", "scores.bos", decimals, unit, "", None)


@pytest.mark.parametrize(
    ("cell", "unit", "text", "spread"),
    [
        (Cell("r", "c", "x", value=20.25, half_width=1.26), "", "20.2", "±1.3"),
        (
            Cell("r", "c", "x", value=20.0, half_width=9.0, deviation=1.0, stderr=0.4),
            "",
            "20.0",
            "±0.4",
        ),
        (Cell("r", "c", "x", value=20.0, sentences=99), "", "20.0†", ""),
        (Cell("r", "c", "x", value=20.0, sentences=100), "", "20.0", ""),
        (Cell("r", "c", "x", value=66_300_000), "millions", "66.3", ""),
        (Cell("r", "c", "x", value=0.375), "percent", "37.5 %", ""),
        (Cell("r", "c", "x", words="failed to train"), "", "failed to train", ""),
    ],
)
def test_a_cell_is_a_number_with_mark_and_spread_or_words(cell, unit, text, spread):
    assert shown(cell, column(unit)) == Shown(text, spread)


def test_rows_and_columns_stand_in_the_papers_order(laid):
    main = laid.grids[0]
    assert main.header == ("Model", "Params (M)", "Avg.", "bos", "fra", "Seeds")
    assert [row[0].text for row in main.body] == ["6/6", "24/24", "LL-D, 6/12"]


def test_an_outcome_is_told_once_a_row_and_spans_its_scores(laid):
    _, params, avg, bos, fra, seeds = laid.grids[0].body[1]
    assert params.text == "66.3"
    assert avg == Shown("diverged at update 122", span=3)
    assert bos == fra == Shown("–", span=0)
    assert seeds.text == "1"


def test_test_sentences_are_counted_for_each_task(laid):
    footer = [each.text for each in laid.grids[0].footer]
    assert footer == ["test sentences", "", "", "68 to 500", "500", ""]


def test_seeds_have_a_column_only_where_a_row_has_several(table, rows, made):
    scores = {"plain": {"bos": made.score(20.0), "fra": made.score(30.0)}}
    grid = cells(table, rows(table.rows, small=[made.manifest(scores)]), "paper")
    assert "Seeds" not in sheet(table, grid, "paper").grids[0].header


def test_a_group_is_a_grid_of_the_rows_that_have_it(laid):
    group = laid.grids[1]
    assert (group.heading, group.note) == ("Gates", "What the gates amount to.")
    assert [row[0].text for row in group.body] == ["LL-D, 6/12"]
    assert [cell.text for cell in group.body[0][1:]] == ["30.50†", "5.88", "25 %"]


def test_a_group_that_no_row_has_is_left_out(table, rows, made):
    grid = cells(table, rows(table.rows, small=[made.manifest()]), "paper")
    assert len(sheet(table, grid, "paper").grids) == 1


def test_footnotes_tell_scale_metric_marks_and_intervals(laid, made):
    told = "\n".join(laid.notes)
    for words in (
        "Scale: paper.",
        "Metric: 13a.",
        f"Signature: {made.signature}",
        "noise-free soft gates",
        "unrounded cells",
        "half of the 95 % bootstrap interval",
        "standard error over the seeds",
        "†: fewer than 100 test sentences",
    ):
        assert words in told
    assert "not run" not in told


def test_another_scale_is_said_to_be_incomparable(table, rows):
    laid = sheet(table, cells(table, rows(table.rows), "tiny"), "tiny")
    assert laid.notes[0] == "Scale: tiny. Its numbers cannot be compared with the paper's."
    assert any(note.startswith("not run:") for note in laid.notes)


def test_a_metric_that_is_not_the_papers_is_said_to_be_doubtful(table, rows, made):
    scores = {"plain": {"bos": made.score(20.0, metric="intl")}}
    manifest = made.manifest(scores)
    manifest["compared"]["metric"] = "intl"
    laid = sheet(table, cells(table, rows(table.rows, small=[manifest]), "paper"), "paper")
    assert "Metric: intl (not known to be the paper's)." in laid.notes


def test_a_row_whose_seeds_disagree_has_a_footnote(table, rows, made):
    good = made.manifest({"plain": {"bos": made.score(20.0), "fra": made.score(30.0)}})
    bad = made.manifest(outcome=made.ended("diverged"))
    laid = sheet(table, cells(table, rows(table.rows, small=[good, bad]), "paper"), "paper")
    assert "6/6: 1 of 2 seeds: diverged at update 122." in laid.notes
