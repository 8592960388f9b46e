"""The label-smoothed loss with its gradient, and the negative log-likelihood (NLL), in nats.

With p = softmax(z), a target t and smoothing ε, fairseq's loss of a token is

    −(1 − ε) log p_t − Σ_{v ≠ t} ε / (V − 1) log p_v

and its gradient by z is p − q, with q the target distribution: 1 − ε at t, ε / (V − 1) elsewhere.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from fathom.nn.network import Batch, Network, Predicted


def smoothed_loss(
    logits: Tensor, target: Tensor, smoothing: float, entries: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return the sums over targets of the label-smoothed loss and of the NLL, in nats.

    Half precision is left before the sum over the vocabulary. The NLL is for reports and has no
    gradient. The gradient of the loss can be taken once: it overwrites what was saved for it.

    The first rows of the logits, (rows, V'), belong to the targets, (tokens,). The others, padding
    rows of a packing, get the gradient zero. `entries` is V, if V' is larger: the others have no
    probability, and a gradient that says nothing.
    """
    return _SmoothedLoss.apply(logits, target, smoothing, entries or logits.size(1))


class _SmoothedLoss(torch.autograd.Function):
    """The log-probabilities are saved, and become the gradient in place."""

    @staticmethod
    def forward(
        ctx: Any, logits: Tensor, target: Tensor, smoothing: float, entries: int
    ) -> tuple[Tensor, Tensor]:
        exact = torch.float32 if logits.itemsize < 4 else logits.dtype
        # The gradient's rows, of which padding rows are not filled yet.
        saved = torch.empty_like(logits, dtype=exact)
        log_probability = saved[: len(target)]  # (tokens, V')
        torch.log_softmax(logits[: len(target)], -1, dtype=exact, out=log_probability)
        spread = smoothing / (entries - 1)
        ctx.save_for_backward(saved, target)
        ctx.spread, ctx.given, ctx.smoothing = spread, logits.dtype, smoothing
        nll = -log_probability.gather(1, target.unsqueeze(1)).sum()
        ctx.mark_non_differentiable(nll)
        if smoothing == 0:
            return nll.clone(), nll
        every = log_probability[:, :entries].sum()
        return (1 - smoothing - spread) * nll - spread * every, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        saved, target = ctx.saved_tensors
        gradient = saved[: len(target)].exp_().sub_(ctx.spread)
        at_target = gradient.new_full((len(target), 1), ctx.smoothing + ctx.spread - 1)
        gradient.scatter_add_(1, target.unsqueeze(1), at_target).mul_(upstream)
        saved[len(target) :].zero_()
        return saved.to(ctx.given), None, None, None


@dataclass(frozen=True, eq=False)
class NllSums:
    """NLL and tokens of N tasks."""

    nats: Tensor  # (N,) sum over each task's targets, float64
    tokens: Tensor  # (N,) number of targets, float64: the mean of a task without targets is NaN


def token_nll(predicted: Predicted) -> Tensor:
    """Return the NLL of each target, (tokens,), in float32 at least."""
    logits, target, _ = predicted
    logits = logits[: len(target)]
    # Half precision is too coarse for a sum over the vocabulary.
    logits = logits.float() if logits.itemsize < 4 else logits
    return F.cross_entropy(logits, target, reduction="none")


@torch.no_grad()
def nll_by_task(network: Network, batches: Iterable[Batch], tasks: int) -> NllSums:
    """Return the NLL of texts by task, in evaluation mode and without label smoothing.

    Nothing random is drawn; afterwards the network is in the mode in which it was before.
    """
    training = network.training
    network.eval()
    device = next(network.parameters()).device
    nats = torch.zeros(tasks, dtype=torch.float64, device=device)
    tokens = torch.zeros_like(nats)
    for batch in batches:
        predicted = network.predict(batch.to(device))
        nats.index_add_(0, predicted.tasks, token_nll(predicted).double())
        tokens += predicted.tasks.bincount(minlength=tasks)
    network.train(training)
    return NllSums(nats.cpu(), tokens.cpu())
