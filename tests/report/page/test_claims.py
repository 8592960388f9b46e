"""Claims on the page: answers of all parts, on our results and on the paper's own cells."""

from dataclasses import replace

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.truths import Evidence
from fathom.artefacts.page.claims import SHOWN, SIGNS, bar, page_claims, sign_of

FACT = Evidence("table “a” 3 > 2", "holds")
ONE = Judged(
    paper="p",
    name="deeper_is_better",
    part="de",
    sentence="Deeper is <better>",
    section="§4",
    expression='t["a", "x"] > t["b", "x"]',
    guard="",
    scale="tiny",
    answer="holds",
    evidence=(FACT,),
    comparable=True,
    reported_answer="not printed",
    reported_evidence=(),
    artefacts=("t",),
)


def test_every_answer_has_its_own_sign():
    assert len(set(SIGNS.values())) == len(SIGNS)
    assert (sign_of("not run").style, sign_of("not run").sign) == ("not-run", "–")


def test_parts_of_a_claim_are_one_row():
    fails = replace(ONE, part="cs", answer="fails", reported_answer="holds", guard="trained(t)")
    other = replace(ONE, name="wider_is_better", part="")
    first, second = page_claims([ONE, fails, other])
    assert [share.count for share in first.ours.shares] == [1, 1]
    assert [share.sign.words for share in first.ours.shares] == ["holds", "fails"]
    assert [part for part, *_ in first.ours.parts] == ["de", "cs"]
    assert first.against
    assert not second.against
    assert first.expressions[1].endswith(", if trained(t)")


def test_runs_of_another_scale_are_no_evidence():
    (claim,) = page_claims([replace(ONE, comparable=False)])
    assert not claim.ours.evidence
    assert claim.printed.evidence


def test_many_numbers_are_cut_and_counted():
    (claim,) = page_claims([replace(ONE, evidence=(FACT,) * (SHOWN + 3))])
    ((_, _, texts, _),) = claim.ours.parts
    assert len(texts) == SHOWN + 1
    assert texts[-1].startswith("and 3 ")


def test_a_bar_has_one_order():
    words = [share.sign.words for share in bar(["fails", "not run", "holds", "fails"])]
    assert words == ["holds", "fails", "not run"]
