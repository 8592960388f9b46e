"""What a training measures, and when a run has diverged or failed to train: results, not errors."""

import math
from dataclasses import dataclass

import torch

from fathom.config.schema.run import Outcome
from fathom.nn.loss import nll_by_task
from fathom.nn.network import Batch, Network
from fathom.results.training_record import Ended
from fathom.train.optimisers import LossScale
from fathom.train.ranks import Ranks
from fathom.train.two_level import StepResult, read_together


def judge(update: int, nll: float, unigram_nll: float, limits: Outcome) -> Ended:
    """Judge a run that has made all its updates, by its NLL of validation in nats per token."""
    if not math.isfinite(nll):
        reason = "the final validation NLL is not finite"
        return Ended(kind="diverged", update=update, reason=reason)
    reason = f"validation NLL {nll:.3f}, unigram baseline {unigram_nll:.3f} nats per token"
    failed = nll >= unigram_nll - limits.failed_margin
    return Ended(kind="failed_to_train" if failed else "finished", update=update, reason=reason)


@dataclass(frozen=True)
class ValidationNll:
    """NLL in nats per token over all validation targets, and by task index."""

    nll: float
    by_task: tuple[float, ...]


def validate(network: Network, batches: list[Batch], tasks: int, ranks: Ranks) -> ValidationNll:
    """Return the NLL of texts without label smoothing; nothing random is drawn.

    Processes share the batches, and all of them get the same numbers.
    """
    share = nll_by_task(network, batches[ranks.rank :: ranks.world], tasks)
    nats, tokens = ranks.sum(torch.stack([share.nats, share.tokens]))
    return ValidationNll(float(nats.sum() / tokens.sum()), tuple((nats / tokens).tolist()))


class PendingMetrics:
    """The updates since the last reading: to read each number would make the host wait."""

    def __init__(self, limits: Outcome):
        self.limits, self._results = limits, list[StepResult]()
        # Of the newest update that was read: target tokens of the training up to it, training NLL
        # in nats per token, and the updates in a row whose NLL was above the limit.
        self.tokens, self.nll, self.exploding = 0, float("nan"), 0

    def add(self, result: StepResult) -> None:
        """Add the newest update."""
        self._results.append(result)

    def read(self) -> tuple[StepResult, Ended | None]:
        """Read what decides, with one transfer; updates after a diverged one count for nothing.

        Returns the update that diverged and how the run ended, or the newest update and None.
        """
        results, self._results = self._results, []
        numbers = read_together(
            number for result in results for number in (result.nll, result.watched)
        )
        for result, self.nll, watched in zip(results, numbers[::2], numbers[1::2], strict=True):
            self.tokens += result.tokens
            if reason := self._diverged(watched, result.loss_scale is not None):
                return result, Ended(kind="diverged", update=result.update, reason=reason)
        return results[-1], None

    def _diverged(self, watched: float, scaled: bool) -> str:
        """Return why the run has diverged at this update; empty if it has not.

        The norm of the gradient is watched, or the loss scale: then overflows alone end nothing.
        """
        limit = self.limits.exploded_above
        self.exploding = self.exploding + 1 if self.nll > limit else 0
        if scaled:
            if watched <= LossScale.LEAST:
                return f"the loss scale of fp16 reached its minimum, {LossScale.LEAST:g}"
        elif not math.isfinite(self.nll):
            return "the training loss is not finite"
        elif not math.isfinite(watched):
            return "the gradient norm is not finite"
        if self.exploding >= self.limits.exploded_for:
            above = f"the training NLL was above {limit:g} nats per token"
            return f"{above} for {self.exploding} updates"
        return ""
