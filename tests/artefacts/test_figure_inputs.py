"""What figures are drawn from: series by name, places in a training, moving medians."""

import ast
import math
from shutil import copytree

import pytest
from pandas import DataFrame, Series

from fathom.artefacts.figures.inputs import (
    at_place,
    in_order,
    place_notes,
    selected,
    shared_title,
    smoothed,
    smoothing_notes,
    title_of,
)
from fathom.config.schema.figures import DIAGNOSTICS, SERIES, series_named
from fathom.io.errors import FathomError
from fathom.io.records import hashes, write_record
from fathom.results.recipe import RECIPE
from tests.house.tree import ROOT, library
from tests.support.refused import refused
from tests.support.run_files import training
from tests.support.small_figures import end, run, write_array, write_metrics, write_series


@pytest.fixture
def small(tmp_path):
    return run(tmp_path)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("gradient_norms", "gradient_norm"),
        ("sample.decoder", "samples.decoder"),
        ("nll.vaild", "nll.valid"),
        ("nll.train in bit", "bits"),
        ("samples.decoder in bits", ""),
    ],
)
def test_an_unknown_series_or_unit_has_the_nearest_name(text, nearest):
    with pytest.raises(FathomError) as refused:
        series_named(text)
    assert refused.value.where == text
    assert nearest in refused.value.remedy


def test_metrics_are_read_without_the_rows_that_lack_them(small):
    write_metrics(small, [(1, 0.1, 4.0, None, 2.0), (2, 0.2, 3.0, 5.0, 1.0)])
    train, valid = (small.read(series_named(f"nll.{part}")) for part in ("train", "valid"))
    assert list(zip(train["update"], train["value"], strict=True)) == [(1, 4.0), (2, 3.0)]
    assert list(valid["update"]) == [2]


def record(run, **changes):
    """Write the training.json of a run whose series are there."""
    folder = run.folder
    names = {"files": hashes(folder, "metrics.tsv", "diagnostics/*")}
    write_record(folder / "training.json", training() | names | changes)


def test_a_series_that_is_not_the_recorded_one_is_refused(tmp_path):
    small = run(tmp_path / "runs" / "paper", "small-12345678")
    write_metrics(small, [(1, 0.1, 4.0, None, 2.0), (2, 0.2, 3.0, 5.0, 1.0)])
    write_series(small, "decoder_utilisation", ("layer",), [(1, ("1",), 0.5)])
    series = [series_named(name) for name in ("nll.train", "utilisation.decoder")]
    record(small)
    assert all(small.read(one) is not None for one in series)
    assert small.read(series_named("utilisation.encoder")) is None
    for one, name in zip(series, ("metrics.tsv", "decoder_utilisation.tsv.gz"), strict=True):
        path = next(small.folder.rglob(name))
        before = path.read_bytes()
        path.write_bytes(before[:-8])
        with refused(
            "not the file that was recorded",
            where=path,
            remedy=f"rm -r {small.folder} && fathom train",
        ):
            small.read(one)
        path.unlink()
        with refused("no such file", where=path):
            small.read(one)
        path.write_bytes(before)
    record(small, files={})
    with refused("not among the files of training.json", where="metrics.tsv"):
        small.read(series[0])


def test_a_unit_turns_nats_into_bits(small):
    write_metrics(small, [(1, 0.1, math.log(2), None, None)])
    assert small.read(series_named("nll.train in bits"))["value"].tolist() == pytest.approx([1.0])


def test_diagnostics_have_a_column_for_each_axis(small):
    write_series(small, "decoder_samples", ("task", "layer"), [(5, ("bos", "1"), 0.5)])
    frame = small.read(SERIES["samples.decoder"])
    assert frame[["update", "task", "layer", "value"]].to_numpy().tolist() == [[5, "bos", "1", 0.5]]


def test_an_axis_that_comes_twice_is_two_columns(small):
    labels = {"task": ["bos", "fra"]}
    write_array(small, "similarity", "sharing", ("task", "task"), labels, [[1.0, 0.7], [0.7, 1.0]])
    frame = small.read(SERIES["similarity"])
    assert frame[["task", "task_2", "value"]].to_numpy().tolist()[1] == ["bos", "fra", 0.7]


