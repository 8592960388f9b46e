"""When a run has diverged or failed to train, and its validation."""

import math

import pytest
import torch

from fathom.config.schema.run import Outcome
from fathom.train.batches.held_out import ordered
from fathom.train.outcomes import DivergenceWatch, MadeStep, PendingMetrics, judge, validate
from fathom.train.two_level import Result
from tests.support.small_runs import Run, latent

LIMITS = Outcome(exploded_above=20.0, exploded_for=3, failed_margin=0.0)


@pytest.mark.parametrize(("nll", "norm"), [(math.nan, 1.0), (math.inf, 1.0), (2.0, math.nan)])
def test_a_loss_or_gradient_that_is_not_finite_has_diverged_at_that_update(nll, norm):
    """Field fault 15."""
    ending = DivergenceWatch(LIMITS).check(7, nll, norm)
    assert (ending.kind, ending.update) == ("diverged", 7)


def test_an_exploding_loss_has_diverged_after_as_many_updates_in_a_row_as_the_limit_says():
    """Field fault 15."""
    watch = DivergenceWatch(LIMITS)
    seen = [watch.check(n, nll, 1.0) for n, nll in enumerate((25, 25, 3, 25, 25, 25), start=1)]
    assert seen[:5] == [None] * 5
    assert (seen[5].kind, seen[5].update) == ("diverged", 6)


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


# NLL and gradient norm of each update.
SERIES = {
    "finite": [(4.0, 1.0)] * 8,
    "loss": [(4.0, 1.0)] * 5 + [(math.nan, 1.0), (4.0, 1.0), (math.inf, 1.0)],
    "gradient": [(4.0, 1.0)] * 2 + [(4.0, math.inf)] * 6,
    "exploding": [(25.0, 1.0)] * 2 + [(3.0, 1.0)] + [(25.0, 1.0)] * 5,
    "at the end": [(4.0, 1.0)] * 7 + [(math.nan, math.nan)],
}


def made(number, nll, norm):
    nll, norm = torch.tensor(nll, dtype=torch.float64), torch.tensor(norm)
    return MadeStep(number, 100 * number, Result(nll, 1e-3, norm, nll, None, {}))


def read_every(updates, every):
    """Return where a run of these updates ends if every n-th update is read."""
    unread = PendingMetrics(DivergenceWatch(LIMITS))
    for number, (nll, norm) in enumerate(updates, start=1):
        unread.add(made(number, nll, norm))
        if number % every == 0:
            last, ended = unread.read()
            if ended:
                return last.update, last.tokens, ended, unread.nll
    return last.update, last.tokens, None, unread.nll


@pytest.mark.parametrize("updates", SERIES.values(), ids=SERIES)
@pytest.mark.parametrize("every", [2, 4, 8])
def test_a_run_diverges_at_the_same_update_however_rarely_it_is_read(updates, every):
    # As text: NaN is not equal to itself.
    assert str(read_every(updates, every)) == str(read_every(updates, 1))


def test_validation_is_a_mean_over_tokens_and_does_not_depend_on_batches(tensors):
    run = Run(latent(), tensors)
    run.network.use_gates("soft")
    valid = run.tensors.splits("valid")
    small, large = (validate(run.network, ordered(valid, tokens), 3) for tokens in (50, 5000))
    # float32 sums in another order.
    assert small.nll == pytest.approx(large.nll, abs=1e-5)
    assert small.by_task == pytest.approx(large.by_task, abs=1e-5)
    tokens = [int(each.target_lengths.sum()) for each in valid]
    mean = sum(n * nll for n, nll in zip(tokens, small.by_task, strict=True)) / sum(tokens)
    assert small.nll == pytest.approx(mean)
