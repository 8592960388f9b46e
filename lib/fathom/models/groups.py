"""Groups of consecutive units of a hidden state, and masks over them that differ by task.

A mask has one value for each group; a hidden state of D units in n groups is multiplied with it at
every position. Unit i belongs to group ⌊i n / D⌋.
"""

import torch
from torch import Tensor

from fathom.errors import FathomError


def units_per_group(width: int, groups: int) -> int:
    """Return D / n, the consecutive units of each group.

    Args:
        width: units of a hidden state, D.
        groups: their groups, n.

    Raises:
        FathomError: the groups would differ in size.
    """
    if width % groups:
        raise FathomError(
            f"{width} units cannot be parted into {groups} equal groups",
            "method.settings.groups",
            "change the number of groups or the network's width",
        )
    return width // groups


def sentence_masks(masks: Tensor, tasks: Tensor, units: int) -> Tensor:
    """Return what multiplies the hidden states of each sentence, (sites, 1, B, D).

    Args:
        masks: (N, sites, n) a value for each group at each site where a task is masked.
        tasks: (B,) the task of each sentence.
        units: of a group, D / n.
    """
    by_unit = masks.repeat_interleave(units, dim=-1)  # (N, sites, D)
    return by_unit[tasks].transpose(0, 1).unsqueeze(1)


def similarity(masks: Tensor) -> Tensor:
    """Return the share of kept groups that two tasks have in common, a mean over sites, (N, N).

    It is 1 for a task and itself. Where k of n groups are kept it is max(0, 2 k − n) / k at least,
    and k / n by chance.

    Args:
        masks: (N, sites, n) of 0 and 1, with as many ones for every task at every site.
    """
    flat = masks.flatten(1).to(torch.float64)  # (N, sites · n)
    return flat @ flat.t() / flat[0].sum()
