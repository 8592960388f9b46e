"""Fixed masks: which units a task keeps, and where they act."""

import pytest
import torch

from fathom.methods.fixed_group_dropout import FixedGroupDropout, fixed_masks
from tests.reference.padded.networks import padded_logits
from tests.support.refused import refused
from tests.support.small_networks import batch, method, network, stack

CARD = method("fixed_group_dropout").settings


def of_paper(tasks: int = 6, side: str = "encoder") -> FixedGroupDropout:
    return FixedGroupDropout(stack(side, layers=6, tasks=tasks, width=512), **CARD)


def unit_masks(each: FixedGroupDropout) -> torch.Tensor:
    """Return the mask of each task over units, (N, D)."""
    each.begin(torch.arange(each.stack.tasks))
    return each.source(0, [torch.ones(1, each.stack.tasks, 512)])[0]


def test_a_task_keeps_352_of_512_units_of_which_320_are_all_tasks():
    masks = unit_masks(of_paper())
    assert masks.shape == (6, 512)
    assert masks.unique().tolist() == [0, 1]
    for task in range(6):
        kept = set(masks[task].nonzero().squeeze(1).tolist())
        assert kept == set(range(320)) | set(range(320 + 32 * task, 352 + 32 * task))
    overlaps = masks @ masks.t()
    assert overlaps.unique().tolist() == [320, 352]
    assert overlaps.diagonal().tolist() == [352] * 6
    # Six tasks leave no unit over.
    assert masks.amax(dim=0).sum() == 512


def test_more_tasks_than_there_are_groups_for_are_refused():
    with refused("7 tasks need 17 groups, and there are 16"):
        of_paper(tasks=7)
    assert fixed_masks(8, 16, 0, 2).sum() == 16


def test_tasks_have_several_groups_of_their_own_one_after_another():
    assert fixed_masks(3, 8, 2, 2).tolist() == [
        [1, 1, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 1, 1, 0, 0],
        [1, 1, 0, 0, 0, 0, 1, 1],
    ]


def test_groups_that_would_differ_in_size_are_refused():
    with refused("units cannot be divided into"):
        FixedGroupDropout(stack(width=40), **CARD)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_inputs_of_layers_are_masked_and_what_leaves_the_stack_is_not(side):
    each = of_paper(side=side)
    each.begin(torch.tensor([3, 0]))
    outputs = [torch.randn(5, 2, 512) for _ in range(7)]
    expected = torch.stack([fixed_masks(6, 16, 10, 1)[task] for task in (3, 0)])
    for layer in range(6):
        found = each.source(layer, outputs[: layer + 1])
        assert torch.equal(found, outputs[layer] * expected.repeat_interleave(32, dim=1))
    assert each.source(6, outputs) is outputs[6]
    assert all(memory is outputs[6] for memory in each.memory(outputs, 3))


def test_masks_are_the_same_in_training_and_at_inference_and_in_every_update():
    model = network(method("fixed_group_dropout", shared_groups=8, own_groups=4))
    source, previous, _ = batch([(5, 4), (3, 6)])
    tasks = torch.tensor([1, 0])
    model.start_update(1, 1)
    first = padded_logits(model, source, previous, tasks)
    model.start_update(1, 2)
    assert torch.equal(padded_logits(model, source, previous, tasks), first)
    assert torch.allclose(padded_logits(model.eval(), source, previous, tasks), first, atol=1e-6)
    assert not torch.allclose(padded_logits(model, source, previous, 1 - tasks), first, atol=1e-2)
