"""Weights and temperature of latent layers, as functions of the update."""


def annealed(weight: float, update: int, start: int, length: int) -> float:
    """Return a weight that is 0 until update `start` and then grows linearly to its full value.

    Args:
        weight: the full value, reached `length` updates after `start`.
        update: of Θ, counted from 1.
        start: the last update at which the weight is 0.
        length: updates of growth; 0 makes a step: the weight is full from `start` on.
    """
    if length == 0:
        return weight if update >= start else 0.0
    return weight * min(max((update - start) / length, 0.0), 1.0)


def annealed_temperature(tau: float, tau_end: float | None, update: int, length: int) -> float:
    """Return τ, which falls geometrically to `tau_end` in `length` updates and then is constant.

    [latent_depth tau]

    Args:
        tau: the first temperature.
        tau_end: the last one; None leaves τ constant.
        update: of Θ, counted from 1.
        length: updates until `tau_end`.
    """
    if tau_end is None:
        return tau
    return tau * (tau_end / tau) ** min(update / length, 1.0)
