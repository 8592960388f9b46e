"""The points of a figure for each seed."""

import math

import pytest

from fathom.artefacts.figures.points import axes, by_seed, with_seed, worst
from tests.support.small_figures import end, figure, inputs, run, write_metrics, write_series

TEXT = "kind: lines, series: gradient_ratio, x: update, lines: {A: small, B: deep}"


def written(files, value):
    write_series(files, "encoder_gradient_ratio", (), [(1, (), value), (2, (), value + 1)])
    end(files)


def test_each_seed_has_the_points_of_the_runs_that_have_it(tmp_path):
    small, deep = run(tmp_path, seeds=(1, 2)), run(tmp_path, "deep")
    for seed in (1, 2):
        written(with_seed(small, seed), 10.0 * seed)
    written(deep, 5.0)
    frames = by_seed(figure(tmp_path, TEXT), inputs([small, deep]))
    points = {
        (seed, label): list(frame.loc[frame["label"] == label, "value"])
        for seed, frame in frames.items()
        for label in ("A", "B")
    }
    assert points == {
        (1, "A"): [10.0, 11.0],
        (1, "B"): [5.0, 6.0],
        (2, "A"): [20.0, 21.0],
        (2, "B"): [],
    }


def test_a_training_that_has_not_ended_is_not_run(tmp_path):
    small, deep = run(tmp_path), run(tmp_path, "deep")
    write_series(small, "encoder_gradient_ratio", (), [(1, (), 1.0)])
    written(deep, 5.0)
    frame = by_seed(figure(tmp_path, TEXT), inputs([small, deep]))[1]
    assert set(frame.loc[frame["label"] == "A", "words"]) == {"not run"}
    assert set(frame.loc[frame["label"] == "B", "words"]) == {""}


def test_a_training_without_a_result_has_its_outcome_where_its_series_has_a_bad_end(tmp_path):
    small = run(tmp_path)
    write_metrics(small, [(1, 0.1, 5.0, None, 2.0), (2, 0.2, 6.0, None, 3.0)])
    end(small, "diverged")
    for series, words in (("nll.train in bits", "diverged at update 80"), ("gradient_norm", "")):
        text = f"kind: lines, series: {series}, x: update, lines: {{A: small}}"
        (frame,) = by_seed(figure(tmp_path, text), inputs([small])).values()
        assert set(frame["words"]) == {words}


def test_a_bad_end_is_one_of_all_series(tmp_path):
    panels = "panels: {a: {series: nll.train}, b: {series: %s}}"
    for other, expected in (("nll.valid in bits", math.inf), ("gradient_norm", math.nan)):
        text = f"kind: lines, x: update, lines: {{A: small}}, {panels % other}"
        assert worst(figure(tmp_path, text)) == pytest.approx(expected, nan_ok=True)
    text = "kind: heat_map, series: similarity, rows: task, columns: task, panels: {A: small}"
    assert math.isnan(worst(figure(tmp_path, text)))


def test_columns_of_the_csv_have_the_names_of_their_axes(tmp_path):
    assert axes(figure(tmp_path, TEXT).settings.drawn()[0]) == {"x": "update"}
    text = "kind: heat_map, series: similarity, rows: task, columns: task, panels: {A: small}"
    (drawn,) = figure(tmp_path, text).settings.drawn()
    assert axes(drawn) == {"row": "task", "column": "task_2"}
