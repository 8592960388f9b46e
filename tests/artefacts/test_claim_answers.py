"""Answers of claims by three-valued logic, on numbers whose intervals are given."""

import math
from itertools import product
from statistics import NormalDist

import pytest

from fathom.artefacts.claims.functions import NUMBERS, TRUTHS
from fathom.artefacts.claims.numbers import Largest, Sum, Term, minus, plus, scaled
from fathom.artefacts.claims.truths import (
    CANCEL,
    NO_WORST,
    TO_THE_WORST,
    TOO_FEW,
    Intervals,
    Truth,
    compare,
    every,
    some,
)
from tests.artefacts.claim_numbers import UNTESTED, Numbers, answer, quantity

ANSWERS = ("holds", "fails", "inconclusive", "absent")


@pytest.mark.parametrize(
    ("text", "half", "expected"),
    [
        ("A > 2", 0.5, "holds"),
        ("A > 2", 1.0, "inconclusive"),  # 2 itself is not above 2
        ("A > 2", 1.5, "inconclusive"),
        ("A > 4", 0.5, "fails"),
        ("A > 4", 1.5, "inconclusive"),
        ("A < 4", 0.5, "holds"),
        ("A < 4", 1.5, "inconclusive"),
        ("A >= 2", 1.0, "holds"),
        ("A <= 2", 0.9, "fails"),
        ("A > 3", None, "fails"),
        ("A >= 3", None, "holds"),
        ("A < 3", None, "fails"),
    ],
)
def test_the_whole_interval_decides_or_else_the_number(text, half, expected):
    assert answer(text, A=(3.0, half)).answer == expected


TIGHT, LOOSE = (-1.0, 0.010), (-1.0, 0.026)  # a number, and its p as a normal one


