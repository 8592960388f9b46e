"""Random logits, and the root of the soft top-k by a finder of another kind."""

import math

import torch
from scipy.optimize import brentq
from torch import Tensor


def logits(*shape: int, seed: int = 1, scale: float = 2.0) -> Tensor:
    """Return normal values in float64."""
    stream = torch.Generator().manual_seed(seed)
    return scale * torch.randn(*shape, generator=stream, dtype=torch.float64)


def exact_root(x: list[float], k: int, tau: float) -> float:
    """Return v with Σ σ((x_i + v) / τ) = k, searched in a bracket that is far too wide."""

    def surplus(v: float) -> float:
        return sum(1 / (1 + math.exp(-max((each + v) / tau, -700))) for each in x) - k

    return brentq(surplus, -max(x) - 40 * tau, -min(x) + 40 * tau, xtol=1e-14, rtol=1e-14)
