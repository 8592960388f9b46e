"""Learning rates as functions of the update, which counts Θ's updates from 1.

A run names a function of this file.
"""


def inverse_sqrt(update: int, peak: float, warmup: int) -> float:
    """Return the rate that rises linearly to its peak and then falls with the square root.

    [latent_depth App. C.2] names the peak and the warm-up; the shape is fairseq's.

    Args:
        update: from 1.
        peak: the rate at update `warmup`.
        warmup: updates until the peak; 0 starts there.
    """
    if update < warmup:
        return peak * update / warmup
    return peak * (max(warmup, 1) / update) ** 0.5
