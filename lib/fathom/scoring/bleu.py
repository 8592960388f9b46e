"""BLEU by tokenizer; sacreBLEU counts."""

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from fathom.scoring.bootstrap import Statistics

EVERYWHERE = ("13a", "intl", "char", "none")
BY_LANGUAGE = {"ko": ("ko-mecab",), "kor": ("ko-mecab",)}
ORDERS = (1, 2, 3, 4)
COLUMNS = (
    "hypothesis_words",
    "reference_words",
    *(f"correct_{order}" for order in ORDERS),
    *(f"total_{order}" for order in ORDERS),
)


def variants(language: str) -> tuple[str, ...]:
    """Return the tokenizers with which a target language is scored."""
    return EVERYWHERE + BY_LANGUAGE.get(language, ())


def statistics(hypotheses: list[str], references: list[str], variant: str) -> Statistics:
    """Count matches of 1- to 4-grams in each sentence.

    Args:
        hypotheses: one line for each reference, at least one.
        references: the lines to be matched.
        variant: sacreBLEU's name of the way in which text is cut into words.
    """
    counts = _metric(variant)._extract_corpus_statistics(hypotheses, [references])
    return of_counts(np.array(counts, dtype=np.int64), variant)


def of_counts(counts: np.ndarray, variant: str) -> Statistics:
    """Return what was counted before as statistics.

    Args:
        counts: (sentences, COLUMNS).
        variant: with which they were counted.
    """
    metric = _metric(variant)
    metric.num_refs = 1  # part of the signature

    def score_of(sums: np.ndarray) -> float:
        return float(metric._compute_score_from_stats([int(count) for count in sums]).score)

    signature = str(metric.get_signature())
    return Statistics(variant, COLUMNS, counts, signature, score_of)


def _metric(variant: str) -> BLEU:
    # `force` keeps sacreBLEU from warning that text looks tokenised: some archives are.
    return BLEU(tokenize=variant, force=True)