@pytest.mark.parametrize(
    ("text", "values", "expected", "decide"),
    [
        # One of three may decide alone, so it needs p of .05 / 3; then one of two .05 / 2.
        ("A > 0", [TIGHT, (0.2, 0.9), (0.3, 0.8)], "fails", 1),
        ("A > 0", [LOOSE, (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("A > 0", [TIGHT, (-1.0, 0.024), (0.3, 0.8)], "fails", 2),
        ("A > 0", [TIGHT, LOOSE, (0.3, 0.8)], "fails", 1),
        ("not A > 0", [LOOSE, (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("min(A) > 0", [LOOSE, (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("max(A) < 0", [(1.0, 0.026), (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("max(A) > 0", [(1.0, 0.026), (0.2, 0.9), (0.3, 0.8)], "inconclusive", 3),
        ("max(A) > 0", [(1.0, 0.010), (0.2, 0.9), (0.3, 0.8)], "holds", 1),
        # All must agree.
        ("A > 0", [(1.0, 0.04)] * 3, "holds", 3),
        ("max(A) > 0", [(-1.0, 0.04)] * 3, "fails", 3),
        # What has no interval is none of several comparisons, and decides as before.
        ("A > 0", [LOOSE, 0.2, 0.3], "fails", 1),
        ("A > 0", [LOOSE, -0.2, (0.2, 0.9)], "fails", 1),
    ],
)
def test_one_comparison_of_several_decides_alone_by_holms_procedure(text, values, expected, decide):
    numbers = [(one[0], normal(*one)) if isinstance(one, tuple) else one for one in values]
    found = answer(text, A=numbers)
    assert (found.answer, len(found.evidence)) == (expected, decide)


def normal(value, p):
    """Return half of the interval of a normal number with this p, by the chance to be outside."""
    quantile = NormalDist().inv_cdf
    return lambda outside: abs(value) * quantile(outside / 2) / quantile(p / 2)


def test_a_comparison_that_decides_alone_shows_its_level_and_of_how_many_it_is_one():
    (fact,) = answer("A > 0", A=[(-1.0, 0.5), (0.5, 9.0)]).evidence
    assert (fact.low, fact.high, fact.basis) == (-1.5, -0.5, "97.5 % given; 2 comparisons, Holm")
    (alone,) = answer("A > 0", A=(-1.0, 0.5)).evidence
    assert alone.basis == "95 % given"


def test_and_or_and_not_are_those_of_three_valued_logic():
    order = {"fails": 0, "absent": 1, "inconclusive": 2, "holds": 3}
    joined = {"holds": 0, "absent": 1, "inconclusive": 2, "fails": 3}
    for first, second in product(ANSWERS, ANSWERS):
        truths = Truth(first), Truth(second)
        assert every(truths).answer == min(first, second, key=order.get)
        assert some(truths).answer == min(first, second, key=joined.get)
    opposites = [(~Truth(one)).answer for one in ANSWERS]
    assert opposites == ["fails", "holds", "inconclusive", "absent"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What fails anyway needs no run.
        ("A > 5 and N > 1", "fails"),
        ("A > 2 and N > 1", "absent"),
        ("A > 2 or N > 1", "holds"),
        ("A > 5 or N > 1", "absent"),
        ("not A > 5", "holds"),
        ("not N > 5", "absent"),
        # A chain holds where each link does.
        ("2 < A <= 3", "holds"),
        ("2 < A < 3", "fails"),
        ("A > D > 1", "fails"),
        # A run without a result is the worst, and equally bad as others.
        ("A > D", "holds"),
        ("D > A", "fails"),
        ("D >= D", "absent"),
        ("D >= F", "holds"),
        ("D > F", "fails"),
        ("trained(A) and failed(D)", "holds"),
        ("failed(A)", "fails"),
        ("failed(N)", "absent"),
        # Slices go pair by pair, or with one number.
        ("S > 0.5", "holds"),
        ("S > 1", "fails"),
        ("S - A > -2.5", "holds"),
        ("0.5 * A > 1", "holds"),
        ("-A < -2", "holds"),
        ("A > -0.0", "holds"),
        # Decimals of print are not binary fractions, and small numbers are not rounded to 0.
        ("near(60.4, P, 0.2)", "holds"),
        ("P + 0.2 >= 60.4", "holds"),
        ("T < 3 * T", "holds"),
        # Each number is above the one before, and each cell has its mark.
        ("rising(S)", "holds"),
        ("falling(S)", "fails"),
        ("significant(G)", "holds"),
        ("significant(S)", "fails"),
        ("not significant(A)", "holds"),
        ("significant(U)", "absent"),
        ("not significant(U)", "absent"),
        ("significant(N)", "absent"),
        # How far apart two failed runs are is not known.
        ("mean(M) > mean(K)", "inconclusive"),
        ("mean(W) >= mean(V)", "holds"),
        ("mean(W) > D", "fails"),
    ],
)
def test_an_expression_has_an_answer(text, expected):
    values = {
        "A": 3.0, "N": "not run", "D": "diverged", "F": "failed to train", "S": [1.0, 2.0, 4.0],
        "P": 60.2, "T": 1e-12, "G": [6.0, 7.0], "U": [UNTESTED], "M": [3.0, "diverged"],
        "K": [1.0, "diverged"], "W": ["diverged"] * 3, "V": ["diverged"] * 2,
    }  # fmt: skip
    used = {name: value for name, value in values.items() if name in text}
    assert answer(text, **used).answer == expected


def test_the_largest_is_compared_one_by_one():
    rows = [(3.0, 1.0), (5.0, 1.0), (4.5, 1.0)]
    assert answer("max(A) > 3.5", A=rows).answer == "holds"
    assert answer("max(A) > 4.8", A=rows).answer == "inconclusive"
    assert answer("max(A) > 7", A=rows).answer == "fails"
    assert answer("B >= max(A)", A=rows, B=(7.0, 1.0)).answer == "holds"
    assert answer("B >= max(A)", A=rows, B=(5.5, 1.0)).answer == "inconclusive"
    assert answer("B >= max(A)", A=rows, B=(3.5, 1.0)).answer == "fails"
    assert answer("min(A) < 3.5 and min(A) > 1", A=rows).answer == "inconclusive"
    assert answer("rising(A)", A=[1.0, (2.0, 3.0), 3.0]).answer == "inconclusive"
    assert answer("spread(A) < 2.5", A=[1.0, 3.0, 2.0]).answer == "holds"
    assert answer("spread(A) < 2", A=[1.0, 3.0, 2.0]).answer == "fails"


def test_fewer_than_two_numbers_have_no_answer():
    for claim in ("rising(A)", "falling(A)", "spread(A) < 2", "A >= max(A)", "A > max(A)"):
        assert answer(claim, A=[1.0]).answer == "absent", claim
        assert answer(f"{claim} and B > 1", A=[1.0], B=2.0).answer == "absent", claim
    assert answer("rising(A) or B > 1", A=[1.0], B=2.0).answer == "holds"
    (fact,) = answer("rising(A)", A=[1.0]).evidence
    assert (fact.text, fact.answer) == (TOO_FEW, "absent")
    assert (every(()).answer, some(()).answer) == ("absent", "absent")
    assert answer("failed(A) or significant(A)", A=[]).answer == "absent"


def test_a_number_among_those_that_it_is_compared_with_is_not_above_itself():
    """It was not run, since no evidence was left."""
    world = Numbers(a=30.0, b=20.0)
    best, other = world.values.values()
    cases = (
        (best, ">", ">=", Largest(1, (best, other))),
        (scaled(best, -1), "<", "<=", scaled(Largest(1, (best, other)), -1)),
    )
    for one, strict, loose, among in cases:
        truth = compare(Intervals(world.interval), one, strict, among)
        assert (truth.answer, len(truth.evidence)) == ("fails", 1)
        assert truth.evidence[0].text.endswith(f"a 30 {strict} itself")
        assert compare(Intervals(world.interval), one, loose, among).answer == "holds"
    (fact,) = compare(Intervals(world.interval), Largest(1, (best, other)), ">=", best).evidence
    assert (fact.text, fact.answer) == ("a 30 >= itself", "holds")


def test_runs_that_all_diverged_are_not_close_to_each_other():
    """Equally bad runs were stable: the difference was 0."""
    for claim in ("spread(A) < 0.5", "near(B, C, 0.2)", "B - C < 0.5", "B - C > 1", "B + 1 > C"):
        values = {"A": ["diverged"] * 3, "B": "diverged", "C": "diverged"}
        truth = answer(claim, **{name: one for name, one in values.items() if name in claim})
        assert truth.answer == "inconclusive", claim
        assert {fact.basis for fact in truth.evidence} == {CANCEL}
    assert answer("spread(A) < 0.5", A=["diverged", 1.0, "diverged"]).answer == "fails"
    assert answer("near(B, C, 0.2)", B="diverged", C=1.0).answer == "fails"


def test_runs_without_a_result_cancel_whatever_rounding_adds_to_their_weights():
    bad = [quantity(name, "diverged") for name in "uvw"]
    first, second, _ = bad
    halves = plus(scaled(first, 0.5), scaled(second, 0.5))
    assert minus(NUMBERS["mean"](tuple(bad)), halves).value == 0
    tenths = plus(scaled(first, 0.1), scaled(first, 0.2))
    assert minus(tenths, scaled(first, 0.3)) == Sum()
    assert math.isnan(plus(minus(first, second), Sum(constant=2.0)).value)


def test_the_evidence_is_what_decides_and_reads_as_the_claim():
    (fact,) = answer("A > B", A=[1.0, 4.0, 2.0], B=[0.0, 5.0, 1.0]).evidence
    assert fact.difference == -1.0
    assert fact.text == "A1 4 - B1 5 = -1 > 0"
    (fact,) = answer("0.7 <= A - B <= 9", A=(3.0, 0.5), B=1.0).evidence[:1]
    assert (fact.low, fact.high, fact.basis) == (1.5, 2.5, "95 % given")
    assert fact.text == "A 3 - B 1 = 2 [1.5, 2.5] >= 0.7"
    (fact,) = answer("0.5 * A - B > 1e-3", A=3.0, B="diverged (5 of 5 seeds)").evidence
    assert fact.text == "0.5 × A 3 - B diverged (5 of 5 seeds) > 0.001"
    assert (fact.difference, fact.low, fact.high) == (None, None, None)
    doubtful = Sum({Term("a", 3.0, mark="‡"): 1.0})
    assert answer("A > 0", A=doubtful).evidence[0].text == "a 3‡ > 0"


@pytest.mark.parametrize(
    ("worst", "factor", "low", "high"),
    [
        (-math.inf, 1.0, None, 21.0),
        (-math.inf, -1.0, None, 21.0),  # turned round, so that it reads as the claim
        (math.inf, 0.5, 9.75, None),
        (math.nan, 1.0, None, None),
    ],
)
def test_the_interval_of_seeds_that_failed_reaches_to_the_worst_value(worst, factor, low, high):
    term = Term("s", 20.5, lost="2 of 5 seeds diverged", worst=worst)
    world = Numbers()
    world.halves[term] = 0.5
    (fact,) = compare(Intervals(world.interval), Sum({term: factor}), ">", Sum()).evidence
    assert fact.answer == ("holds" if worst == math.inf else "inconclusive")
    assert "s 20.5 (2 of 5 seeds diverged)" in fact.text
    assert (fact.low, fact.basis) == (low, f"95 % given; {TO_THE_WORST}")
    assert fact.high == high


def test_a_missing_result_without_a_worst_value_says_so():
    unknown = Sum({Term("depth", math.nan, "diverged"): 1.0})
    (fact,) = answer("A > 1", A=unknown).evidence
    assert (fact.answer, fact.basis) == ("inconclusive", NO_WORST)


def test_a_gain_of_a_row_with_a_diverged_seed_is_not_certain():
    for lost, expected in (("2 of 5 seeds diverged", "inconclusive"), ("", "holds")):
        cell = Sum({Term("a", 20.0, lost=lost, gain=True): 1.0})
        assert TRUTHS["significant"](None, cell).answer == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max(S)", 4.0),
        ("max(A, 3, S)", 5.0),
        ("spread(S)", 3.0),
        ("max(abs(S - 3))", 2.0),
        ("mean(2 * S - 1)", 4.0),
    ],
)
def test_a_function_gives_a_number(text, expected):
    values = {"S": [4.0, 1.0, 2.5], "A": 5.0}
    used = {name: value for name, value in values.items() if name in text}
    near = answer(f"near({text}, {expected!r}, 1e-9)", **used)
    assert near.answer == "holds", near.evidence
