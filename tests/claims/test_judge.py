"""Expressions evaluated; what is compared and joined is in test_truths.py."""

import pytest

from fathom.artefacts.claims.expressions import parse
from fathom.artefacts.claims.judge import Judge
from fathom.io.errors import FathomError
from tests.claims.test_truths import Numbers
from tests.support.refused import says


def judge(text, **values):
    return Judge(Numbers(**values), "claims.yaml:3").truth(parse(text, "here"))


def test_an_expression_is_evaluated_from_the_inside_out():
    text = 'max(2 * A["x"] - 1) > B["x"] and not (B["x"] < 1 or trained(C["x"]))'
    assert judge(text, A=[1.0, 3.0], B=4.0, C="diverged").answer == "holds"
    assert judge(text, A=[1.0, 3.0], B=5.0, C="diverged").answer == "fails"
    assert judge(text, A=[1.0, 3.0], B=4.0, C="not run").answer == "absent"


def test_a_written_number_needs_no_evidence():
    truth = judge("1 < 2 and not 2 <= 1")
    assert (truth.answer, truth.evidence) == ("holds", ())


def test_what_does_not_fit_has_the_place_of_the_claim():
    with pytest.raises(FathomError) as raised:
        judge('A["x"] > B["x"]', A=[1.0, 2.0], B=[1.0, 2.0, 3.0])
    says("claim lengths", 2, 3, where="claims.yaml:3").check(raised.value)
