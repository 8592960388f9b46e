import math

import numpy as np
import pytest

from fathom.data.subwords.unigram import fit, nll


def test_each_piece_counts_once_more_than_seen():
    probabilities = np.exp(fit([np.array([3, 3, 2]), np.array([2])], vocabulary=5))
    assert probabilities == pytest.approx(np.array([1, 1, 3, 3, 1]) / 9)
    assert probabilities.sum() == pytest.approx(1)


def test_without_text_every_piece_is_as_likely():
    total, tokens = nll(fit([], vocabulary=8), [np.array([0, 7, 2])])
    assert tokens == 3
    assert total == pytest.approx(3 * math.log(8))


def test_the_sum_over_all_sentences_is_the_sum_of_the_parts():
    distribution = fit([np.array([1, 2, 2])], vocabulary=4)
    first, second = np.array([1, 2]), np.array([3])
    parts = nll(distribution, [first])[0] + nll(distribution, [second])[0]
    assert nll(distribution, [first, second]) == (pytest.approx(parts), 3)


def test_frequencies_give_the_training_text_its_entropy():
    text = [np.array([0] * 900 + [1] * 100)]
    total, tokens = nll(fit(text, vocabulary=2), text)
    entropy = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    # Add-one moves the distribution by 1e-3, and the NLL by its square.
    assert total / tokens == pytest.approx(entropy, abs=1e-5)
