"""What figures are drawn from: series by name, places in a training, moving medians."""

import ast
import math
from shutil import copytree

import pytest
from pandas import DataFrame, Series

from fathom.artefacts.figures.inputs import at_places, in_order, selected, shared_title, title_of
from fathom.config.schema.figures import DIAGNOSTICS, SERIES, series_named
from fathom.io.records import hashes, write_record
from fathom.results.recipe import RECIPE
from tests.house.tree import ROOT, library
from tests.support.refused import refused
from tests.support.run_files import training
from tests.support.small_figures import end, run, write_array, write_metrics, write_series


@pytest.fixture
def small(tmp_path):
    return run(tmp_path)


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
            remedy="cannot be made again without training",
        ):
            small.read(one)
        path.unlink()
        with refused("no such file", where=path):
            small.read(one)
        path.write_bytes(before)
    record(small, files={})
    with refused("not among the files of training.json", where="metrics.tsv"):
        small.read(series[0])


def test_a_series_has_its_unit_and_a_column_for_each_axis_also_for_one_that_comes_twice(small):
    write_metrics(small, [(1, 0.1, math.log(2), None, None)])
    assert small.read(series_named("nll.train in bits"))["value"].tolist() == pytest.approx([1.0])
    write_series(small, "decoder_samples", ("task", "layer"), [(5, ("bos", "1"), 0.5)])
    frame = small.read(SERIES["samples.decoder"])
    assert frame[["update", "task", "layer", "value"]].to_numpy().tolist() == [[5, "bos", "1", 0.5]]
    labels = {"task": ["bos", "fra"]}
    write_array(small, "similarity", "sharing", ("task", "task"), labels, [[1.0, 0.7], [0.7, 1.0]])
    frame = small.read(SERIES["similarity"])
    assert frame[["task", "task_2", "value"]].to_numpy().tolist()[1] == ["bos", "fra", 0.7]


def test_a_series_without_a_file_is_none(small):
    assert not [name for name, series in SERIES.items() if small.read(series) is not None]


def test_a_file_with_other_axes_is_refused(small):
    write_series(small, "encoder_weights", ("source", "layer"), [(1, ("0", "1"), 0.5)])
    with refused("no axis 'memory'"):
        small.read(SERIES["mixture_weights"])


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("outcome", "notes", "words"),
    [
        ("diverged", ["diverged at update 80"], "diverged at update 80"),
        ("failed_to_train", ["failed to train"], "failed to train"),
        ("finished", [], "not recorded"),
        (None, ["the training has not ended"], "not recorded"),
    ],
)
def test_how_a_training_ended_is_noted_and_takes_the_place_of_a_series(
    small, outcome, notes, words
):
    write_metrics(small, [(1, 0.1, 4.0, None, 2.0)])
    if outcome:
        end(small, outcome)
    assert (small.notes(SERIES["nll.train"]), small.words) == (notes, words)


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


def test_a_series_or_a_measurement_of_another_run_is_refused(tmp_path):
    stranger = run(tmp_path, "stranger")
    end(stranger, identity="0" * 64)
    for name in ("nll.train", "samples.decoder"):
        with refused("measurements of another run than p/stranger seed 1"):
            stranger.notes(SERIES[name])
    small, other = run(tmp_path), run(tmp_path, seeds=(2,))
    labels = {"task": ["bos"], "layer": ["1"]}
    write_array(other, "gates.decoder", "gates", ("task", "layer"), labels, [[0.5]])
    copytree(other.folder, small.folder)
    with refused("measurements of another run than p/small seed 1"):
        small.read(SERIES["gates.decoder"])


def test_seeds_that_are_not_drawn_are_noted_once(tmp_path):
    small = run(tmp_path, seeds=(2, 5), unused=(7,))
    for seed in small.trainings:
        end(seed)
    notes = [seed.notes(SERIES["nll.train"]) for seed in small.trainings]
    assert notes == [["seed 7 is trained and not shown"], []]


def test_an_axis_names_a_series_in_words_and_several_by_what_they_share():
    assert title_of("nll.train in bits") == "nll, train (bits)"
    assert title_of("similarity") == "similarity"
    stacks = ["gradient_norm.encoder", "gradient_norm.decoder"]
    assert shared_title(stacks) == "gradient norm"
    assert shared_title(stacks[:1]) == "gradient norm, encoder"
    assert shared_title(["samples.decoder", "probability.decoder"]) == (
        "samples / probability, decoder"
    )


@pytest.fixture
def frame():
    return DataFrame({"update": [1, 2, 50, 100], "value": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize(
    ("place", "updates", "expected"),
    [
        (2, 100, 2),
        (30, 100, 50),
        ("2%", 100, 2),
        ("50%", 100, 50),
        ("100%", 100, 100),
        ("74%", 100, 50),
        # A shorter training has its last update, and a share of epochs is one of their number.
        ("50%", 14000, 100),
        ("50%", "2 epochs", 50),
        ("100%", "2 epochs", 100),
        ("epoch 1", 100, 50),
        ("epoch 9", 100, 100),
    ],
)
def test_a_place_is_the_nearest_recorded_update(tmp_path, frame, place, updates, expected):
    small = run(tmp_path, updates=updates)
    write_metrics(small, [(25, 0.6, None, None, None), (45, 1.1, None, None, None)])
    rows, notes = at_places(frame, [place], small)
    assert rows[["update", "place"]].to_numpy().tolist() == [[expected, str(place)]]
    late = ["epoch 9 did not end, update 100 is drawn"]
    assert notes == (late if place == "epoch 9" else [])


def test_numbers_are_in_order_of_size_and_names_as_they_come():
    assert in_order(Series(["10", "9", "1", "9"])) == ["1", "9", "10"]
    assert in_order(Series(["fra", "bos"])) == ["fra", "bos"]


def test_a_place_on_an_axis_is_an_end_or_a_name_that_this_scale_has(tmp_path):
    frame = DataFrame({"memory": ["10", "9", "2"], "value": [1.0, 2.0, 3.0]})
    for word, memory in (("first", "2"), ("last", "10"), ("9", "9")):
        assert selected(frame, {"memory": word}, run(tmp_path))["memory"].tolist() == [memory]
    with refused("no memory '11'", where="p/small seed 1"):
        selected(frame, {"memory": "11"}, run(tmp_path))
