"""Which layers gates select, and which groups of units tasks share."""

import math

import pytest
import torch

from fathom.config.measurement_keys import rule_of
from fathom.decode.gates import gate_records, sharing_records
from tests.support.refused import refused
from tests.support.small_corpus import TASKS
from tests.support.trained import trained_spec, write_trained

LATENT = trained_spec({"method": {"name": "latent_layers"}}, run="latent")
ONE_STACK = trained_spec({"method": {"name": "latent_layers", "stacks": ["decoder"]}}, run="one")
ALPHA = [[0.5, -0.7], [0.2, 0.05], [-0.2, -0.6]]


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
    with refused("its method has no gates"):
        gate_records(write_trained(trained_spec(), paths))


# Four groups of the 16 units, of which two are active.
GROUPS = trained_spec({"method": {"name": "group_dropout", "groups": 4, "active": 2}}, run="groups")
# The active groups of each task, the same at every site.
ACTIVE = [(0, 1), (0, 2), (2, 3)]


@pytest.fixture(scope="module")
def records(paths):
    run = write_trained(GROUPS, paths)
    with torch.no_grad():
        for method in run.network("plain").methods.values():
            method.phi.zero_()
            for task, active in enumerate(ACTIVE):
                method.phi[task, :, list(active)] = 1.0
    return sharing_records(run)


def test_similarity_is_the_share_of_active_groups_in_common(records):
    similarity = records["similarity"]
    assert similarity.axes == ("task", "task")
    assert similarity.labels == {"task": list(TASKS)}
    assert similarity.values == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]


def test_sharing_is_the_mean_over_pairs_of_different_tasks(records):  # [lamgd sharing_rate]
    sharing = records["sharing"]
    assert [number.value for number in sharing.tasks.values()] == [0.25, 0.5, 0.25]
    assert sharing.all.value == pytest.approx(1 / 3)
    assert sharing.all.n == 3


def test_masks_are_those_of_both_stacks_by_site_and_group(records):
    masks = records["masks"]
    assert masks.axes == ("task", "site", "group")
    stacks = {site.split()[0] for site in masks.labels["site"]}
    assert stacks == {"encoder", "decoder"}
    assert masks.labels["group"] == ["1", "2", "3", "4"]
    for row, active in zip(masks.values, ACTIVE, strict=True):
        for site in row:
            assert [group for group, value in enumerate(site) if value] == list(active)
    assert {rule_of(key) for key in records} == {"sharing"}


def test_the_size_of_phi_and_its_ties_show_a_task_that_was_in_no_update(paths):
    run = write_trained(GROUPS, paths)
    with torch.no_grad():
        for method in run.network("plain").methods.values():
            sites = method.phi.size(1)
            method.phi.copy_(torch.tensor([[3.0, -1, 2, 0], [0, 0, 0, 0], [0.5, 0.25, 0, 0.25]])
                             .unsqueeze(1).expand(-1, sites, -1))  # fmt: skip
            # At one site of each stack the second and the third value differ.
            method.phi[2, 0, 1] = 0.75
    found = sharing_records(run)
    assert numbers(found["phi_size"]) == pytest.approx([1.5, 0, 0.25 + 0.5 / sites / 4])
    assert found["phi_least"].all.value == 0
    assert numbers(found["ties"]) == [0, 2 * sites, 2 * sites - 2]
    assert found["ties"].all.value == 4 * sites - 2


def test_a_method_without_masks_is_refused(paths):
    with refused("its method has no masks of groups"):
        sharing_records(write_trained(trained_spec(), paths))
