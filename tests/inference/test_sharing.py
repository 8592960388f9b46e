"""What two tasks' masks have in common."""

import pytest
import torch

from fathom.config.paths import Paths
from fathom.decode.sharing import sharing_records
from fathom.results.measurements import rule_of
from tests.support.refused import refused
from tests.support.small_corpus import TASKS
from tests.support.trained import trained_spec, write_text, write_trained

# Four groups of the 16 units, of which two are active.
GROUPS = trained_spec({"method": {"name": "group_dropout", "groups": 4, "active": 2}}, run="groups")
# The active groups of each task, the same at every site.
ACTIVE = [(0, 1), (0, 2), (2, 3)]


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    paths = Paths(tmp_path_factory.mktemp("sharing"), "tiny")
    write_text(paths)
    run = write_trained(GROUPS, paths)
    with torch.no_grad():
        for method in run.network("plain").methods.values():
            method.phi.zero_()
            for task, active in enumerate(ACTIVE):
                method.phi[task, :, list(active)] = 1.0
    return sharing_records(run), run


def test_similarity_is_the_share_of_active_groups_in_common(records):
    similarity = records[0]["similarity"]
    assert similarity.axes == ("task", "task")
    assert similarity.labels == {"task": list(TASKS)}
    assert similarity.values == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]


def test_sharing_is_the_mean_over_pairs_of_different_tasks(records):
    sharing = records[0]["sharing"]
    assert [number.value for number in sharing.tasks.values()] == [0.25, 0.5, 0.25]
    assert sharing.all.value == pytest.approx(1 / 3)
    assert sharing.all.n == 3


def test_masks_are_those_of_both_stacks_by_site_and_group(records):
    masks = records[0]["masks"]
    assert masks.axes == ("task", "site", "group")
    stacks = {site.split()[0] for site in masks.labels["site"]}
    assert stacks == {"encoder", "decoder"}
    assert masks.labels["group"] == ["1", "2", "3", "4"]
    for row, active in zip(masks.values, ACTIVE, strict=True):
        for site in row:
            assert [group for group, value in enumerate(site) if value] == list(active)
    assert {rule_of(key) for key in records[0]} == {"sharing"}


def test_a_method_without_masks_is_refused(records):
    paths = records[1].paths
    with refused("no masks"):
        sharing_records(write_trained(trained_spec(), paths))
