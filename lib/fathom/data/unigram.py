"""The unigram baseline: the NLL of target pieces by their frequencies alone.

One distribution for all tasks that share a target vocabulary, from their training targets with end
symbols, with one added to each count. A network whose validation NLL is no better has learned
nothing but the frequencies.
"""

from collections.abc import Iterable

import numpy as np


def fit(sentences: Iterable[np.ndarray], vocabulary: int) -> np.ndarray:
    """Return the log-probability of each piece, (V,), add-one smoothed over the vocabulary."""
    counts = np.ones(vocabulary, dtype=np.int64)
    for ids in sentences:
        np.add.at(counts, ids, 1)
    return np.log(counts) - np.log(counts.sum())


def nll(log_probabilities: np.ndarray, sentences: Iterable[np.ndarray]) -> tuple[float, int]:
    """Return the summed negative log-likelihood in nats, and the number of tokens.

    Args:
        log_probabilities: (V,) from `fit`.
        sentences: ids of validation targets, end symbols included.
    """
    nats, tokens = 0.0, 0
    for ids in sentences:
        nats -= float(log_probabilities[ids].sum())
        tokens += len(ids)
    return nats, tokens
