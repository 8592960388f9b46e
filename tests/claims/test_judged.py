"""A part of a claim: its answers, with a guard or without."""

import pytest

from fathom.artefacts.claims.judged import judge_claims
from fathom.config.claims import Claim, ClaimPart
from tests.claims.test_truths import Numbers

CLAIM = 'A["x"] > 2'
GUARD = 'G["x"] > 0.1'


def judged(ours, printed, guard=""):
    part = ClaimPart(
        name="table3",
        supports="holds",
        text=CLAIM,
        guard_text=guard,
        where="here",
        guard_where="there",
        supports_where="",
    )
    claim = Claim("p", "one", "a sentence\n of two lines", "§4", (part,))
    worlds = Numbers(**ours), Numbers(**printed)
    (one,) = judge_claims([claim], *worlds, "tiny", lambda part: False)
    return one


@pytest.mark.parametrize(
    ("value", "answer"),
    [(3.0, "holds"), (1.0, "fails"), ((2.5, 1.0), "inconclusive"), ("not run", "not run")],
)
def test_a_claim_has_an_answer_on_each_side(value, answer):
    one = judged({"A": value}, {"A": 3.0})
    assert (one.answer, one.reported_answer) == (answer, "holds")
    assert one.against == (answer == "fails")
    other = judged({"A": 3.0}, {"A": value})
    assert other.reported_answer == ("not printed" if answer == "not run" else answer)


@pytest.mark.parametrize(
    ("guard", "answer"),
    [(0.5, "holds"), (0.05, "undecided"), ((0.5, 0.6), "undecided"), ("not run", "not run")],
)
def test_a_guard_must_hold_with_its_whole_interval(guard, answer):
    one = judged({"A": 3.0, "G": guard}, {"A": 3.0, "G": 0.5}, GUARD)
    assert one.answer == answer
    assert (one.evidence[0].text.startswith("G")) == (answer != "holds")


def test_a_guard_without_printed_cells_is_passed_over():
    numbers = {"A": 3.0, "G": 0.5}
    assert judged(numbers, {"A": 3.0, "G": "not run"}, GUARD).reported_answer == "holds"
    assert judged(numbers, {"A": 3.0, "G": 0.05}, GUARD).reported_answer == "undecided"


def test_it_says_what_it_is_about():
    one = judged({"A": 3.0}, {"A": 3.0})
    assert (one.full_name, one.sentence) == ("p/one [table3]", "a sentence of two lines")
    assert (one.expression, one.artefacts, one.basis) == (CLAIM, ("A",), "given")
    assert not one.comparable
