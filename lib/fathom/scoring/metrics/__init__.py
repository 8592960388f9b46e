"""Metrics: what each counts in a sentence, and the score of a sum of counts; sacreBLEU does both.

Each file of this folder is a metric. Its name is that of the measurement, and it has METRIC; BLEU,
whose tokenizers tell variants apart, has `metric(tokenizer)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from fathom.config.measurement_keys import words_of
from fathom.io.errors import FathomError
from fathom.scoring.bootstrap import Statistics

BLEU, CHRF = "bleu", "chrf"


@dataclass(frozen=True)
class Metric:
    """A metric of sacreBLEU."""

    name: str  # of the measurement
    label: str  # in scores.tsv and in the counts of sentences
    unit: str  # of scores
    better: Literal["higher", "lower"]
    columns: tuple[str, ...]  # what it counts in a sentence
    sacrebleu: Callable[[str], Any]  # returns sacreBLEU's metric for a target language
    has_tokenizer: bool = False  # whether the label is a tokenizer, which is part of the key

    def key(self, split: str, gates: str, *window: str) -> str:
        """Return the measurement's key; `window` is "window" for the mean of checkpoints."""
        words = (self.name, split, gates, *window, *([self.label] if self.has_tokenizer else []))
        return ".".join(words)

    def statistics(
        self, hypotheses: list[str], references: list[str], language: str = ""
    ) -> Statistics:
        """Count in each sentence.

        Args:
            hypotheses: one line for each reference, at least one.
            references: the lines to be matched.
            language: the target language, on which Moses' tokens depend.
        """
        metric = self.sacrebleu(language)
        counts = metric._extract_corpus_statistics(hypotheses, [references])
        return self.of_counts(np.array(counts, dtype=np.int64))

    @property
    def signature(self) -> str:
        """How sacreBLEU's metric is computed."""
        return self.of_counts(np.zeros((0, len(self.columns)), dtype=np.int64)).signature

    def of_counts(self, counts: np.ndarray) -> Statistics:
        """Return what was counted before, (sentences, columns), as statistics."""
        metric = self.sacrebleu("")
        metric.num_refs = 1  # part of the signature

        def score_of(sums: np.ndarray) -> float:
            return float(metric._compute_score_from_stats([int(count) for count in sums]).score)

        signature = str(metric.get_signature())
        return Statistics(self.label, self.columns, counts, signature, score_of)


def named(name: str) -> Metric:
    """Return a metric without variants by the name of its measurement."""
    return _module(name).METRIC


def _module(name: str) -> Any:
    # Imported when it is needed: the files of metrics import this one.
    return import_module(f"{__name__}.{name}")


def of_key(key: str) -> Metric:
    """Return the metric of a measurement's key."""
    name, qualifiers = words_of(key)
    return _module(BLEU).metric(qualifiers["tokenizer"]) if name == BLEU else named(name)


def metrics_of(
    language: str, tokenizers: Sequence[str] = (), further: Sequence[str] = ()
) -> list[Metric]:
    """Return the metrics with which a target language is scored.

    Args:
        language: the target language.
        tokenizers: further ones of BLEU that a run asks for.
        further: metrics that a run asks for.
    """
    of_bleu = _module(BLEU).metrics(language, tokenizers)
    names = dict.fromkeys([CHRF, *further])
    return [*of_bleu, *(named(name) for name in names if name != BLEU)]


def measure(
    hypotheses: list[str],
    references: list[str],
    language: str,
    where: str,
    tokenizers: Sequence[str] = (),
    further: Sequence[str] = (),
) -> list[Statistics]:
    """Return the statistics of every metric with which a target language is scored.

    Args:
        hypotheses: line i answers line i of the references.
        references: the sentences in the target language.
        language: the target language.
        where: what an error names.
        tokenizers: further ones of BLEU that the run asks for.
        further: metrics that the run asks for.

    Raises:
        FathomError: there is no sentence, or not one hypothesis for each reference.
    """
    if len(hypotheses) != len(references) or not references:
        raise FathomError(
            f"{len(hypotheses)} hypotheses for {len(references)} references",
            where,
            "translate again; every sentence has one hypothesis",
        )
    metrics = metrics_of(language, tokenizers, further)
    return [metric.statistics(hypotheses, references, language) for metric in metrics]
