"""Latent group dropout (Pham, Yvon and Crego, Findings of NAACL 2022).

The units of each hidden state are divided into groups, and each task keeps k of them at each site,
the same ones at every position. Which ones is a latent variable of each task and site, whose
distribution is learnt together with the network: in training the mask is a soft top-k of Gumbel
noise plus the logits Φ, with an exact gradient; at inference it is the hard top-k of Φ.

    paper   here              shape, range
    n_p     groups            n
    k       active         groups that a task keeps, 0 … n
    Φ       phi               (N, sites, n), the logits, 0 at first
    g       noise             (N, sites, n), Gumbel(0, 1)
    g + Φ   x                 (…, n); Φ alone at inference
    m̃       hard_top_k        (…, n), k ones and n − k zeros
    m̂       soft_top_k        (…, n), within (0, 1), with sum k
    v̄       root              (…, 1)
    τ       tau               more than 0

Masks multiply the residual stream itself, and nothing is rescaled. method.py connects the equations
to the hooks.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

# (m̂, the gradient by m̂, τ) → the gradient by Φ + g; each (…, n).
Gradient = Callable[[Tensor, Tensor, float], Tensor]

# Each round tries all places that four halvings could reach: 60 halvings in 15 rounds.
PARTS, ROUNDS = 16, 15


def hard_top_k(x: Tensor, k: int) -> Tensor:
    """Return m̃, 1 for the k largest values and 0 for the others; the first of equals wins.

    [lamgd Eq. 2]
    """
    # topk leaves the order of equal values open.
    order = x.argsort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(x).scatter(-1, order[..., :k], 1.0)


def gumbel_noise(sites: int, groups: int, stream: torch.Generator) -> Tensor:
    """Return g of one task, (sites, n) in float64, by inverse sampling."""
    uniform = torch.rand(sites, groups, generator=stream, dtype=torch.float64)
    # A draw of exactly 0 would make the noise infinite.
    return -torch.log(-torch.log(uniform.clamp(min=torch.finfo(torch.float64).tiny)))


def root(x: Tensor, k: int, tau: float) -> Tensor:
    """Return v̄, the solution of Σ_i σ((x_i + v) / τ) = k, as (…, 1).

    [lamgd Eq. 6]

    The root is between τ logit(k / n) − max x, where no term exceeds k / n, and
    τ logit(k / n) − min x. The paper searches [−100, 100], which contains it only for small x.
    x is in float64, and k more than 0 and less than n.
    """
    low = tau * math.log(k / (x.size(-1) - k)) - x.amax(dim=-1, keepdim=True)
    width = x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True)
    shares = torch.arange(1, PARTS, dtype=x.dtype, device=x.device) / PARTS
    for _ in range(ROUNDS):
        tried = low + width * shares  # (…, PARTS − 1)
        surplus = soft_mask(x.unsqueeze(-2), tried.unsqueeze(-1), tau).sum(dim=-1) - k
        # How many places are below the root; half of those count whose sum rounds to k.
        below = (PARTS - 1 - surplus.sign().sum(dim=-1, keepdim=True)) / 2
        width = width / PARTS
        low = low + width * below
    return low + width / 2


def soft_mask(x: Tensor, v: Tensor, tau: float) -> Tensor:
    """Return σ((x + v) / τ), which is m̂ at the root.

    [lamgd Eq. 5]
    """
    return torch.sigmoid((x + v) / tau)


def implicit_gradient(m: Tensor, upstream: Tensor, tau: float) -> Tensor:
    """Return the gradient with respect to x = g + Φ, from that with respect to m̂: each (…, n).

    [lamgd Eq. 7]

    With w = m (1 − m) the Jacobian is (diag(w) − w wᵀ / Σ w) / τ; the paper's second term is the
    diagonal. The gradient is 0 if the mask is all 0 and 1.
    """
    w = m * (1 - m)
    total = w.sum(dim=-1, keepdim=True)
    mean = (w * upstream).sum(dim=-1, keepdim=True) / total
    return torch.where(total > 0, w / tau * (upstream - mean), 0.0)


def projected_gradient(m: Tensor, upstream: Tensor, tau: float) -> Tensor:
    """Return the gradient with the Jacobian I − 1 wᵀ / Σ w, without the factor diag(w) / τ."""
    w = m * (1 - m)
    total = w.sum(dim=-1, keepdim=True)
    projected = upstream - upstream.sum(dim=-1, keepdim=True) * w / total
    return torch.where(total > 0, projected, 0.0)


GRADIENTS: dict[str, Gradient] = {"implicit": implicit_gradient, "projected": projected_gradient}


class _SoftTopK(torch.autograd.Function):
    """m̂ and its gradient, both computed in float64; only m̂ is saved for the backward pass.

    A context is any: torch's type of it knows neither what is saved nor attributes.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, k: int, tau: float, gradient: Gradient) -> Tensor:
        exact = x.double()
        if 0 < k < x.size(-1):
            m = soft_mask(exact, root(exact, k, tau), tau)
        else:
            # The root is infinite.
            m = torch.full_like(exact, float(k > 0))
        ctx.save_for_backward(m)
        ctx.tau, ctx.gradient = tau, gradient
        return m.to(x.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (m,) = ctx.saved_tensors
        gradient = ctx.gradient(m, upstream.double(), ctx.tau)
        return gradient.to(upstream.dtype), None, None, None


def soft_top_k(x: Tensor, k: int, tau: float, gradient: Gradient) -> Tensor:
    """Return m̂ = argmin −xᵀm − τ H_b(m) over masks within [0, 1] with sum k, (…, n).

    [lamgd Eq. 4]

    As τ goes to 0 it becomes the hard top-k; equal values at the k-th place share the rest.
    `gradient` turns the gradient with respect to m̂ into one with respect to x.
    """
    return _SoftTopK.apply(x, k, tau, gradient)


def temperature(update: int, start: float, end: float, rate: float, every: int) -> float:
    """Return τ = max(end, start · exp(−rate · update)), at the last multiple of `every`.

    [lamgd tau]

    The paper prints min, with which τ would start at `end` and fall to 0.
    """
    return max(end, start * math.exp(-rate * (update - update % every)))


def entropy(phi: Tensor) -> Tensor:
    """Return H[softmax Φ] in nats, (…) of (…, n) [lamgd entropy]; it bounds no rate (Eq. 3)."""
    log_p = torch.log_softmax(phi, dim=-1)
    return -(log_p.exp() * log_p).sum(dim=-1)


def uniform_divergence(phi: Tensor) -> Tensor:
    """Return KL(U ‖ softmax Φ) in nats, (…) of (…, n), with U uniform; it has no upper bound."""
    return -torch.log_softmax(phi, dim=-1).mean(dim=-1) - math.log(phi.size(-1))
