"""Dropout whose mask comes from 16-bit random words on a CPU: four draws for each 64-bit word.

The probability is a multiple of 1 / 65,536 there, so it is off by at most 1 / 131,072, and values
are scaled by what this multiple leaves: the expectation is exact. The draws are a function of the
state of torch's own generator.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

WORDS = 2**16


def dropout(x: Tensor, p: float, training: bool = True) -> Tensor:
    """Return x with each value set to zero with probability p, the others scaled by 1 / (1 − p).

    Args:
        x: any shape.
        p: the probability, from 0 to 1; on a CPU rounded to a multiple of 1 / 65,536.
        training: without it, x is returned as it is.
    """
    if not training or p == 0:
        return x
    if x.device.type != "cpu" or p == 1:
        return F.dropout(x, p)
    return x * keep_mask(x, p)


def keep_mask(x: Tensor, p: float) -> Tensor:
    """Return what dropout multiplies x by, of its shape and type: 0 or 1 / (1 − p).

    Args:
        x: on a CPU.
        p: the probability, less than 1.
    """
    dropped = min(round(p * WORDS), WORDS - 1)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    draws = words.view(torch.int16)[: x.numel()].view(x.shape)  # uniform, −32,768 … 32,767
    mask = torch.empty(x.shape, dtype=x.dtype)
    # Written as 0 and 1 of the type of x at once, without a mask of truth values.
    torch.ge(draws, dropped - WORDS // 2, out=mask)
    return mask.mul_(WORDS / (WORDS - dropped))
