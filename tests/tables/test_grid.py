"""Cells: values over seeds, and words where there is no number."""

import math

import pytest

from fathom.tables.grid import cells, named_tasks


@pytest.fixture
def grid(table, typical):
    return cells(table, typical, "paper")


def test_a_cell_is_the_mean_over_seeds_with_their_spread(grid):
    cell = grid["6/6"]["bos"]
    assert (cell.value, cell.seeds, cell.half_width) == (20.5, 2, 1.0)
    assert cell.deviation == pytest.approx(math.sqrt(0.5))
    assert cell.stderr == pytest.approx(0.5)
    assert (cell.gates, cell.metric, cell.sentences) == ("plain", "13a", 500)


def test_an_average_is_the_unrounded_mean_of_the_tasks(rows, table, made):
    scores = {"plain": {"bos": made.score(20.04), "fra": made.score(30.05)}}
    one = rows(table.rows, small=[made.manifest(scores)])
    cell = cells(table, one, "paper")["6/6"]["avg"]
    assert cell.value == math.fsum([20.04, 30.05]) / 2
    # Two independent intervals of half-width 1.
    assert cell.half_width == pytest.approx(math.sqrt(2) / 2)
    assert cell.stderr == pytest.approx(math.sqrt(2) / 4)
    assert cell.deviation is None


def test_an_average_ranges_over_the_tables_own_tasks(rows, table, made):
    tasks = {"bos": made.score(20.0), "fra": made.score(30.0), "kor": made.score(0.0)}
    cell = cells(table, rows(table.rows, small=[made.manifest({"plain": tasks})]), "paper")
    assert named_tasks(table) == ("bos", "fra")
    assert cell["6/6"]["avg"].value == 25.0


def test_an_average_carries_the_smallest_test_set(grid):
    assert grid["LL-D, 6/12"]["avg"].sentences == 68


def test_hard_gates_stand_beside_the_compared_ones(grid):
    row = grid["LL-D, 6/12"]
    assert (row["avg"].value, row["avg"].gates) == (31.0, "soft")
    assert (row["hard"].value, row["hard"].gates) == (30.5, "hard")
    assert row["depth"].value == 5.875


def test_a_column_of_a_group_is_empty_where_it_does_not_apply(grid):
    for row in ("6/6", "24/24"):
        assert (grid[row]["hard"].value, grid[row]["hard"].words) == (None, "")
        assert (grid[row]["depth"].value, grid[row]["depth"].words) == (None, "")


def test_a_diverged_run_has_words_for_scores_and_a_size(grid):
    row = grid["24/24"]
    assert {row[name].words for name in ("avg", "bos", "fra")} == {"diverged at update 122"}
    assert row["params"].value == 66_300_000


def test_a_run_that_failed_to_train_says_so_even_if_it_was_scored(rows, table, made):
    scored = made.manifest(
        {"plain": {"bos": made.score(0.1), "fra": made.score(0.1)}},
        outcome=made.ended("failed_to_train"),
    )
    cell = cells(table, rows(table.rows, small=[scored]), "paper")["6/6"]["bos"]
    assert (cell.value, cell.words) == (None, "failed to train")


def test_a_row_without_a_manifest_is_not_run(rows, table):
    row = cells(table, rows(table.rows), "paper")["6/6"]
    assert {row[name].words for name in ("params", "avg", "bos")} == {"not run"}
    assert row["hard"].words == ""
    assert row["bos"].seeds == 0


def test_a_task_without_a_layer_says_so_and_its_average_names_it(rows, table, made):
    value = made.manifest({"hard": {"fra": made.score(30.0)}}, no_layer={"hard": ["bos"]})
    row = cells(table, rows(table.rows, small=[value]), "paper")["6/6"]
    assert row["bos"].words == "no layer left"
    assert row["avg"].words == "no layer left for bos"
    assert row["fra"].value == 30.0


def test_an_average_counts_the_tasks_that_lack_layers_where_they_are_many(
    rows, table, made, monkeypatch
):
    monkeypatch.setattr("fathom.tables.grid.NAMED_TASKS", 0)
    value = made.manifest({"hard": {"fra": made.score(30.0)}}, no_layer={"hard": ["bos"]})
    row = cells(table, rows(table.rows, small=[value]), "paper")["6/6"]
    assert row["avg"].words == "no layer left (1 of 2)"


def test_an_average_of_tasks_that_all_lack_layers_says_it_once(rows, table, made):
    value = made.manifest(no_layer={"plain": ["bos", "fra"]})
    row = cells(table, rows(table.rows, small=[value]), "paper")["6/6"]
    assert row["avg"].words == "no layer left"


def test_a_task_that_was_not_decoded_has_no_score(rows, table, made):
    value = made.manifest({"plain": {"fra": made.score(30.0)}})
    row = cells(table, rows(table.rows, small=[value]), "paper")["6/6"]
    assert (row["bos"].words, row["avg"].words) == ("no score", "no score for bos")


def test_most_seeds_decide_whether_there_is_a_value(rows, table, made):
    good = made.manifest({"plain": {"bos": made.score(20.0), "fra": made.score(30.0)}})
    bad = made.manifest(outcome=made.ended("diverged"))
    mostly = cells(table, rows(table.rows, small=[bad, good, good]), "paper")["6/6"]["bos"]
    assert (mostly.value, mostly.seeds) == (20.0, 2)
    assert mostly.note == "1 of 3 seeds: diverged at update 122"
    hardly = cells(table, rows(table.rows, small=[bad, good, bad]), "paper")["6/6"]["bos"]
    assert (hardly.value, hardly.seeds) == (None, 2)
    assert hardly.words == "diverged at update 122 (2 of 3 seeds)"


def test_seeds_that_are_not_there_yet_are_left_out(rows, table, made):
    good = made.manifest({"plain": {"bos": made.score(20.0), "fra": made.score(30.0)}})
    cell = cells(table, rows(table.rows, small=[good, None]), "paper")["6/6"]["bos"]
    assert (cell.value, cell.seeds, cell.deviation, cell.stderr) == (20.0, 1, None, 0.5)


def test_a_mean_over_numbers_ranges_over_the_keys_that_exist(paper_mapping, rows, made):
    from fathom.papers.paper import Paper

    columns = paper_mapping["artefacts"]["main"]["columns"]
    columns["nll"] = {"title": "NLL", "value": "mean(validation.by_task.*)", "decimals": 2}
    table = Paper.from_mapping("a_paper", paper_mapping).artefacts["main"]
    diverged = made.manifest(outcome=made.ended("diverged"), validation=made.unvalidated)
    grid = cells(table, rows(table.rows, small=[made.manifest()], deep=[diverged]), "paper")
    assert grid["6/6"]["nll"].value == pytest.approx(4.5)
    assert grid["24/24"]["nll"].words == "diverged at update 122"
