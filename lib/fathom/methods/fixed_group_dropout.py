"""Heuristic group dropout, HMGD: fixed masks beside the learnt ones of Pham, Yvon and Crego (2022).

The units of what each layer reads are parted into groups. The first ones serve all tasks, each of
the others one task alone; a task's states are 0 elsewhere, in training and at inference. Nothing is
learnt, and nothing is rescaled.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from fathom.errors import FathomError
from fathom.models.groups import sentence_masks, units_per_group
from fathom.models.hooks import Method, Stack


def fixed_masks(tasks: int, groups: int, shared: int, own: int) -> Tensor:
    """Return the mask of each task, (N, n) of 0 and 1.

    Args:
        tasks: N.
        groups: n.
        shared: groups that all tasks keep, the first ones.
        own: groups that a task has for itself; task d's begin at group shared + own · d.

    Raises:
        FathomError: the tasks need more groups than there are.
    """
    needed = shared + own * tasks
    if needed > groups:
        raise FathomError(
            f"{tasks} tasks need {needed} groups, and there are {groups}",
            "method.settings.shared_groups",
            "share fewer groups, or make more and smaller ones",
        )
    masks = torch.zeros(tasks, groups)
    masks[:, :shared] = 1.0
    for task in range(tasks):
        first = shared + own * task
        masks[task, first : first + own] = 1.0
    return masks


class FixedGroupDropout(Method):
    """At the input of each layer a task keeps the shared groups of units and some of its own."""

    def __init__(self, stack: Stack, *, groups: int, shared_groups: int, own_groups: int):
        """Lay the groups out.

        Args:
            stack: the layers.
            groups: equal groups of the units, n.
            shared_groups: groups that all tasks keep.
            own_groups: further groups that a task keeps for itself.

        Raises:
            FathomError: the tasks need more groups than there are, or these would differ in size.
        """
        super().__init__(stack)
        self.units = units_per_group(stack.width, groups)
        masks = fixed_masks(stack.tasks, groups, shared_groups, own_groups)
        self.register_buffer("masks", masks, persistent=False)

    def begin(self, tasks: Tensor) -> None:
        """Gather the mask of each sentence, the same for every layer."""
        (self.sentence_mask,) = sentence_masks(self.masks.unsqueeze(1), tasks, self.units)

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return what a layer reads, (T, B, D), masked; what leaves the stack is not."""
        x = outputs[-1]
        return x if layer == self.stack.layers else x * self.sentence_mask.to(x.dtype)
