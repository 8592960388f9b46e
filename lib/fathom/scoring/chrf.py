"""chrF: matches of character n-grams; sacreBLEU counts."""

import numpy as np
from sacrebleu.metrics.chrf import CHRF

from fathom.scoring.bootstrap import Statistics

NAME = "chrF"
ORDERS = (1, 2, 3, 4, 5, 6)
COLUMNS = tuple(
    f"{what}_{order}" for order in ORDERS for what in ("hypothesis", "reference", "match")
)


def statistics(hypotheses: list[str], references: list[str]) -> Statistics:
    """Count matches of 1- to 6-grams of characters in each sentence.

    Args:
        hypotheses: one line for each reference, at least one.
        references: the lines to be matched.
    """
    counts = CHRF()._extract_corpus_statistics(hypotheses, [references])
    return of_counts(np.array(counts, dtype=np.int64))


def of_counts(counts: np.ndarray) -> Statistics:
    """Return what was counted before, (sentences, COLUMNS), as statistics."""
    metric = CHRF()
    metric.num_refs = 1  # part of the signature

    def score_of(sums: np.ndarray) -> float:
        return float(metric._compute_score_from_stats([int(count) for count in sums]).score)

    signature = str(metric.get_signature())
    return Statistics(NAME, COLUMNS, counts, signature, score_of)
