"""chrF is sacreBLEU's."""

import pytest
import sacrebleu

from fathom.scoring import chrf
from tests.evaluation.conftest import ENGLISH, OTHER

# sacreBLEU adds the same counts, so that only the order of floating-point sums could differ.
TOLERANCE = 1e-9


@pytest.mark.parametrize("references", [ENGLISH, OTHER["kor"]], ids=["eng", "kor"])
def test_the_score_and_signature_are_sacrebleus(references):
    hypotheses = [line[:-4] for line in references]
    kept = chrf.statistics(hypotheses, references)
    metric = sacrebleu.CHRF()
    assert kept.value == pytest.approx(
        metric.corpus_score(hypotheses, [references]).score, abs=TOLERANCE
    )
    assert 0 < kept.value < 100
    assert kept.signature == str(metric.get_signature())
    assert kept.signature == "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"


def test_a_sentence_has_three_counts_for_each_order():
    kept = chrf.statistics(["abc"], ["abd"])
    counts = dict(zip(kept.columns, kept.counts[0].tolist(), strict=True))
    assert (counts["hypothesis_1"], counts["reference_1"], counts["match_1"]) == (3, 3, 2)
    assert (counts["hypothesis_3"], counts["reference_3"], counts["match_3"]) == (1, 1, 0)
    assert counts["hypothesis_4"] == 0


def test_an_empty_hypothesis_scores_0():
    assert chrf.statistics(["", ""], ["one", "two"]).value == 0
