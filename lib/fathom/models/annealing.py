"""What changes in the course of a training, as functions of the update."""


def annealed(weight: float, update: int, start: int, length: int) -> float:
    """Return a weight at an update of Θ: 0 until `start`, whole `length` later, never below 0.

    Between them it grows linearly; a length of 0 makes a step at `start`.

    Args:
        weight: the whole weight.
        update: of Θ, counted from 1.
        start: the last update at which it is 0; the first at which it is whole, for a step.
        length: updates in which it grows.
    """
    if length == 0:
        return weight if update >= start else 0.0
    return weight * min(max((update - start) / length, 0.0), 1.0)


def annealed_temperature(tau: float, tau_end: float | None, update: int, length: int) -> float:
    """Return τ at an update of Θ: geometric to `tau_end` in `length` updates, then constant.

    Args:
        tau: the temperature at the start.
        tau_end: at the end; None keeps τ.
        update: of Θ, counted from 1.
        length: updates until the end.
    """
    if tau_end is None:
        return tau
    return tau * (tau_end / tau) ** min(update / length, 1.0)
