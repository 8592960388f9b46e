"""Losses on samples of the gates instead of their posterior, as in the authors' released code.

The code is an example in fairseq. None of these functions is an equation of the paper; each says
what it replaces, and where it differs from the code.

    z       samples             (N, L), within [0, 1]; 0 or 1 if they are hard
    u_l     utilisation         (L,), the mean of z over tasks
    K       target              layers
    ln p    log_prior           (L,) or one value, of the prior's p(z = 1)
"""

import torch
from torch import Tensor

# Keeps ln z finite at z = 0, as in the released code.
SMALLEST = 1e-7


def straight_through(z: Tensor) -> Tensor:
    """Return hard samples with the gradient of the soft ones: exactly 1 where z > ½, else 0.

    They replace the soft samples in training.
    """
    return (z > 0.5).to(z.dtype) + (z - z.detach())


def selected_half(z: Tensor, log_prior: Tensor | float) -> Tensor:
    """Return z (ln z − ln p) of each gate, in nats, with the shape of z.

    It replaces the divergence from the prior: it is the half for z = 1, at the sample. It is not
    a divergence: with hard samples and p = ½ it is ln 2 for each selected layer for any posterior,
    and with soft ones it falls to −p/e, at z = p/e.
    """
    return z * (torch.log(z + SMALLEST) - log_prior)


def log_mean(z: Tensor) -> Tensor:
    """Return the logarithm of the samples' mean over tasks, (L,), as a constant.

    It replaces the aggregated posterior. The released code divides the sum over tasks by its sum
    over layers instead, with which tasks that agree pay for the layers that they use.
    """
    return torch.log(z.detach().mean(dim=0) + SMALLEST)


def squared_depth_loss(u: Tensor, target: float) -> Tensor:
    """Return (Σ_l u_l − K)², which replaces the norm; its slope falls to 0 towards K."""
    return (u.sum() - target).square()


def utilisation_entropy(u: Tensor) -> Tensor:
    """Return −Σ_l u_l ln u_l over the layers in use, in nats; lower if tasks share layers.

    The paper has no such term. The released code treats the logarithm as a constant; here the
    gradient is complete, −ln u − 1, and 0 where no task uses the layer.
    """
    # ln 1 = 0 for unused layers. Choosing after the logarithm would give NaN, from 0 · ∞.
    used = torch.where(u > 0, u, torch.ones_like(u))
    return -(used * torch.log(used)).sum()
