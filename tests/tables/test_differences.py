"""The CSV that a figure of differences is drawn from."""

import csv
import math

import pytest

from fathom.errors import FathomError
from fathom.tables.differences import write


@pytest.fixture
def figure(paper):
    return paper.artefacts["bars"]


def written(figure, rows, path, scale="paper"):
    write(figure, rows, scale, path)
    found = csv.DictReader(path.read_text(encoding="utf-8").split("\n")[:-1])
    return {(line["series"], line["task"]): line for line in found}


def rows_for(figure, rows, made, **changed):
    """Rows with a score a task; keyword = run, value = bos and fra, or a whole manifest."""
    values = {"small": (20.0, 38.0), "deep": (21.5, 37.0), "gated": (22.0, 40.0)} | changed
    manifests = {}
    for run, value in values.items():
        if isinstance(value, tuple):
            bos, fra = value
            value = made.manifest({"plain": {"bos": made.score(bos), "fra": made.score(fra)}})
        manifests[run] = [value]
    return rows(figure.rows, **manifests)


def test_differences_to_the_baseline_have_independent_intervals(figure, rows, made, tmp_path):
    line = written(figure, rows_for(figure, rows, made), tmp_path / "f.csv")["24/24", "bos"]
    assert (line["value"], line["label"], line["baseline"], line["scale"]) == (
        "1.5",
        "deep",
        "6/6",
        "paper",
    )
    assert float(line["low"]) == pytest.approx(1.5 - math.sqrt(2))
    assert float(line["high"]) == pytest.approx(1.5 + math.sqrt(2))


def test_tasks_stand_in_the_figures_order_and_the_baseline_is_no_series(
    figure, rows, made, tmp_path
):
    found = written(figure, rows_for(figure, rows, made), tmp_path / "f.csv")
    assert list(found) == [
        ("24/24", "fra"),
        ("24/24", "bos"),
        ("LL-D, 6/12", "fra"),
        ("LL-D, 6/12", "bos"),
    ]


def test_a_series_that_is_not_drawn_stands_in_the_file_without_a_label(
    figure, rows, made, tmp_path
):
    found = written(figure, rows_for(figure, rows, made), tmp_path / "f.csv")
    assert found["LL-D, 6/12", "bos"]["label"] == ""
    assert found["LL-D, 6/12", "bos"]["value"] == "2.0"


def test_a_run_without_a_result_has_words(figure, rows, made, tmp_path):
    diverged = made.manifest(outcome=made.ended("diverged"))
    found = written(figure, rows_for(figure, rows, made, deep=diverged), tmp_path / "f.csv")
    line = found["24/24", "fra"]
    assert (line["value"], line["low"], line["words"]) == ("", "", "diverged at update 122")


def test_a_baseline_without_a_result_leaves_nothing_to_subtract(figure, rows, made, tmp_path):
    found = written(figure, rows_for(figure, rows, made, small=None), tmp_path / "f.csv")
    assert {line["words"] for line in found.values()} == {"baseline not run"}


def test_several_seeds_give_the_interval_of_their_mean(figure, rows, made, tmp_path):
    def seeds(*values):
        return [
            made.manifest({"plain": {"bos": made.score(v), "fra": made.score(30.0)}})
            for v in values
        ]

    placed = rows(figure.rows, small=seeds(20.0, 22.0), deep=seeds(24.0, 26.0))
    line = written(figure, placed, tmp_path / "f.csv")["24/24", "bos"]
    # Standard deviation √2, so the standard error of each mean of two is 1.
    assert float(line["high"]) - float(line["value"]) == pytest.approx(1.96 * math.sqrt(2))


def test_scores_without_intervals_give_differences_without(figure, rows, made, tmp_path):
    bare = {"sentences": 9, "metrics": {"13a": {"value": 21.0, "signature": "s"}}}
    manifest = made.manifest({"plain": {"bos": bare, "fra": bare}})
    line = written(figure, rows_for(figure, rows, made, deep=manifest), tmp_path / "f.csv")
    assert (line["24/24", "bos"]["value"], line["24/24", "bos"]["low"]) == ("1.0", "")


def test_a_table_is_no_figure_of_differences(table, rows, tmp_path):
    with pytest.raises(FathomError, match="give the artefact `bars`"):
        write(table, rows(table.rows), "paper", tmp_path / "f.csv")
