"""When a run has diverged, and when it has failed to train: results, not errors."""

import math

from fathom.config.schema.run import Outcome
from fathom.results.training_record import Ended


class DivergenceWatch:
    """Checks each update of a run for divergence.

    Attributes:
        exploding: updates in a row, up to now, with an exploding loss.
    """

    def __init__(self, limits: Outcome):
        """Start with no exploding update.

        Args:
            limits: the run's thresholds.
        """
        self.limits, self.exploding = limits, 0

    def check(self, update: int, nll: float, gradient_norm: float) -> Ended | None:
        """Return how the run ended if it has diverged at this update.

        Args:
            update: its number.
            nll: training NLL in nats a token.
            gradient_norm: of Θ, before clipping.
        """
        reason = ""
        self.exploding = self.exploding + 1 if nll > self.limits.exploded_above else 0
        if not math.isfinite(nll):
            reason = "the training loss is not finite"
        elif not math.isfinite(gradient_norm):
            reason = "the gradient norm is not finite"
        elif self.exploding >= self.limits.exploded_for:
            reason = (
                f"the training NLL was above {self.limits.exploded_above:g} nats a token"
                f" for {self.exploding} updates"
            )
        return Ended(kind="diverged", update=update, reason=reason) if reason else None


def judge(update: int, nll: float, unigram_nll: float, limits: Outcome) -> Ended:
    """Judge a run that has made all its updates.

    Args:
        update: the last one.
        nll: validation NLL in nats a token, without label smoothing.
        unigram_nll: NLL of the unigram baseline, in the same unit.
        limits: the run's thresholds.
    """
    if not math.isfinite(nll):
        reason = "the final validation NLL is not finite"
        return Ended(kind="diverged", update=update, reason=reason)
    reason = f"validation NLL {nll:.3f}, unigram baseline {unigram_nll:.3f} nats a token"
    failed = nll >= unigram_nll - limits.failed_margin
    return Ended(kind="failed_to_train" if failed else "finished", update=update, reason=reason)
