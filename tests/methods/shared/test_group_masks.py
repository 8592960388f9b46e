"""Groups of units, masks by sentence, and how similar two tasks' masks are."""

import itertools

import pytest
import torch

from fathom.io.errors import FathomError
from fathom.methods.shared.group_masks import similarity, unit_masks, units_per_group
from tests.support.refused import refused


def test_units_are_parted_into_equal_groups():
    assert units_per_group(512, 16) == 32
    assert units_per_group(16, 16) == 1
    with refused("unequal groups", 500, 16):
        units_per_group(500, 16)
    with pytest.raises(FathomError):
        units_per_group(8, 16)


def test_a_unit_has_the_mask_of_its_group():
    """[lamgd r]"""
    masks = torch.rand(3, 4, 5)  # tasks, sites, groups
    found = unit_masks(masks, units_per_group(20, 5))
    assert found.shape == (4, 3, 20)
    for site, task, unit in itertools.product(range(4), range(3), range(20)):
        assert found[site, task, unit] == masks[task, site, unit * 5 // 20]


def test_a_masks_gradient_is_the_sum_over_its_units():
    masks = torch.ones(3, 1, 2, requires_grad=True)
    upstream = torch.arange(12.0).view(1, 3, 4)
    unit_masks(masks, 2).backward(upstream)
    assert torch.equal(masks.grad[:, 0], upstream.view(3, 2, 2).sum(dim=2))


def random_masks(tasks: int, sites: int, groups: int, kept: int) -> torch.Tensor:
    order = torch.rand(tasks, sites, groups, generator=torch.Generator().manual_seed(1)).argsort()
    return (order < kept).float()


def test_similarity_counts_the_groups_that_both_keep():  # [lamgd similarity]
    a = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 0]])
    b = torch.tensor([[1, 0, 1, 0], [1, 0, 1, 0]])
    c = torch.tensor([[0, 0, 1, 1], [0, 1, 0, 1]])
    expected = torch.tensor([[1, 0.75, 0], [0.75, 1, 0.25], [0, 0.25, 1]])
    assert torch.equal(similarity(torch.stack([a, b, c])).float(), expected)


@pytest.mark.parametrize(("kept", "floor"), [(8, 0.0), (10, 0.4), (12, 2 / 3), (14, 6 / 7)])
def test_similarity_is_by_chance_the_share_that_is_kept_and_has_a_floor(kept, floor):
    found = similarity(random_masks(40, 12, 16, kept))
    pairs = found[torch.ones_like(found, dtype=torch.bool).triu(1)]
    # Of a pair: the hypergeometric deviation of the groups in common, over k, in 12 sites.
    share = kept / 16
    deviation = (16 * share**2 * (1 - share) ** 2 * 16 / 15) ** 0.5 / kept / 12**0.5
    assert abs(pairs.mean().item() - share) < 4 * deviation / len(pairs) ** 0.5
    assert abs(pairs.std().item() / deviation - 1) < 0.2
    assert pairs.min() >= floor
    assert torch.allclose(found.diagonal(), torch.ones(40, dtype=torch.float64))


def test_tasks_without_a_group_too_many_in_common_are_at_the_floor():
    masks = torch.ones(2, 3, 16)
    masks[0, :, :4], masks[1, :, 4:8] = 0, 0
    assert similarity(masks)[0, 1].item() == pytest.approx(2 / 3)
