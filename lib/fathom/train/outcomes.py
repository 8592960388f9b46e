"""What a training measures, and when a run has diverged or failed to train: results, not errors."""

import math
from dataclasses import dataclass

from fathom.config.schema.run import Outcome
from fathom.nn.loss import nll_by_task
from fathom.nn.network import Network
from fathom.results.training_record import Ended
from fathom.train.batches.collate import Batch
from fathom.train.two_level import Result, read_together


class DivergenceWatch:
    """Checks each update of a run for divergence."""

    def __init__(self, limits: Outcome):
        self.limits, self.exploding = limits, 0

    def check(self, update: int, nll: float, gradient_norm: float) -> Ended | None:
        """Return how the run ended if it has diverged at this update.

        Args:
            update: its number.
            nll: training NLL in nats per token.
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
                f"the training NLL was above {self.limits.exploded_above:g} nats per token"
                f" for {self.exploding} updates"
            )
        return Ended(kind="diverged", update=update, reason=reason) if reason else None


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


def validate(network: Network, batches: list[Batch], tasks: int) -> ValidationNll:
    """Return the NLL of texts without label smoothing; nothing random is drawn."""
    sums = nll_by_task(network, batches, tasks)
    by_task = (sums.nats / sums.tokens).tolist()
    return ValidationNll(float(sums.nats.sum() / sums.tokens.sum()), tuple(by_task))


@dataclass(frozen=True)
class MadeStep:
    """An update whose numbers may still be on the device."""

    update: int
    tokens: int  # target tokens of the training up to it
    result: Result


class PendingMetrics:
    """The updates since the last reading: to read each number would make the host wait."""

    def __init__(self, watch: DivergenceWatch):
        self._watch, self._made = watch, list[MadeStep]()
        self.nll = float("nan")  # training NLL of the newest update that was read, per token

    def add(self, made: MadeStep) -> None:
        """Add the newest update."""
        self._made.append(made)

    def read(self) -> tuple[MadeStep, Ended | None]:
        """Read what decides, with one transfer.

        Returns:
            The update that diverged and how the run ended, or the newest update and None. Updates
            after a diverged one count for nothing.
        """
        made, self._made = self._made, []
        results = [step.result for step in made]
        numbers = read_together(
            number for result in results for number in (result.nll, result.gradient_norm)
        )
        for step, self.nll, norm in zip(made, numbers[::2], numbers[1::2], strict=True):
            ended = self._watch.check(step.update, self.nll, norm)
            if ended:
                return step, ended
        return made[-1], None
