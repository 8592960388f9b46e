"""The arithmetic of perplexity."""

import math

import pytest

from fathom.errors import FathomError
from fathom.evaluation.perplexity import bits, by_task, in_all, measure, of_nats


def test_a_guess_among_equals_has_as_many_as_its_perplexity():
    found = measure(10 * math.log(8), 10, "here")
    assert found.bits == pytest.approx(3.0, abs=1e-12)
    assert found.value == pytest.approx(8.0, abs=1e-12)
    assert found.tokens == 10


@pytest.mark.parametrize("nats", [0.0, 0.3, 1.0, 2.6, 9.99])
def test_powers_of_two_and_of_e_agree(nats):
    assert 2 ** bits(nats) == pytest.approx(of_nats(nats), rel=1e-12)
    assert of_nats(nats) == pytest.approx(math.e**nats, rel=1e-12)


def test_perplexity_from_a_paper_converts_both_ways():
    assert bits(math.log(2.82)) == pytest.approx(math.log2(2.82), rel=1e-12)
    assert of_nats(2.82) == pytest.approx(16.777, rel=1e-4)


def test_tokens_count_once_by_task_and_in_all():
    nats, tokens = {"kor": 30.0, "eng": 10.0}, {"eng": 10, "kor": 10, "never": 7}
    assert [each.nats for each in by_task(nats, tokens).values()] == [3.0, 1.0]
    assert list(by_task(nats, tokens)) == ["kor", "eng"]
    assert in_all(nats, tokens).nats == 2.0
    assert in_all(nats, tokens).tokens == 20
    uneven = in_all(nats, {"kor": 30, "eng": 5})
    assert uneven.nats == pytest.approx(40 / 35)
    # Not the mean of the tasks' means, which is 1.5, nor of their perplexities.
    assert uneven.value == pytest.approx(math.exp(40 / 35))


def test_a_diverged_run_has_no_finite_perplexity_and_no_exception():
    assert measure(1e6, 10, "here").value == math.inf
    assert measure(math.inf, 10, "here").value == math.inf
    assert math.isnan(measure(math.nan, 10, "here").value)


def test_no_token_is_an_error_that_says_whose():
    with pytest.raises(FathomError, match="kor"):
        by_task({"eng": 1.0, "kor": 0.0}, {"eng": 1, "kor": 0})
    with pytest.raises(FathomError, match="all tasks"):
        in_all({}, {})
