"""Metrics of translations: each file of this folder is one, and found by its name.

The name is that of the measurement. A file has METRIC; BLEU, whose tokenizers tell variants apart,
has `metric(tokenizer)`.

A corpus score is a function of sums over sentences. With the counts kept by sentence, a test set is
drawn again without a second look at any text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from fathom.config.measurement_keys import words_of
from fathom.io.errors import FathomError

BLEU, CHRF = "bleu", "chrf"


@dataclass(frozen=True)
class Statistics:
    """What one metric keeps of each sentence."""

    metric: str  # its label
    columns: tuple[str, ...]  # what each column counts
    counts: np.ndarray  # (sentences, columns) whole numbers
    signature: str  # sacreBLEU's: how the metric was computed
    score_of: Callable[[np.ndarray], float]  # of a sum over sentences, (columns,)
    # The same of many sums in one step, (sums, columns) → (sums,), to rounding; None without one.
    scores_of: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def value(self) -> float:
        """The score of all sentences."""
        return self.score_of(self.counts.sum(axis=0))


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
    scores_of: Callable[[np.ndarray], np.ndarray] | None = None  # see Statistics

    def key(self, split: str, gates: str, *window: str) -> str:
        """Return the measurement's key; `window` is "window" for the mean of checkpoints."""
        words = (self.name, split, gates, *window, *([self.label] if self.has_tokenizer else []))
        return ".".join(words)

    def statistics(
        self, hypotheses: list[str], references: list[str], language: str = ""
    ) -> Statistics:
        """Count in each sentence, at least one; Moses' tokens depend on the target language."""
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
        return Statistics(self.label, self.columns, counts, signature, score_of, self.scores_of)


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")


def named(name: str) -> Metric:
    """Return a metric without variants by the name of its measurement."""
    return _module(name).METRIC


def of_key(key: str) -> Metric:
    """Return the metric of a measurement's key."""
    name, qualifiers = words_of(key)
    return _module(BLEU).metric(qualifiers["tokenizer"]) if name == BLEU else named(name)


def metrics_of(
    language: str, tokenizers: Sequence[str] = (), further: Sequence[str] = ()
) -> list[Metric]:
    """Return the metrics of a target language, and the tokenizers and metrics that a run adds."""
    names = dict.fromkeys([CHRF, *further])
    bleus = _module(BLEU).metrics(language, tokenizers)
    return [*bleus, *(named(name) for name in names if name != BLEU)]


def measure(
    hypotheses: list[str],
    references: list[str],
    language: str,
    where: str,
    tokenizers: Sequence[str] = (),
    further: Sequence[str] = (),
) -> list[Statistics]:
    """Return the statistics of every metric with which a target language is scored.

    Hypothesis i answers reference i; `where` is what an error names, and the rest is as for
    `metrics_of`.
    """
    if len(hypotheses) != len(references) or not references:
        raise FathomError(
            f"{len(hypotheses)} hypotheses for {len(references)} references",
            where,
            "translate again; every sentence has one hypothesis",
        )
    metrics = metrics_of(language, tokenizers, further)
    return [metric.statistics(hypotheses, references, language) for metric in metrics]
