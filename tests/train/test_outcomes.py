"""When a run has diverged or failed to train, and its validation."""

import math

import pytest
import torch

from fathom.config.schema.run import Outcome
from fathom.train.batches.held_out import ordered
from fathom.train.outcomes import PendingMetrics, judge, validate
from fathom.train.ranks import Ranks
from fathom.train.two_level import StepResult
from tests.support.small_runs import Run, latent

LIMITS = Outcome(exploded_above=20.0, exploded_for=3, failed_margin=0.0)


@pytest.mark.parametrize(
    ("nll", "kind"),
    [
        (5.99, "finished"),
        (6.0, "failed_to_train"),
        (7.0, "failed_to_train"),
        (math.nan, "diverged"),
    ],
)
def test_a_run_no_better_than_the_unigram_has_failed_to_train(nll, kind):
    assert judge(300, nll, 6.0, LIMITS).kind == kind


def test_a_margin_asks_for_more_than_the_unigram():
    strict = Outcome(exploded_above=20.0, exploded_for=3, failed_margin=0.5)
    assert judge(300, 5.6, 6.0, strict).kind == "failed_to_train"


# NLL and gradient norm of each update, and the update that diverges.
SERIES = {
    "finite": ([(4.0, 1.0)] * 8, None),
    "NaN": ([(4.0, 1.0)] * 5 + [(math.nan, 1.0), (4.0, 1.0), (math.inf, 1.0)], 6),
    "infinite": ([(math.inf, 1.0)] * 8, 1),
    "gradient": ([(4.0, 1.0)] * 2 + [(4.0, math.inf)] * 6, 3),
    "three in a row": ([(25.0, 1.0)] * 2 + [(3.0, 1.0)] + [(25.0, 1.0)] * 5, 6),
    "at the end": ([(4.0, 1.0)] * 7 + [(math.nan, math.nan)], 8),
    # With a loss scale an overflow is skipped, and only the scale's minimum ends the run.
    "overflows": ([(math.nan, math.inf, 128.0)] * 5 + [(4.0, 1.0, 1.3e-4)] * 3, None),
    "minimum": ([(4.0, math.nan, 1.3e-4)] * 5 + [(4.0, math.inf, 7e-5)] * 3, 6),
    "scaled and exploding": ([(25.0, 1.0, 128.0)] * 8, 3),
}


def step(number, nll, norm, scale=None):
    nll, norm = torch.tensor(nll, dtype=torch.float64), torch.tensor(norm)
    scale = scale and torch.tensor(scale)
    return StepResult(number, 100, nll, 1e-3, norm, nll, None, {}, scale)


@pytest.mark.parametrize(("updates", "diverged"), SERIES.values(), ids=SERIES)
@pytest.mark.parametrize("every", [1, 2, 4, 8])
def test_a_run_diverges_at_the_same_update_however_rarely_it_is_read(updates, diverged, every):
    """The loss or the gradient is not finite, or the loss is too high for three updates."""
    pending, ended = PendingMetrics(LIMITS), None
    for number, values in enumerate(updates, start=1):
        pending.add(step(number, *values))
        if number % every == 0 and ended is None:
            last, ended = pending.read()
    assert (ended and (ended.kind, ended.update)) == (diverged and ("diverged", diverged))
    assert last.update == (diverged or 8)
    assert pending.tokens == 100 * last.update
    assert pending.nll == pytest.approx(updates[last.update - 1][0], nan_ok=True)


def test_validation_is_a_mean_over_tokens_and_does_not_depend_on_batches(tensors):
    run = Run(latent(), tensors)
    run.network.use_gates("soft")
    valid = run.tensors.splits("valid")
    small, large = (
        validate(run.network, ordered(valid, tokens), 3, Ranks(0, 1)) for tokens in (50, 5000)
    )
    # float32 sums in another order.
    assert small.nll == pytest.approx(large.nll, abs=1e-5)
    assert small.by_task == pytest.approx(large.by_task, abs=1e-5)
    tokens = [int(each.target_lengths.sum()) for each in valid]
    mean = sum(n * nll for n, nll in zip(tokens, small.by_task, strict=True)) / sum(tokens)
    assert small.nll == pytest.approx(mean)
