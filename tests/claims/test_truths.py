"""Answers by three-valued logic, on numbers whose intervals are given."""

import math
from itertools import product

import pytest

from fathom.artefacts.claims.evidence import Interval
from fathom.artefacts.claims.expressions import parse
from fathom.artefacts.claims.judge import Judge
from fathom.artefacts.claims.quantities import Slice, Sum, Term, largest, smallest
from fathom.artefacts.claims.truths import CANCEL, NO_WORST, TOO_FEW, Logic, Truth
from fathom.io.errors import FathomError
from tests.support.refused import says

ANSWERS = ("holds", "fails", "inconclusive", "absent")


class Numbers:
    """Numbers by name; half of the interval of a difference is that of its first term."""

    def __init__(self, **values):
        """Give each name a value, (value, half), words or several of these."""
        self.halves = {}
        self.values = {name: self.quantity(name, value) for name, value in values.items()}

    def quantity(self, name, value):
        if isinstance(value, list):
            return Slice(tuple(self.quantity(f"{name}{at}", one) for at, one in enumerate(value)))
        number, half = value if isinstance(value, tuple) else (value, None)
        if isinstance(value, str):
            missing = value == "not run"
            return Sum({Term(name, math.nan if missing else -math.inf, value, missing): 1.0})
        term = Term(name, number)
        self.halves[term] = half
        return Sum({term: 1.0})

    def shown(self, reference):
        return self.values[reference.artefact]

    def interval(self, weights):
        return Interval(self.halves[next(iter(weights))], "given")

    def gains(self, term):
        return None if term.value == UNTESTED else term.value > 5


UNTESTED = -1.0


def answer(text, **values):
    """Return the answer of an expression; `a` is the table a in full."""
    for name in values:
        text = text.replace(name, f'{name}["x"]')
    return Judge(Numbers(**values), "here").truth(parse(text, "here"))


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
    ],
)
def test_the_whole_interval_decides(text, half, expected):
    assert answer(text, A=(3.0, half)).answer == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("A > 3", "fails"), ("A >= 3", "holds"), ("A < 3", "fails")]
)
def test_a_number_without_an_interval_decides_alone(text, expected):
    assert answer(text, A=3.0).answer == expected


def test_decimals_of_print_are_no_binary_fractions():
    assert answer("near(A, B, 0.2)", A=60.4, B=60.2).answer == "holds"
    assert answer("A - B >= 0.5", A=55.3, B=54.8).answer == "holds"


def test_and_or_and_not_are_those_of_three_valued_logic():
    order = {"fails": 0, "absent": 1, "inconclusive": 2, "holds": 3}
    judge = Logic(Numbers())
    for first, second in product(ANSWERS, ANSWERS):
        truths = Truth(first), Truth(second)
        assert judge.all(truths).answer == min(first, second, key=order.get)
        joined = {"holds": 0, "absent": 1, "inconclusive": 2, "fails": 3}
        assert judge.any(truths).answer == min(first, second, key=joined.get)
    opposite = [judge.no(Truth(one)).answer for one in ANSWERS]
    assert opposite == ["fails", "holds", "inconclusive", "absent"]


def test_what_fails_anyway_needs_no_run():
    assert answer("A > 5 and B > 1", A=3.0, B="not run").answer == "fails"
    assert answer("A > 2 and B > 1", A=3.0, B="not run").answer == "absent"
    assert answer("A > 2 or B > 1", A=3.0, B="not run").answer == "holds"


def test_the_largest_is_compared_one_by_one():
    rows = [(3.0, 1.0), (5.0, 1.0), (4.5, 1.0)]
    assert answer("max(A) > 3.5", A=rows).answer == "holds"
    assert answer("max(A) > 4.8", A=rows).answer == "inconclusive"
    assert answer("max(A) > 7", A=rows).answer == "fails"
    assert answer("B >= max(A)", A=rows, B=(7.0, 1.0)).answer == "holds"
    assert answer("B >= max(A)", A=rows, B=(5.5, 1.0)).answer == "inconclusive"
    assert answer("B >= max(A)", A=rows, B=(3.5, 1.0)).answer == "fails"
    assert answer("min(A) < 3.5 and min(A) > 1", A=rows).answer == "inconclusive"
    assert answer("spread(A) < 2.5", A=[1.0, 3.0, 2.0]).answer == "holds"
    assert answer("spread(A) < 2", A=[1.0, 3.0, 2.0]).answer == "fails"


def test_slices_are_compared_pair_by_pair_or_with_one_number():
    assert answer("A > B", A=[1.0, 4.0], B=[0.0, 3.0]).answer == "holds"
    assert answer("A > B", A=[1.0, 4.0], B=[0.0, 5.0]).answer == "fails"
    assert answer("A > 0.5", A=[1.0, 4.0]).answer == "holds"
    assert answer("A - B > 0.5", A=[1.0, 4.0], B=0.4).answer == "holds"


def test_slices_of_other_lengths_are_refused():
    with pytest.raises(FathomError) as raised:
        answer("A > B", A=[1.0, 2.0], B=[1.0, 2.0, 3.0])
    says("claim lengths", 2, 3, where="here").check(raised.value)


def test_measured_numbers_are_not_multiplied():
    with pytest.raises(FathomError) as raised:
        answer("A * B > 1", A=1.0, B=2.0)
    says("claim product", where="here").check(raised.value)
    assert answer("0.5 * A > 1", A=3.0).answer == "holds"


