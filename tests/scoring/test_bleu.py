"""BLEU in its variants is sacreBLEU's, and a Korean target is cut by its own rules."""

from importlib.metadata import version

import numpy as np
import pytest
import sacrebleu

from fathom.scoring import bleu
from fathom.scoring.moses import MosesTokens
from tests.evaluation.conftest import ENGLISH, OTHER

# sacreBLEU adds the same counts, so that only the order of floating-point sums could differ.
TOLERANCE = 1e-9


def spoilt(lines):
    return [" ".join(line.split(" ")[:-1]) for line in lines]


@pytest.mark.parametrize("variant", ["13a", "intl", "char"])
def test_the_score_and_signature_are_sacrebleus(variant):
    kept = bleu.statistics(spoilt(ENGLISH), ENGLISH, variant)
    metric = sacrebleu.BLEU(tokenize=variant)
    assert kept.value == pytest.approx(
        metric.corpus_score(spoilt(ENGLISH), [ENGLISH]).score, abs=TOLERANCE
    )
    assert 0 < kept.value < 100
    assert kept.signature == str(metric.get_signature())
    assert f"tok:{variant}|" in kept.signature
    assert kept.signature.endswith("version:2.6.0")


def test_a_perfect_hypothesis_scores_100_and_an_empty_one_0():
    """Field fault 17."""
    assert bleu.statistics(ENGLISH, ENGLISH, "13a").value == pytest.approx(100, abs=TOLERANCE)
    assert bleu.statistics([""] * len(ENGLISH), ENGLISH, "13a").value == 0


def test_a_korean_target_is_also_scored_by_morphemes():
    assert bleu.variants("kor") == ("13a", "intl", "char", "none", "ko-mecab")
    assert bleu.variants("eng") == ("13a", "intl", "char", "none")
    korean = OTHER["kor"]
    kept = bleu.statistics(spoilt(korean), korean, "ko-mecab")
    expected = sacrebleu.BLEU(tokenize="ko-mecab").corpus_score(spoilt(korean), [korean])
    assert kept.value == pytest.approx(expected.score, abs=TOLERANCE)
    assert "tok:ko-mecab-0.996/ko-" in kept.signature


def test_morphemes_give_korean_more_to_match_than_words():
    """One ending differs: a word is lost for 13a, one morpheme for ko-mecab."""
    reference = ["이 서버에서 페이지를 찾을 수 없습니다."]
    hypothesis = ["이 서버에서 페이지는 찾을 수 없습니다."]
    words, morphemes = (
        bleu.statistics(hypothesis, reference, each) for each in ("13a", "ko-mecab")
    )
    assert morphemes.counts[0][0] > words.counts[0][0]
    assert morphemes.value > words.value


def test_a_run_may_ask_for_further_tokenizers():
    assert bleu.variants("deu", ["moses"]) == ("13a", "intl", "char", "none", "moses")


def test_moses_tokens_are_scored_as_if_the_text_had_been_cut_before():
    reference = ["Das ist z.B. Nr. 5, d.h. der 3. Versuch.", "Wie geht's?"]
    hypothesis = ["Das war z.B. Nr. 5, d.h. der 3. Versuch.", "Wie geht's?"]
    score = bleu.statistics(hypothesis, reference, "moses", "deu")
    cut = [[MosesTokens("deu")(line) for line in lines] for lines in (hypothesis, reference)]
    peer = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(cut[0], [cut[1]])
    assert score.value == pytest.approx(peer.score, abs=TOLERANCE)
    assert 0 < score.value < 100
    assert (score.counts[0][:2] == [11, 11]).all()
    assert bleu.of_counts(score.counts, "moses").value == score.value


def test_moses_keeps_case_and_its_signature_names_library_and_version():
    upper, lower = ["Das Haus ist alt."], ["das haus ist alt."]
    assert bleu.statistics(lower, upper, "moses", "de").value < 100
    signature = bleu.statistics(upper, upper, "moses", "de").signature
    assert signature == bleu.of_counts(np.zeros((1, len(bleu.COLUMNS))), "moses").signature
    assert f"case:mixed|eff:no|tok:moses-sacremoses-{version('sacremoses')}|" in signature


def test_lines_that_look_tokenised_are_scored_without_a_warning(caplog):
    lines = ["this is a line ."] * 120
    assert bleu.statistics(lines, lines, "13a").value == pytest.approx(100, abs=TOLERANCE)
    assert caplog.records == []
