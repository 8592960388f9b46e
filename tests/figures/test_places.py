"""Places in a training, places on an axis, and moving medians."""

import pytest
from pandas import DataFrame, Series

from fathom.artefacts.figures.places import (
    at_place,
    in_order,
    place_notes,
    selected,
    smoothed,
    smoothing_notes,
)
from tests.support.refused import refused
from tests.support.small_figures import run, write_metrics


@pytest.fixture
def frame():
    return DataFrame({"update": [1, 2, 50, 100], "value": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize(
    ("place", "update"), [(2, 2), (30, 50), ("2%", 2), ("50%", 50), ("100%", 100), ("74%", 50)]
)
def test_a_place_is_the_nearest_recorded_update(tmp_path, frame, place, update):
    assert at_place(frame, place, run(tmp_path, updates=100))["update"].tolist() == [update]


def test_a_share_is_of_the_planned_updates_and_a_shorter_training_has_its_last(tmp_path, frame):
    assert at_place(frame, "50%", run(tmp_path, updates=14000))["update"].tolist() == [100]


@pytest.mark.parametrize(("place", "update"), [("50%", 50), ("100%", 100)])
def test_a_share_of_a_training_in_epochs_is_a_share_of_its_epochs(tmp_path, frame, place, update):
    small = run(tmp_path, updates="2 epochs")
    write_metrics(small, [(25, 0.6, None, None, None), (45, 1.1, None, None, None)])
    assert at_place(frame, place, small)["update"].tolist() == [update]


@pytest.mark.parametrize(("epoch", "update"), [(1, 50), (9, 100)])
def test_an_epoch_is_its_end_or_that_of_the_training(tmp_path, frame, epoch, update):
    small = run(tmp_path, updates=100)
    write_metrics(small, [(25, 0.6, None, None, None), (45, 1.1, None, None, None)])
    assert at_place(frame, f"epoch {epoch}", small)["update"].tolist() == [update]


def test_an_epoch_that_did_not_end_is_noted(tmp_path, frame):
    small = run(tmp_path, updates=100)
    write_metrics(small, [(25, 0.6, None, None, None), (45, 1.1, None, None, None)])
    assert place_notes(frame, ["epoch 1", "50%"], small) == []
    assert place_notes(frame, ["epoch 2"], small) == ["epoch 2 did not end, update 100 is drawn"]


def test_numbers_are_in_order_of_size_and_names_as_they_come():
    assert in_order(Series(["10", "9", "1", "9"])) == ["1", "9", "10"]
    assert in_order(Series(["fra", "bos"])) == ["fra", "bos"]


@pytest.mark.parametrize(("word", "memory"), [("first", "2"), ("last", "10"), ("9", "9")])
def test_a_place_on_an_axis_is_an_end_or_a_name(tmp_path, word, memory):
    frame = DataFrame({"memory": ["10", "9", "2"], "value": [1.0, 2.0, 3.0]})
    assert selected(frame, {"memory": word}, run(tmp_path))["memory"].tolist() == [memory]


def test_a_place_that_only_another_scale_has_is_refused(tmp_path):
    frame = DataFrame({"layer": ["1", "2"], "memory": ["1", "1"], "value": [1.0, 2.0]})
    with refused("unknown", "layer", 9, where="p/small seed 1"):
        selected(frame, {"layer": "9", "memory": "last"}, run(tmp_path))


def test_a_moving_median_is_centred_and_shorter_at_the_ends():
    values = Series([1.0, 9.0, 2.0, 3.0])
    assert smoothed(values, 3).tolist() == [5.0, 2.0, 3.0, 2.5]
    assert smoothed(values, None) is values


def test_fewer_points_than_the_median_takes_are_left_as_they_are_and_noted():
    values = Series([1.0, 9.0, 2.0])
    assert smoothed(values, 4) is values
    (note,) = smoothing_notes(3, 4)
    assert note.startswith("3 points")
    assert smoothing_notes(4, 4) == smoothing_notes(3, None) == []
