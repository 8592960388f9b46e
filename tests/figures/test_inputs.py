"""Series by name, read from where a training left them."""

import ast
import math

import pytest

from fathom.errors import FathomError
from fathom.figures.inputs import DIAGNOSTICS, SERIES, series_named, title_of
from tests.house.tree import ROOT, library
from tests.support.refused import refused
from tests.support.small_figures import run, write_array, write_metrics, write_series


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
    with refused("axis", ..., "memory"):
        small.read(SERIES["mixture_weights"])


def test_axes_are_those_that_methods_and_trainings_record():
    calls = [
        node
        for source in library(ROOT)
        for node in source.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Reading" and node.args
    ]
    recorded = {ast.unparse(call.args[0]) for call in calls}
    for name, series in SERIES.items():
        if series.place == DIAGNOSTICS:
            assert str(series.axes[1:]) in recorded, name


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
