"""When a run has diverged, and when it has failed to train: results, not errors."""

import math
from dataclasses import dataclass

from fathom.runs.spec import Outcome


@dataclass(frozen=True)
class Ending:
    """How a run ended: `finished`, `diverged` or `failed_to_train`, at which update, and why."""

    kind: str
    update: int
    reason: str


class Watch:
    """Watches the updates of a run for divergence."""

    def __init__(self, limits: Outcome, exploding: int = 0):
        """Start to watch.

        Args:
            limits: the run's thresholds.
            exploding: updates in a row, so far, with an exploding loss.
        """
        self.limits, self.exploding = limits, exploding

    def see(self, update: int, nll: float, gradient_norm: float) -> Ending | None:
        """Return the ending if this update is the one at which the run has diverged.

        Args:
            update: its number.
            nll: training NLL in nats a token.
            gradient_norm: Θ's, before clipping.
        """
        if not math.isfinite(nll):
            return Ending("diverged", update, "the training loss is not finite")
        if not math.isfinite(gradient_norm):
            return Ending("diverged", update, "the gradient norm is not finite")
        self.exploding = self.exploding + 1 if nll > self.limits.exploded_above else 0
        if self.exploding >= self.limits.exploded_for:
            reason = (
                f"the training NLL was above {self.limits.exploded_above:g} nats a token"
                f" for {self.exploding} updates"
            )
            return Ending("diverged", update, reason)
        return None


def final(update: int, nll: float, unigram_nll: float, limits: Outcome) -> Ending:
    """Judge a run that has made all its updates.

    Args:
        update: the last.
        nll: validation NLL in nats a token, without label smoothing.
        unigram_nll: the yardstick, in the same unit.
        limits: the run's thresholds.
    """
    if not math.isfinite(nll):
        return Ending("diverged", update, "the final validation NLL is not finite")
    if nll >= unigram_nll - limits.failed_margin:
        reason = f"validation NLL {nll:.3f} is no better than the unigram's {unigram_nll:.3f} nats"
        return Ending("failed_to_train", update, reason)
    return Ending("finished", update, f"validation NLL {nll:.3f}, unigram {unigram_nll:.3f} nats")
