"""Sums of measured numbers, the largest of several, and curves of several seeds."""

import math

import pytest
from pandas import DataFrame

from fathom.artefacts.claims.quantities import (
    Curve,
    Slice,
    Sum,
    Term,
    Unfit,
    constant,
    items_of,
    largest,
    smallest,
    terms_of,
)

A, B = Term("a", 3.0), Term("b", 1.0)
WORST = Term("w", -math.inf, "diverged")


def of(term):
    return Sum({term: 1.0})


def test_a_difference_keeps_what_it_is_made_of():
    difference = of(A).plus(of(B).times(-2)).plus(constant(0.5))
    assert (difference.value, difference.of_terms) == (1.5, 1.0)
    assert dict(difference.weights) == {A: 1.0, B: -2.0}


def test_a_number_less_itself_is_exactly_0():
    assert of(A).plus(of(A).times(-1)) == Sum()


def test_two_runs_without_a_result_are_equally_bad():
    other = Term("v", -math.inf, "failed to train")
    assert of(WORST).plus(of(other).times(-1)).value == 0
    assert of(WORST).plus(of(A).times(-1)).value == -math.inf
    assert of(A).plus(of(WORST).times(-1)).value == math.inf


def test_runs_without_a_result_cancel_whatever_rounding_adds_to_their_weights():
    worse = [Term(name, -math.inf, "diverged") for name in "uvw"]
    mean = Sum({term: 1 / 3 for term in worse})
    assert mean.plus(of(WORST).times(-1)).value == 0
    thrice = of(WORST).times(0.1).plus(of(WORST).times(0.2)).plus(of(WORST).times(-0.3))
    assert thrice == Sum()


def test_what_is_added_to_runs_that_cancel_is_not_known():
    other = Term("v", -math.inf, "failed to train")
    cancelled = of(WORST).plus(of(other).times(-1))
    assert math.isnan(cancelled.plus(of(A)).value)
    assert math.isnan(cancelled.plus(constant(2)).value)
    assert cancelled.plus(constant(0)).value == 0
    unknown = Term("n", math.nan, "diverged")
    assert math.isnan(of(WORST).plus(of(unknown)).value)


def test_a_small_number_is_not_rounded_to_0():
    small, smaller = Term("s", 3e-12), Term("t", 1e-12)
    assert of(small).plus(of(smaller).times(-1)).value == pytest.approx(2e-12, rel=1e-9)
    printed = of(Term("p", 60.4)).plus(of(Term("q", 60.2)).times(-1))
    assert printed.plus(constant(-0.2)).value == 0


def test_what_is_missing_makes_a_sum_missing():
    absent = Term("x", math.nan, "not run", missing=True)
    assert of(A).plus(of(absent)).missing
    assert not of(A).plus(of(WORST)).missing


def test_the_largest_becomes_the_smallest_where_it_is_subtracted():
    top = largest([of(A), of(B)])
    less = constant(10).plus(top.times(-1))
    assert (top.value, less.sign, less.value) == (3.0, -1, 7.0)
    assert [option.value for option in less.options] == [7.0, 9.0]


def test_a_spread_is_the_largest_of_all_differences():
    both = [of(A), of(B)]
    spread = largest(both).plus(smallest(both).times(-1))
    assert spread.value == 2.0
    assert {
        option.value for pair in spread.options for option in items_of(Slice(pair.options))
    } == {
        2.0,
        0.0,
        -2.0,
    }


def test_the_largest_number_is_known_where_another_is_not():
    absent = Term("x", math.nan, "not run", missing=True)
    assert largest([of(A), of(absent)]).value == 3.0
    assert math.isnan(largest([of(absent)]).value)


def test_a_curve_is_summarised_in_each_seed():
    seeds = {seed: DataFrame({"update": [1, 2], "value": [seed, 2.0 * seed]}) for seed in (1, 2, 3)}
    (term,) = Curve("c", "p/run", seeds).number("end", lambda one: one["value"].iloc[-1]).weights
    assert (dict(term.by_seed), term.value, term.name) == (
        {1: 2.0, 2: 4.0, 3: 6.0},
        4.0,
        "end of c",
    )


def test_a_curve_of_some_seeds_has_their_mean_and_the_worst_value():
    frames = {2: DataFrame({"value": [3.0, 4.0]}), 4: DataFrame({"value": [5.0, 8.0]})}
    some = Curve("c", "p/run", frames, worst=math.inf, lost="2 of 4 seeds diverged", awaited=1)
    (term,) = some.number("end", lambda one: one["value"].iloc[-1]).weights
    assert (term.value, term.worst, term.lost, term.awaited) == (6.0, math.inf, some.lost, 1)
    turned = some.mapped("-c", lambda value: -value)
    (term,) = turned.number("maximum", lambda one: one["value"].max()).weights
    assert (term.value, term.worst) == (-4.0, -math.inf)


def test_the_terms_of_the_largest_number_are_those_of_all():
    assert [*terms_of(largest([of(A), smallest([of(B), constant(1)])]))] == [A, B]


def test_a_curve_is_no_number():
    with pytest.raises(Unfit):
        items_of(Curve("c", "p/run", {1: DataFrame({"value": [1.0]})}))


def test_a_curve_that_is_not_there_is_a_missing_number():
    (number,) = items_of(Curve("c", "p/run", {}, "not run", missing=True))
    assert number.missing
