"""Latent layers (Li, Stickland, Tang and Kong, NeurIPS 2020: Deep Transformers with Latent Depth).

Whether a task uses a layer is a latent variable z_l. Its posterior q is learnt together with the
network by variational inference: in training soft Gumbel samples of z scale each layer's block F_l,
a KL term pulls q towards a prior, and L_K pulls the expected depth towards a target K. At inference
hard gates can prune layers.

    paper   here              shape, range
    α       alpha             (N, L), or (1, L) for a shared posterior; one logit, because only
                              the difference α(1) − α(0) of Eq. 5 matters
    ε       noise             (N, L); ε(1) − ε(0), the difference of two Gumbels, is logistic
    z       z                 (N, L), within [0, 1]
    q_φ     σ(alpha)          (N, L), the probability that a layer is selected
    p(z)    prior             (L,) or one value, as the logarithms of p(z = 1) and p(z = 0)
    τ       tau               more than 0
    u_l     utilisation       (L,)
    β, λ    kl_weight, depth_weight
    K       target_depth      layers
    I       inner_updates     updates of Θ for one of φ

Here are Eqs. 2, 4, 5, 7 and L_K, in the paper's order, then what changes during training, and the
pruning of Section 2.2. method.py connects them to the hooks; train/two_level.py has Eq. 8 and
Algorithm 2. released.py has what the released code computes on samples instead, each choice a
setting.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from fathom.nn.hooks import Depth

Prior = tuple[Tensor | float, Tensor | float]


def gated_block(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    """Return x + z F(x), where y = x + F(x): (1 − z) x + z y.

    [latent_depth Eq. 2]

    x and y are (T, B, D), z is (1, B, 1), the gate of each sentence; packed, (1, rows, D) and
    (1, rows, 1). torch.lerp is x at z = 0 and y at z = 1 to the bit, which x + z (y − x) is not.
    """
    return torch.lerp(x, y, z)


def kl_divergence(alpha: Tensor, prior: Prior) -> Tensor:
    """Return KL(q ‖ p) of each gate's Bernoulli posterior, in nats, with the shape of alpha.

    [latent_depth Eq. 4]

    Computed from logarithms of σ, so that it is finite for every alpha: 1 − σ(17) is 0 in float32.
    """
    selected = torch.sigmoid(alpha) * (logsigmoid(alpha) - prior[0])
    skipped = torch.sigmoid(-alpha) * (logsigmoid(-alpha) - prior[1])
    return selected + skipped


def logistic_noise(layers: int, stream: torch.Generator) -> Tensor:
    """Return ε(1) − ε(0) of each layer, (L,) in float32: logistic noise, by inverse sampling."""
    uniform = torch.rand(layers, generator=stream, dtype=torch.float32)
    # A draw of exactly 0 would make the noise infinite.
    return torch.logit(uniform, eps=torch.finfo(torch.float32).eps)


def gumbel_sample(alpha: Tensor, noise: Tensor, tau: float | Tensor) -> Tensor:
    """Return soft samples of z, the select half of the softmax over {select, skip}.

    [latent_depth Eq. 5]

    Samples become discrete as τ goes to 0; noise of 0 gives the noise-free soft weight.
    """
    return torch.sigmoid((alpha + noise) / tau)


def beta_prior(a: float, b: float) -> Prior:
    """Return ln p(z = 1) and ln p(z = 0) at Beta(a, b)'s mean, a / (a + b) [latent_depth prior]."""
    return math.log(a / (a + b)), math.log(b / (a + b))


def aggregated_posterior(alpha: Tensor) -> Prior:
    """Return the mean over tasks of q(z = 1) and of q(z = 0), as logarithms, each (L,).

    [latent_depth Eq. 7]
    """
    tasks = math.log(alpha.size(0))
    selected = torch.logsumexp(logsigmoid(alpha), dim=0) - tasks
    skipped = torch.logsumexp(logsigmoid(-alpha), dim=0) - tasks
    return selected, skipped


def utilisation(z: Tensor) -> Tensor:
    """Return u_l, the mean over tasks of the samples z (N, L), as (L,): Section 2.2.

    [latent_depth u_l]
    """
    return z.mean(dim=0)


def depth_loss(u: Tensor, target: float) -> Tensor:
    """Return L_K = ‖Σ_l u_l − K‖ of Section 2.2, for u (L,); its gradient is 0 at Σ u = K.

    [latent_depth L_K]
    """
    return (u.sum() - target).abs()


def scaled_kl(kl: Tensor, scale: str, tokens_per_task: float) -> Tensor:
    """Return each task's KL, (N,), from that of its gates, (N, L); Eq. 8 leaves the scale open.

    The scale is the "sum" in nats, the "mean", or "per_token": the sum divided by T / N.
    """
    if scale == "mean":
        return kl.mean(dim=1)
    return kl.sum(dim=1) / (tokens_per_task if scale == "per_token" else 1)


def annealed(weight: float, update: int, start: int, length: int) -> float:
    """Return a weight that is 0 up to update `start` of Θ and full `length` updates later.

    It grows linearly. A `length` of 0 makes a step: the weight is full from `start` on.
    """
    if length == 0:
        return weight if update >= start else 0.0
    return weight * min(max((update - start) / length, 0.0), 1.0)


def annealed_temperature(tau: float, tau_end: float | None, update: int, length: int) -> float:
    """Return τ, which falls geometrically to `tau_end` in `length` updates and then is constant.

    [latent_depth tau]

    Updates of Θ count from 1; without a `tau_end` τ is constant.
    """
    if tau_end is None:
        return tau
    return tau * (tau_end / tau) ** min(update / length, 1.0)


def hard_gates(alpha: Tensor, threshold: float, at_least: int = 0) -> Tensor:
    """Return 1 where q(z = 1) = σ(alpha) ≥ threshold and 0 elsewhere, (N, L): Section 2.2.

    [latent_depth pruning]

    In any case the likeliest `at_least` gates of a task are open, of equals the lowest.
    """
    order = alpha.argsort(dim=1, descending=True, stable=True)
    likeliest = torch.zeros_like(alpha).scatter(1, order[:, :at_least], 1.0)
    return torch.maximum((torch.sigmoid(alpha) >= threshold).to(alpha.dtype), likeliest)


def depth_of(alpha: Tensor, threshold: float) -> Depth:
    """Return how many layers each task uses, by hard gates and by probability.

    Layers that a decoding keeps in any case (`decoding.hard_at_least`) do not count. `alpha` is
    without a gradient.
    """
    alpha = alpha.cpu()
    counts = hard_gates(alpha, threshold).sum(dim=1).int().tolist()
    return Depth(
        effective_depth=sum(counts) / len(counts),
        by_task=tuple(counts),
        sum_p=torch.sigmoid(alpha).sum(dim=1).mean().item(),
    )
