"""Metrics are sacreBLEU's; Moses tokens are those of Moses' own script.

The lines of RECORDED are invented. Their tokens were recorded from scripts/tokenizer/tokenizer.perl
of github.com/moses-smt/mosesdecoder at commit d2b558728f08 (30 October 2018), with
`-q -l <language>`.
"""

import numpy as np
import pytest
import sacrebleu

from fathom.config.measurement_keys import ALWAYS_SCORED, METRICS, NAMES
from fathom.scoring.metrics import SacreBleu, bleu, chrf, metrics_of, named, of_key
from fathom.scoring.metrics.bleu import MosesTokens
from tests.scoring.conftest import ENGLISH, OTHER

# sacreBLEU adds the same counts, so that only the order of floating-point sums could differ.
TOLERANCE = 1e-9


def labels(*arguments):
    return [metric.label for metric in metrics_of(*arguments)]


def spoilt(lines):
    return [" ".join(line.split(" ")[:-1]) for line in lines]


@pytest.mark.parametrize("references", [ENGLISH, OTHER["kor"]], ids=["eng", "kor"])
@pytest.mark.parametrize(
    "metric",
    [each for each in metrics_of("kor", (), METRICS) if isinstance(each, SacreBleu)],
    ids=lambda metric: metric.label,
)
def test_score_and_signature_of_every_metric_are_sacrebleus(metric, references):
    hypotheses = spoilt(references)
    counted, peer = metric.statistics(hypotheses, references), metric.sacrebleu("")
    expected = peer.corpus_score(hypotheses, [references]).score
    assert counted.value == pytest.approx(expected, abs=TOLERANCE)
    assert 0 < counted.value < 100
    assert metric.signature() == str(peer.get_signature())
    assert metric.signature().endswith("version:2.6.0")
    assert counted.counts.shape == (len(references), len(metric.columns))


def test_many_sums_have_sacrebleus_scores_in_one_step():
    dice, metric = np.random.default_rng(1), bleu.metric("13a")
    total = np.maximum(dice.integers(0, 30, (3000, 1)) - np.arange(4), 0)
    correct = np.minimum.accumulate(dice.integers(-3, total + 1).clip(min=0), axis=1)
    words = total[:, :1]
    sums = np.hstack([words, words + dice.integers(-3, 9, words.shape), correct, total])
    sums = np.vstack([sums, 1000 * sums])
    one_by_one = [metric.score(row) for row in sums]
    assert 0 < np.count_nonzero(one_by_one) < len(sums)
    assert metric.scores(sums) == pytest.approx(one_by_one, abs=1e-9)


def test_a_perfect_hypothesis_scores_100_and_an_empty_one_0():
    for metric in (bleu.metric("13a"), chrf.METRIC):
        assert metric.statistics(ENGLISH, ENGLISH).value == pytest.approx(100, abs=TOLERANCE)
        assert metric.statistics([""] * len(ENGLISH), ENGLISH).value == 0


def test_ter_is_0_for_a_perfect_hypothesis_and_counts_a_shift_once():
    metric = named("ter")
    assert metric.statistics(ENGLISH, ENGLISH).value == 0
    # "on the mat" moves to the end, case ignored.
    counted = metric.statistics(["on the mat the cat sat"], ["The cat sat on the mat"])
    assert counted.counts.tolist() == [[1, 6]]
    assert metric.better == "lower"


def test_a_language_has_its_metrics_and_a_run_may_ask_for_further_ones():
    assert labels("eng") == ["13a", "intl", "char", "none", "chrF"]
    assert labels("kor") == ["13a", "intl", "char", "none", "ko-mecab", "chrF"]
    assert labels("deu", ["moses"]) == ["13a", "intl", "char", "none", "moses", "chrF"]
    assert labels("eng", (), ["ter", "chrfpp"]) == ["TER", "chrF++"]


def test_every_metric_has_the_name_of_its_file_and_keys_that_name_it():
    assert {*ALWAYS_SCORED} <= {*METRICS} <= {*NAMES}
    for metric in (bleu.metric("char"), *map(named, METRICS)):
        assert of_key(metric.key("test", "soft")) is metric
        assert of_key(metric.key("test", "soft", "window")) is metric
    assert bleu.metric("char").key("test", "soft", "window") == "bleu.test.soft.window.char"
    assert chrf.METRIC.key("valid", "plain") == "chrf.valid.plain"


def test_morphemes_give_korean_more_to_match_than_words():
    """One ending differs: a word is lost for 13a, one morpheme for ko-mecab."""
    reference = ["이 서버에서 페이지를 찾을 수 없습니다."]
    hypothesis = ["이 서버에서 페이지는 찾을 수 없습니다."]
    words, morphemes = (
        bleu.metric(name).statistics(hypothesis, reference) for name in ("13a", "ko-mecab")
    )
    assert morphemes.counts[0][0] > words.counts[0][0]
    assert morphemes.value > words.value
    assert "tok:ko-mecab-0.996/ko-" in morphemes.metric.signature()


