"""The interval is sacreBLEU's, from the counts alone."""

import random

import numpy as np
import pytest
import sacrebleu

from fathom.scoring import bleu, chrf
from fathom.scoring.bootstrap import SEED, Statistics, draws, interval
from tests.evaluation.conftest import ENGLISH

# sacreBLEU computes the scores of its draws in float32.
TOLERANCE = 1e-5
SAMPLES = 300


def texts():
    dice = random.Random(3)
    references = [line for line in ENGLISH for _ in range(5)]
    hypotheses = [
        " ".join(word for word in line.split(" ") if dice.random() > 0.2) for line in references
    ]
    return hypotheses, references


def spread(statistics, samples):
    return interval(statistics, draws(len(statistics.counts), samples))


@pytest.mark.parametrize("metric", ["13a", "intl", "chrF"])
def test_the_interval_is_the_one_that_sacrebleu_prints(metric):
    hypotheses, references = texts()
    peer = sacrebleu.CHRF() if metric == "chrF" else sacrebleu.BLEU(tokenize=metric)
    expected = peer.corpus_score(hypotheses, [references], n_bootstrap=SAMPLES)
    if metric == "chrF":
        found = spread(chrf.statistics(hypotheses, references), SAMPLES)
    else:
        found = spread(bleu.statistics(hypotheses, references, metric), SAMPLES)
    assert (found.high - found.low) / 2 == pytest.approx(expected._ci, abs=TOLERANCE)
    assert found.low < expected.score < found.high


def test_the_sums_of_a_draw_are_those_of_its_sentences():
    statistics = bleu.statistics(*texts(), "13a")
    sentences = len(statistics.counts)
    rows = np.random.default_rng(SEED).choice(sentences, size=(20, sentences), replace=True)
    sums = draws(sentences, 20) @ statistics.counts
    assert np.array_equal(sums, [statistics.counts[row].sum(axis=0) for row in rows])


def test_an_interval_can_be_drawn_again_and_ignores_the_environment(monkeypatch):
    statistics = bleu.statistics(*texts(), "13a")
    first = spread(statistics, SAMPLES)
    monkeypatch.setenv("SACREBLEU_SEED", "1")
    assert spread(statistics, SAMPLES) == first


def means(values):
    counts = np.array([[value, 1] for value in values])
    return Statistics("mean", ("value", "one"), counts, "", lambda sums: sums[0] / sums[1])


def test_the_standard_error_of_a_mean_is_the_textbooks():
    """With 400 values of deviation 50 the mean's is 2.5; 2,000 draws know it to about 2 %."""
    found = spread(means([0, 100] * 200), 2000)
    assert found.stderr == pytest.approx(2.5, rel=0.06)
    # 95 % of a normal lie within 1.96 deviations; the ends of 2,000 draws vary by some 4 %.
    assert found.high - found.low == pytest.approx(2 * 1.96 * 2.5, rel=0.1)


def test_the_standard_error_is_the_deviation_of_the_draws():
    statistics = means([0, 100, 30, 70, 20])
    drawn = draws(5, 6)
    scores = (drawn @ statistics.counts)[:, 0] / 5
    assert interval(statistics, drawn).stderr == pytest.approx(np.std(scores, ddof=1), rel=1e-12)


def test_equal_sentences_have_no_spread():
    found = spread(means([7] * 30), 100)
    assert (found.low, found.high, found.stderr) == (7, 7, 0)
