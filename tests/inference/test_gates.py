"""Gates of a trained network by task and layer."""

import math

import pytest
import torch

from fathom.config.paths import Paths
from fathom.decode.gates import gate_records
from fathom.results.measurements import rule_of
from tests.support.refused import refused
from tests.support.small_corpus import TASKS
from tests.support.trained import trained_spec, write_text, write_trained

LATENT = trained_spec({"method": {"name": "latent_layers"}}, run="latent")
ONE_STACK = trained_spec({"method": {"name": "latent_layers", "stacks": ["decoder"]}}, run="one")
ALPHA = [[0.5, -0.7], [0.2, 0.05], [-0.2, -0.6]]


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    paths = Paths(tmp_path_factory.mktemp("gates"), "tiny")
    write_text(paths)
    return paths


def measured(paths, spec):
    run = write_trained(spec, paths)
    with torch.no_grad():
        run.network("soft").methods["decoder"].alpha.copy_(torch.tensor(ALPHA))
    return gate_records(run)


def numbers(record):
    return [number.value for number in record.tasks.values()]


def test_gates_are_the_probabilities_by_task_and_layer(paths):
    record = measured(paths, LATENT)["gates.decoder"]
    assert record.axes == ("task", "layer")
    assert record.labels == {"task": list(TASKS), "layer": ["1", "2"]}
    for row, alphas in zip(record.values, ALPHA, strict=True):
        assert row == pytest.approx([1 / (1 + math.exp(-alpha)) for alpha in alphas])


def test_depth_counts_layers_and_the_others_say_how_sure_that_is(paths):
    found = measured(paths, LATENT)
    assert numbers(found["depth.decoder"]) == [1, 2, 0]
    assert numbers(found["depth_probability.decoder"]) == pytest.approx(
        [sum(1 / (1 + math.exp(-alpha)) for alpha in row) for row in ALPHA]
    )
    assert numbers(found["abs_alpha.decoder"]) == pytest.approx([0.6, 0.125, 0.4])
    assert numbers(found["undecided.decoder"]) == [0, 0.5, 0]
    assert list(found["depth.decoder"].tasks) == list(TASKS)


def test_only_stacks_with_gates_are_measured(paths):
    assert {key.rpartition(".")[2] for key in measured(paths, LATENT)} == {"encoder", "decoder"}
    found = measured(paths, ONE_STACK)
    assert {key.rpartition(".")[2] for key in found} == {"decoder"}
    assert {rule_of(key) for key in found} == {"gates"}


def test_a_method_without_gates_is_refused(paths):
    with refused("no gates"):
        gate_records(write_trained(trained_spec(), paths))
