"""Heuristic group dropout (HMGD): the fixed masks of Pham, Yvon and Crego (2022).

The units of each layer's input are divided into groups. The first groups are shared by all tasks;
each other group belongs to one task. A task's other units are 0, in training and at inference.
Nothing is learnt, and nothing is rescaled.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from fathom.io.errors import FathomError
from fathom.methods.shared.group_masks import unit_masks, units_per_group
from fathom.nn.hooks import Method, Stack


def fixed_masks(tasks: int, groups: int, shared: int, own: int) -> Tensor:
    """Return the mask of each of N tasks over n groups, (N, n) of 0 and 1.

    All tasks keep the first `shared` groups; the `own` ones of task d start at group
    shared + own · d.
    """
    needed = shared + own * tasks
    if needed > groups:
        what = f"{tasks} tasks need {needed} groups, and there are {groups}"
        remedy = "use fewer shared or own groups, or more groups"
        raise FathomError(what, "method.settings.shared_groups", remedy)
    masks = torch.zeros(tasks, groups)
    masks[:, :shared] = 1.0
    for task in range(tasks):
        first = shared + own * task
        masks[task, first : first + own] = 1.0
    return masks


class FixedGroupDropout(Method):
    """Each task keeps the shared groups of units and its own at the input of every layer."""

    masks: Tensor

    def __init__(self, stack: Stack, *, groups: int, shared_groups: int, own_groups: int):
        super().__init__(stack)
        self.units = units_per_group(stack.width, groups)
        masks = fixed_masks(stack.tasks, groups, shared_groups, own_groups)
        self.register_buffer("masks", masks, persistent=False)

    def begin(self, tasks: Tensor, counts: Mapping[int, int] | None = None) -> None:
        """Select the mask of each sentence, (B, D), the same for every layer."""
        (by_task,) = unit_masks(self.masks.unsqueeze(1), self.units)
        self.sentence_mask = by_task.index_select(0, tasks)

    def source(self, layer: int, outputs: Sequence[Tensor]) -> Tensor:
        """Return a layer's input, (T, B, D), masked; the stack's output is not."""
        x = outputs[-1]
        return x if layer == self.stack.layers else x * self.sentence_mask.to(x.dtype)
