"""Learning rates as functions of the update of Θ, counted from 1.

`training.schedule` names a function of this file and gives its keywords, which config/schema/run.py
describes; `learning_rate` adds the width and the updates of the run.
"""

from collections.abc import Callable
from functools import partial
from inspect import signature

from fathom.config.schema.run import Schedule

LearningRate = Callable[[int], float]


def inverse_sqrt(
    update: int, *, learning_rate: float, warmup: int, start: float = 0.0, lowest: float = 0.0
) -> float:
    """Return a rate that rises linearly to its peak and then falls with the square root.

    [latent_depth App. C.2] names the peak and the warm-up; the shape is fairseq's, as is `start`,
    the rate before the first update. A warm-up of 0 starts at the peak. The fall ends at `lowest`.
    """
    if update < warmup:
        return start + (learning_rate - start) * update / warmup
    return max(learning_rate * (max(warmup, 1) / update) ** 0.5, lowest)


def polynomial(
    update: int, *, learning_rate: float, warmup: int, end: int, power: float, final: float
) -> float:
    """Return a rate that rises linearly to its peak and then falls as a power of the rest.

    The peak is at update `warmup`, or the start; from update `end` on, the rate is `final`.
    """
    if update < warmup:
        return learning_rate * update / warmup
    left = max(end - update, 0) / max(end - warmup, 1)
    return final + (learning_rate - final) * left**power


def noam(update: int, *, scale: float, width: int, warmup: int, step_duration: int) -> float:
    """Return scale · D^-½ · min(s^-½, s · warmup^-1.5) at step s (Vaswani et al. 2017).

    A step is `step_duration` updates, and steps count from 1. lingvo's schedule for the Transformer
    is this one with steps of one update. D is the model's width; a warm-up of 0 is as 1.
    """
    step = (update - 1) // step_duration + 1
    return scale * width**-0.5 * min(step**-0.5, step * max(warmup, 1) ** -1.5)


def replica_ramp(
    update: int,
    *,
    learning_rate: float,
    replicas: int,
    warmup: int,
    decay_start: int,
    decay_end: int,
) -> float:
    """Return RNMT+'s rate (Chen et al. 2018): learning_rate · max(½, min(ramp, n, decay)).

    With t updates done and n replicas, the ramp is 1 + t (n − 1) / (n warmup), and the decay is
    n (2n)^((decay_start − n t) / (decay_end − decay_start)): n at n t = decay_start, ½ at its end.
    The warm-up, of which 0 is as 1, counts updates of each replica; the decay's start and end count
    those of all replicas together.
    """
    done, n = update - 1, replicas
    ramp = 1 + done * (n - 1) / (n * max(warmup, 1))
    length = max(decay_end - decay_start, 1)
    decay = n * (2 * n) ** min((decay_start - n * done) / length, 0.0)
    return learning_rate * max(0.5, min(ramp, n, decay))


SCHEDULES = {each.__name__: each for each in (inverse_sqrt, polynomial, noam, replica_ramp)}


def learning_rate(schedule: Schedule, width: int, updates: int) -> LearningRate:
    """Return a schedule as a function of the update; one without an end ends at `updates`."""
    function = SCHEDULES[schedule.name]
    keywords = dict(schedule.settings)
    if "width" in signature(function).parameters:
        keywords["width"] = width
    if keywords.get("end", updates) is None:
        keywords["end"] = updates
    return partial(function, **keywords)