@pytest.mark.parametrize("name", SERIES)
def test_a_series_without_a_file_is_none(small, name):
    assert small.read(SERIES[name]) is None


def test_a_file_with_other_axes_is_refused(small):
    write_series(small, "encoder_weights", ("source", "layer"), [(1, ("0", "1"), 0.5)])
    with refused("no axis 'memory'"):
        small.read(SERIES["mixture_weights"])


def test_axes_are_those_that_methods_and_trainings_record():
    calls = [
        node
        for source in library(ROOT)
        for node in source.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "DiagnosticArray" and node.args
    ]
    recorded = {ast.unparse(call.args[0]) for call in calls}
    for name, series in SERIES.items():
        if series.place == DIAGNOSTICS:
            assert str(series.axes[1:]) in recorded, name


@pytest.mark.parametrize("outcome", ["diverged", "failed_to_train"])
def test_a_run_without_a_result_is_noted_and_its_outcome_takes_the_place_of_a_series(
    small, outcome
):
    write_metrics(small, [(1, 0.1, 4.0, None, 2.0)])
    end(small, outcome)
    (note,) = small.notes(SERIES["nll.train"])
    assert note.startswith(outcome.replace("_", " "))
    assert small.words == note


def test_a_run_that_finished_has_no_notes(small):
    end(small)
    assert small.notes(SERIES["nll.train"]) == []
    assert small.words == "not recorded"


def test_a_training_that_has_not_ended_is_noted(small):
    write_metrics(small, [(1, 0.1, 4.0, None, 2.0)])
    assert small.notes(SERIES["nll.train"]) == ["the training has not ended"]


@pytest.mark.parametrize("stage", ["training", "scoring"])
def test_an_older_recipe_is_noted_for_what_depends_on_it(small, monkeypatch, stage):
    labels = {"task": ["bos"], "layer": ["1"]}
    write_array(small, "gates.decoder", "gates", ("task", "layer"), labels, [[0.5]])
    end(small)
    before = RECIPE[stage]
    monkeypatch.setitem(RECIPE, stage, before + 1)
    (note, *_) = small.notes(SERIES["gates.decoder"])
    assert note == f"stale: {stage}: recipe {before} is older than {before + 1}"
    assert bool(small.notes(SERIES["samples.decoder"])) == (stage == "training")


@pytest.mark.parametrize("name", ["nll.train", "samples.decoder"])
def test_a_series_of_another_run_is_refused(small, name):
    end(small, identity="0" * 64)
    with refused("measurements of another run than p/small seed 1"):
        small.notes(SERIES[name])


def test_a_measurement_of_another_run_is_refused(small, tmp_path):
    other = run(tmp_path, seeds=(2,))
    labels = {"task": ["bos"], "layer": ["1"]}
    write_array(other, "gates.decoder", "gates", ("task", "layer"), labels, [[0.5]])
    copytree(other.folder, small.folder)
    with refused("measurements of another run than p/small seed 1"):
        small.read(SERIES["gates.decoder"])


def test_seeds_that_are_not_drawn_are_noted(tmp_path):
    small = run(tmp_path, seeds=(2, 5), unused=(7,))
    end(small)
    assert small.seed == 2
    assert small.notes(SERIES["nll.train"]) == ["seed 2 is drawn, and not 5, 7"]


def test_an_epoch_ends_at_the_first_update_logged_after_it(small):
    write_metrics(small, [(10, 0.9, 4.0, None, None), (20, 1.7, 4.0, None, None)])
    assert (small.epoch_ends(1), small.epoch_ends(2)) == (20, math.inf)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("nll.train in bits", "nll, train (bits)"),
        ("gradient_norm.decoder", "gradient norm, decoder"),
        ("similarity", "similarity"),
    ],
)
def test_an_axis_names_a_series_in_words(name, title):
    assert title_of(name) == title


def test_series_of_both_stacks_have_the_title_that_they_share():
    stacks = ["gradient_norm.encoder", "gradient_norm.decoder"]
    assert shared_title(stacks) == "gradient norm"
    assert shared_title(stacks[:1]) == "gradient norm, encoder"


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
    with refused("no layer '9'", where="p/small seed 1"):
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
