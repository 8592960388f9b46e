"""Groups of consecutive units of a hidden state, and masks over them that differ by task.

A hidden state has D units in n groups; unit i belongs to group ⌊i n / D⌋. A mask has one value for
each group and multiplies the hidden states of all positions.
"""

import torch
from torch import Tensor

from fathom.io.errors import FathomError


def units_per_group(width: int, groups: int) -> int:
    """Return the number of units of each group, D / n."""
    if width % groups:
        what = f"{width} units cannot be divided into {groups} equal groups"
        remedy = "change the number of groups or the network's width"
        raise FathomError(what, "method.settings.groups", remedy)
    return width // groups


def unit_masks(masks: Tensor, units: int) -> Tensor:
    """Return r, the factors of the units of each task's hidden states, (sites, N, D).

    [lamgd r]

    The masks are (N, sites, n), and a group has D / n units.
    """
    return masks.repeat_interleave(units, dim=-1).transpose(0, 1)


def similarity(masks: Tensor) -> Tensor:
    """Return the share of its groups that a task has in common with another, (N, N): Section 4.3.

    [lamgd similarity]

    It is 1 for a task and itself. With k of n groups it is at least max(0, 2 k − n) / k, and k / n
    by chance. The masks are (N, sites, n) of 0 and 1, with equally many ones for every task.
    """
    flat = masks.flatten(1).to(torch.float64)  # (N, sites · n)
    return flat @ flat.t() / flat[0].sum()