def test_a_sentence_has_three_counts_for_each_order_of_chrf():
    counted = chrf.METRIC.statistics(["abc"], ["abd"])
    counts = dict(zip(chrf.COLUMNS, counted.counts[0].tolist(), strict=True))
    assert (counts["hypothesis_1"], counts["reference_1"], counts["match_1"]) == (3, 3, 2)
    assert (counts["hypothesis_3"], counts["reference_3"], counts["match_3"]) == (1, 1, 0)
    assert counts["hypothesis_4"] == 0
    expected = "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"
    assert chrf.METRIC.signature() == expected


def test_lines_that_look_tokenised_are_scored_without_a_warning(caplog):
    lines = ["this is a line ."] * 120
    for metric in (bleu.metric("13a"), bleu.metric("moses")):
        assert metric.statistics(lines, lines).value == pytest.approx(100, abs=TOLERANCE)
    assert caplog.records == []


# Moses


def test_moses_tokens_are_scored_as_if_the_text_had_been_cut_before():
    reference = ["Das ist z.B. Nr. 5, d.h. der 3. Versuch.", "Wie geht's?"]
    hypothesis = ["Das war z.B. Nr. 5, d.h. der 3. Versuch.", "Wie geht's?"]
    score = bleu.metric("moses").statistics(hypothesis, reference, "deu")
    cut = [[MosesTokens("deu")(line) for line in lines] for lines in (hypothesis, reference)]
    peer = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(cut[0], [cut[1]])
    assert score.value == pytest.approx(peer.score, abs=TOLERANCE)
    assert 0 < score.value < 100
    assert (score.counts[0][:2] == [11, 11]).all()


# By language, each line and then its tokens.
RECORDED = {
    "de": """\
Das ist z.B. Nr. 5, d.h. der 3. Versuch.
Das ist z.B. Nr. 5 , d.h. der 3. Versuch .
Er sagte: „Ich hab's gesehen“, bzw. 'fast'!
Er sagte : „ Ich hab &apos; s gesehen “ , bzw. &apos; fast &apos; !
Am 21. Mai 2014 kostete es 1.234,56 € (ca. 50 %).
Am 21. Mai 2014 kostete es 1.234,56 € ( ca. 50 % ) .
Die Baden-Württemberg-Frage, die US-amerikanische... und so weiter usw.
Die Baden-Württemberg-Frage , die US-amerikanische ... und so weiter usw.
Größe: 5,5 m² – schön & gut; siehe § 12 Abs. 3 GG.
Größe : 5,5 m ² – schön &amp; gut ; siehe § 12 Abs . 3 GG .
""",
    "en": """\
Hello, it's a "test" (no. 5), isn't it?
Hello , it &apos;s a &quot; test &quot; ( no . 5 ) , isn &apos;t it ?
The U.S. paid $5,300.50, i.e. 3.5% of A,B,C and 1,000 more.
The U.S. paid $ 5,300.50 , i.e. 3.5 % of A , B , C and 1,000 more .
In the 1990's the dogs' owner cried 'no' ... twice..
In the 1990 &apos;s the dogs &apos; owner cried &apos; no &apos; ... twice ..
Dr. Smith's well-known co-author lives at No. 12, e.g. at 5 p.m.
Dr. Smith &apos;s well-known co-author lives at No. 12 , e.g. at 5 p.m.
Tokens like x/y, a_b, @me, #1, C++ and me@x.org are cut; a|b & <c> [d] too!
Tokens like x / y , a _ b , @ me , # 1 , C + + and me @ x.org are cut ; a &#124; b &amp; \
&lt; c &gt; &#91; d &#93; too !
So am I.
So am I.
“Smart” quotes – and dashes—stay, it’s old; naïve café.
“ Smart ” quotes – and dashes — stay , it ’ s old ; naïve café .
""",
    "cs": """\
Žije zde cca. 5 000 lidí, tj. 12,5 % z celku.
Žije zde cca. 5 000 lidí , tj. 12,5 % z celku .
""",
    "fr": """\
L'eau de l'été n'est-elle pas « tiède » aujourd'hui ?
L&apos; eau de l&apos; été n&apos; est-elle pas « tiède » aujourd&apos; hui ?
""",
}


@pytest.mark.parametrize("language", RECORDED)
def test_a_line_is_cut_as_moses_own_script_cuts_it(language):
    lines, cut = RECORDED[language].splitlines(), MosesTokens(language)
    assert [cut(line) for line in lines[::2]] == lines[1::2]
    assert cut("") == ""


def test_a_language_of_moses_has_two_or_three_letters():
    line = "Morgen bzw. Montag."
    assert MosesTokens("deu")(line) == MosesTokens("de")(line) != MosesTokens("eng")(line)
