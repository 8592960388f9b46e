"""The label-smoothed loss, with its own gradient.

With p = softmax(z), a target t and smoothing ε, fairseq's loss of a token is

    −(1 − ε) log p_t − Σ_{v ≠ t} ε / (V − 1) log p_v

and its gradient by z is p − q, with q the target distribution: 1 − ε at t, ε / (V − 1) elsewhere.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable


def smoothed_loss(logits: Tensor, target: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Return the sums over targets of the label-smoothed loss and of the NLL, in nats.

    Half precision is left before the sum over the vocabulary. The NLL is for reports and has no
    gradient. The gradient of the loss can be taken once: it overwrites what was saved for it.

    Args:
        logits: (rows, V), of which the first ones belong to the targets. The others, surplus rows
            of a packing, get the gradient zero.
        target: (tokens,), at most as many as rows.
        smoothing: ε.
    """
    return _SmoothedLoss.apply(logits, target, smoothing)


class _SmoothedLoss(torch.autograd.Function):
    """The log-probabilities are saved, and become the gradient in place."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, target: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        real = logits[: len(target)]
        exact = torch.float32 if logits.itemsize < 4 else logits.dtype
        log_probability = F.log_softmax(real, dim=-1, dtype=exact)  # (tokens, V)
        spread = smoothing / (logits.size(1) - 1)
        ctx.save_for_backward(log_probability, target)
        ctx.spread, ctx.given, ctx.rows = spread, logits.dtype, len(logits)
        ctx.smoothing = smoothing
        nll = -log_probability.gather(1, target.unsqueeze(1)).sum()
        ctx.mark_non_differentiable(nll)
        if smoothing == 0:
            return nll.clone(), nll
        return (1 - smoothing - spread) * nll - spread * log_probability.sum(), nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor, None, None]:
        log_probability, target = ctx.saved_tensors
        gradient = log_probability.exp_().sub_(ctx.spread)
        at_target = target.new_full((len(target), 1), 0, dtype=gradient.dtype)
        at_target.fill_(ctx.smoothing + ctx.spread - 1)
        gradient.scatter_add_(1, target.unsqueeze(1), at_target).mul_(upstream)
        gradient = gradient.to(ctx.given)
        surplus = ctx.rows - len(target)
        return F.pad(gradient, (0, 0, 0, surplus)) if surplus else gradient, None, None
