import math

import pytest

from fathom.config.schema.run import Outcome
from fathom.train.outcomes import DivergenceWatch, judge

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


def test_the_count_of_exploding_updates_continues_after_a_resume():
    watch = DivergenceWatch(LIMITS)
    watch.exploding = 2
    assert watch.check(9, 25.0, 1.0).kind == "diverged"


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
