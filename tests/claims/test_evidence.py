"""Lines that say what decides an answer, and how far an interval reaches."""

import math

import pytest

from fathom.artefacts.claims.evidence import (
    TO_THE_WORST,
    Interval,
    bounds,
    comparison,
    seeds_text,
    sum_text,
    term_text,
)
from fathom.artefacts.claims.quantities import Sum, Term

A, B = Term("a", 3.0), Term("b", 1.0)
SOME = Term("s", 20.5, lost="2 of 5 seeds diverged", worst=-math.inf)
GIVEN, NONE = Interval(0.5, "given"), Interval(None, "alone")


def less(*terms, margin=0.0):
    """Return the first term less the others and a margin."""
    first, *others = terms
    return Sum({first: 1.0, **dict.fromkeys(others, -1.0)}, -margin)


def test_a_comparison_has_its_numbers_its_interval_and_its_margin():
    fact = comparison(less(A, B, margin=0.7), ">=", "holds", GIVEN)
    assert fact.text == "a 3 - b 1 = 2 [1.5, 2.5] >= 0.7"
    assert (fact.difference, fact.low, fact.high, fact.margin) == (2.0, 1.5, 2.5, 0.7)
    assert fact.basis == "given"
    assert comparison(less(A), ">", "holds", NONE).text == "a 3 > 0"
    assert sum_text({A: 0.5, B: -1.0}) == "0.5 × a 3 - b 1"


def test_seeds_without_a_result_are_named_and_the_interval_reaches_to_the_worst_value():
    fact = comparison(less(SOME, B), ">", "inconclusive", GIVEN)
    assert fact.text == "s 20.5 (2 of 5 seeds diverged) - b 1 = 19.5 [-inf, 20] > 0"
    assert (fact.difference, fact.low, fact.high) == (19.5, None, 20.0)
    assert fact.basis == f"given; {TO_THE_WORST}"
    assert "[-inf, 20.5]" in comparison(less(SOME), ">", "inconclusive", NONE).text


@pytest.mark.parametrize(
    ("worst", "factor", "expected"),
    [
        (-math.inf, 1.0, (-math.inf, 2.5)),
        (-math.inf, -1.0, (1.5, math.inf)),
        (math.inf, 0.5, (1.5, math.inf)),
        (math.nan, 1.0, (-math.inf, math.inf)),
    ],
)
def test_an_interval_reaches_to_where_the_worst_value_is(worst, factor, expected):
    lost = Term("l", 1.0, lost="1 of 2 seeds diverged", worst=worst)
    assert bounds(Sum({lost: factor}), 2.0, 0.5) == expected
    assert bounds(Sum({A: factor}), 2.0, 0.5) == (1.5, 2.5)


def test_what_has_no_number_has_words_and_no_interval():
    diverged = Term("d", -math.inf, "diverged (5 of 5 seeds)")
    fact = comparison(less(diverged, B), ">", "fails", NONE)
    assert fact.text == "d diverged (5 of 5 seeds) - b 1 > 0"
    assert (fact.difference, fact.low, fact.high) == (None, None, None)
    absent = Term("x", math.nan, "not run (2 of 3 seeds)", True, "1 of 3 seeds diverged")
    text = "x not run (2 of 3 seeds), 1 of 3 seeds diverged"
    assert term_text(absent) == text
    assert comparison(less(absent), ">", "absent", NONE).text == f"{text} > 0"


def test_seeds_that_may_have_a_result_later_are_counted():
    assert seeds_text(Term("a", 3.0, awaited=2)) == "a 3, 2 of its seeds not run"
    assert seeds_text(A) == "a 3"


def test_a_doubt_is_marked():
    assert term_text(Term("a", 3.0, mark="‡")) == "a 3‡"
