"""BLEU by tokenizer; sacreBLEU counts."""

from collections.abc import Sequence

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from fathom.scoring import moses
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


def variants(language: str, further: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the tokenizers with which a target language is scored.

    Args:
        language: the target language.
        further: those that a run asks for.
    """
    return (*EVERYWHERE, *BY_LANGUAGE.get(language, ()), *further)


def statistics(
    hypotheses: list[str], references: list[str], variant: str, language: str = ""
) -> Statistics:
    """Count matches of 1- to 4-grams in each sentence.

    Args:
        hypotheses: one line for each reference, at least one.
        references: the lines to be matched.
        variant: how text is cut into words: sacreBLEU's name of it, or "moses".
        language: the target language, for Moses.
    """
    counts = _metric(variant, language)._extract_corpus_statistics(hypotheses, [references])
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


def _metric(variant: str, language: str = "") -> BLEU:
    if variant == moses.NAME:
        return moses.metric(language)
    # `force` keeps sacreBLEU from warning that text looks tokenised: some archives are.
    return BLEU(tokenize=variant, force=True)
