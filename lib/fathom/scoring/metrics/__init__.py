"""Metrics of translations: each file of this folder has one, METRIC, and is found by its name.

A corpus score is a function of sums over sentences. With the counts kept by sentence, a test set is
drawn again without a second look at any text.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fathom.config import plugins
from fathom.config.measurement_keys import ALWAYS_SCORED, metric_named, words_of
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.records import short

Lines = Sequence[str]


class Metric(ABC):
    """A metric of translations: what it counts in each sentence, and the score of sums of counts.

    Counts are whole numbers. A metric that gives a sentence a score with decimals, as a neural
    network does, counts ("millionths", "segments"), and its score is their quotient.
    """

    name: str  # of its file and of the measurement
    unit: str  # of scores
    better: Literal["higher", "lower"]
    columns: tuple[str, ...]  # what it counts in a sentence
    decimals: int = 1  # that tables print
    needs_source: bool = False  # whether `count` is given the source sentences
    uses_gpu: bool = False  # whether a job of the workflow asks for a GPU
    tokenizer: str = ""  # where the key of the measurement names it
    of_pieces: bool = False  # whether references are joined from their pieces
    part: str = ""  # of the test set, where a part of it is scored

    @abstractmethod
    def signature(self) -> str:
        """Return how the metric is computed; scores with other signatures are not compared."""

    @abstractmethod
    def count(
        self, hypotheses: Lines, references: Lines, sources: Lines | None, language: str
    ) -> np.ndarray:
        """Count in each sentence: (sentences, columns), int64.

        The sources are None unless `needs_source`; the target language is in ISO 639-3.
        """

    @abstractmethod
    def score(self, sums: np.ndarray) -> float:
        """Return the score of sums of counts over sentences, (columns,)."""

    def scores(self, sums: np.ndarray) -> np.ndarray:
        """Return the scores of many sums, (sums, columns), as (sums,), to rounding."""
        return np.array([self.score(row) for row in sums])

    @property
    def how(self) -> str:
        """The signature; of a metric of a plugin with the first digits of its file's SHA-256."""
        places = plugins.places_of("metrics", self.name)
        return self.signature() + (f"|file:{short(sha256(places[1]))}" if places else "")

    @property
    def label(self) -> str:
        """The metric in scores.tsv and in the counts of sentences."""
        return self.name

    @property
    def whole(self) -> str:
        """The label of the same metric of the whole test set."""
        return self.label.removesuffix(f"_{self.part}") if self.part else self.label

    def variants(self, language: str, tokenizers: Sequence[str]) -> "Sequence[Metric]":
        """Return the metric for each tokenizer of a target language, those asked for last."""
        return (self,)

    def key(self, split: str, gates: str, *window: str) -> str:
        """Return the measurement's key; `window` is "window" for the mean of checkpoints."""
        return ".".join(filter(None, (self.name, split, gates, *window, self.tokenizer)))

    def statistics(
        self, hypotheses: Lines, references: Lines, language: str = "", sources: Lines | None = None
    ) -> "Statistics":
        """Return what the metric counts in each sentence, of which there is at least one."""
        texts = hypotheses, references, sources if self.needs_source else None
        counts = self.count(*texts, language)
        shape = len(hypotheses), len(self.columns)
        if counts.shape != shape or counts.dtype.kind != "i":
            what = f"`count` returned {counts.dtype} {counts.shape}"
            raise FathomError(what, f"metric {self.name}", f"return int64 {shape}")
        return Statistics(self, counts)


@dataclass(frozen=True)
class Statistics:
    """What a metric counts in each sentence; nothing in those of other parts of a test set."""

    metric: Metric
    counts: np.ndarray  # (sentences, columns) whole numbers

    @property
    def of_part(self) -> "Statistics":
        """What is counted in the sentences of the metric's part, without the others."""
        if not self.metric.part:
            return self
        return replace(self, counts=self.counts[self.counts.any(axis=1)])

    @property
    def value(self) -> float:
        """The score of all sentences."""
        return self.metric.score(self.counts.sum(axis=0))


@dataclass(frozen=True)
class SacreBleu(Metric):
    """A metric of sacreBLEU."""

    name: str
    unit: str
    better: Literal["higher", "lower"]
    columns: tuple[str, ...]
    sacrebleu: Callable[[str], Any]  # returns sacreBLEU's metric for a target language
    tokenizer: str = ""

    @property
    def label(self) -> str:
        """The tokenizer if the metric has variants, else the unit."""
        return self.tokenizer or self.unit

    @cached_property
    def _metric(self) -> Any:
        metric = self.sacrebleu("")
        metric.num_refs = 1  # part of the signature
        return metric

    def signature(self) -> str:
        """Return sacreBLEU's signature."""
        return str(self._metric.get_signature())

    def count(
        self, hypotheses: Lines, references: Lines, sources: Lines | None, language: str
    ) -> np.ndarray:
        """Count as sacreBLEU does; Moses' tokens depend on the target language."""
        metric = self.sacrebleu(language)
        counts = metric._extract_corpus_statistics(hypotheses, [references])
        return np.array(counts, dtype=np.int64)

    def score(self, sums: np.ndarray) -> float:
        """Return sacreBLEU's score of sums of counts."""
        return float(self._metric._compute_score_from_stats([int(each) for each in sums]).score)


def named(name: str) -> Metric:
    """Return a metric by the name of its measurement; one with variants is its first."""
    return metric_named(name)


def of_key(key: str) -> Metric:
    """Return the metric of a measurement's key."""
    name, qualifiers = words_of(key)
    asked = qualifiers.get("tokenizer")
    variants = named(name).variants("", [asked] if asked else [])
    return next(metric for metric in variants if asked in (None, metric.tokenizer))


def metrics_of(
    language: str, tokenizers: Sequence[str] = (), names: Sequence[str] = ALWAYS_SCORED
) -> list[Metric]:
    """Return metrics for a target language, with the tokenizers that a run adds."""
    return [metric for name in names for metric in named(name).variants(language, tokenizers)]


@dataclass(frozen=True)
class HeldOut:
    """The text of a task that hypotheses are measured against."""

    language: str  # of the references
    references: Lines
    sources: Lines | None = None
    of_pieces: Lines = ()  # the references joined from their pieces, for metrics `of_pieces`
    parts: Mapping[str, Sequence[int]] = field(default_factory=dict)  # rows, by part's name


def measure(
    hypotheses: Lines, text: HeldOut, metrics: Iterable[Metric], where: str
) -> list[Statistics]:
    """Return the statistics of each metric; `where` is what an error names.

    Hypothesis i answers reference i and translates source i.
    """
    if len(hypotheses) != len(text.references) or not hypotheses:
        what = f"{len(hypotheses)} hypotheses for {len(text.references)} references"
        raise FathomError(what, where, "translate again; every sentence has one hypothesis")
    return [_measured(hypotheses, text, metric) for metric in metrics]


def _measured(hypotheses: Lines, text: HeldOut, metric: Metric) -> Statistics:
    references = text.of_pieces if metric.of_pieces else text.references
    counted = metric.statistics(hypotheses, references, text.language, text.sources)
    if not metric.part:
        return counted
    of_part = np.zeros_like(counted.counts)
    rows = list(text.parts[metric.part])
    of_part[rows] = counted.counts[rows]
    return replace(counted, counts=of_part)