def test_a_run_without_a_result_is_the_worst():
    assert answer("A > B", A=1.0, B="diverged").answer == "holds"
    assert answer("B > A", A=1.0, B="diverged").answer == "fails"
    assert answer("A >= B", A="diverged", B="failed to train").answer == "holds"
    assert answer("A > B", A="diverged", B="failed to train").answer == "fails"
    assert answer("trained(A) and failed(B)", A=1.0, B="diverged").answer == "holds"
    assert answer("failed(A)", A=1.0).answer == "fails"
    assert answer("failed(A)", A="not run").answer == "absent"


def test_a_chain_holds_where_each_link_does():
    assert answer("0.7 <= A <= 1.1", A=0.9).answer == "holds"
    assert answer("0.7 <= A <= 1.1", A=1.2).answer == "fails"


def test_the_evidence_is_what_decides():
    truth = answer("A > B", A=[1.0, 4.0, 2.0], B=[0.0, 5.0, 1.0])
    (fact,) = truth.evidence
    assert (fact.difference, fact.relation, fact.margin) == (-1.0, ">", 0)
    assert fact.text == "A1 4 - B1 5 = -1 > 0"


def test_evidence_has_the_interval_and_reads_as_the_claim():
    (fact,) = answer("0.7 <= A - B <= 9", A=(3.0, 0.5), B=1.0).evidence[:1]
    assert (fact.low, fact.high, fact.basis) == (1.5, 2.5, "given")
    assert fact.text == "A 3 - B 1 = 2 [1.5, 2.5] >= 0.7"


def test_rising_and_significant_ask_each_cell():
    assert answer("rising(A)", A=[1.0, 2.0, 3.0]).answer == "holds"
    assert answer("rising(A)", A=[1.0, (2.0, 3.0), 3.0]).answer == "inconclusive"
    assert answer("falling(A)", A=[1.0, 2.0, 0.0]).answer == "fails"
    assert answer("significant(A)", A=[6.0, 7.0]).answer == "holds"
    assert answer("significant(A)", A=[6.0, 4.0]).answer == "fails"
    assert answer("not significant(A)", A=[4.0]).answer == "holds"


def test_fewer_than_two_numbers_have_no_answer():
    for claim in ("rising(A)", "falling(A)", "spread(A) < 2", "A >= max(A)", "A > max(A)"):
        assert answer(claim, A=[1.0]).answer == "absent", claim
        assert answer(f"{claim} and B > 1", A=[1.0], B=2.0).answer == "absent", claim
    assert answer("rising(A) or B > 1", A=[1.0], B=2.0).answer == "holds"
    (fact,) = answer("rising(A)", A=[1.0]).evidence
    assert (fact.text, fact.answer) == (TOO_FEW, "absent")


def test_a_number_among_those_that_it_is_compared_with_is_not_above_itself():
    """It was not run, since no evidence was left."""
    world = Numbers(a=30.0, b=20.0)
    logic, (best, other) = Logic(world), world.values.values()
    worst, less = best.times(-1), other.times(-1)
    for one, strict, loose, among in (
        (best, ">", ">=", largest([best, other])),
        (worst, "<", "<=", smallest([worst, less])),
    ):
        truth = logic.compare(one, strict, among)
        assert (truth.answer, len(truth.evidence)) == ("fails", 1)
        assert truth.evidence[0].text.endswith(f"a 30 {strict} itself")
        assert logic.compare(one, loose, among).answer == "holds"
    assert logic.compare(Slice((best, other)), ">", largest([best])).answer == "fails"
    (fact,) = logic.compare(largest([best, other]), ">=", best).evidence
    assert (fact.text, fact.answer) == ("a 30 >= itself", "holds")
    assert logic.compare(best, ">", largest([best])).answer == "absent"


def test_runs_that_all_diverged_are_not_close_to_each_other():
    """Equally bad runs were stable: the difference was 0."""
    for claim in ("spread(A) < 0.5", "near(B, C, 0.2)", "B - C < 0.5", "B - C > 1", "B + 1 > C"):
        truth = answer(claim, A=["diverged"] * 3, B="diverged", C="diverged")
        assert truth.answer == "inconclusive", claim
        assert {fact.basis for fact in truth.evidence} == {CANCEL}
    assert answer("spread(A) < 0.5", A=["diverged", 1.0, "diverged"]).answer == "fails"
    assert answer("near(B, C, 0.2)", B="diverged", C=1.0).answer == "fails"


def test_a_missing_result_without_a_worst_value_says_so():
    unknown = Sum({Term("depth", math.nan, "diverged"): 1.0})
    (fact,) = Logic(Numbers()).compare(unknown, ">", Sum(constant=1.0)).evidence
    assert (fact.answer, fact.basis) == ("inconclusive", NO_WORST)


def test_of_nothing_nothing_holds():
    judge = Logic(Numbers())
    assert (judge.all(()).answer, judge.any(()).answer) == ("absent", "absent")
    assert answer("trained(A)", A=[]).answer == "absent"
    assert answer("failed(A) or significant(A)", A=[]).answer == "absent"


def test_a_mean_with_a_failed_run_on_both_sides_is_not_decided():
    assert answer("mean(A) > mean(B)", A=[3.0, "diverged"], B=[1.0, "diverged"]).answer == (
        "inconclusive"
    )
    assert answer("mean(A) >= mean(B)", A=["diverged"] * 3, B=["diverged"] * 2).answer == "holds"
    assert answer("mean(A) > B", A=["diverged"] * 3, B="diverged").answer == "fails"


def test_small_numbers_are_compared_as_they_are():
    assert answer("A < B", A=1e-12, B=3e-12).answer == "holds"
    assert answer("B < A", A=1e-12, B=3e-12).answer == "fails"


def test_a_gain_without_a_test_neither_holds_nor_fails():
    for claim in ("significant(A)", "not significant(A)"):
        assert answer(claim, A=[UNTESTED]).answer == "absent"
