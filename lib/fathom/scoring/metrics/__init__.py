"""Metrics of translations: each file of this folder is one, and found by its name.

The name is that of the measurement. A file has METRIC; BLEU, whose tokenizers tell variants apart,
has `metric(tokenizer)`.
"""

from collections.abc import Sequence
from importlib import import_module

from fathom.config.measurement_keys import words_of
from fathom.io.errors import FathomError
from fathom.scoring.metric import Metric, Statistics
from fathom.scoring.metrics import bleu

BLEU, CHRF = "bleu", "chrf"


def named(name: str) -> Metric:
    """Return a metric without variants by the name of its measurement."""
    return import_module(f"{__name__}.{name}").METRIC


def of_key(key: str) -> Metric:
    """Return the metric of a measurement's key."""
    name, qualifiers = words_of(key)
    return bleu.metric(qualifiers["tokenizer"]) if name == BLEU else named(name)


def metrics_of(
    language: str, tokenizers: Sequence[str] = (), further: Sequence[str] = ()
) -> list[Metric]:
    """Return the metrics of a target language, and the tokenizers and metrics that a run adds."""
    names = dict.fromkeys([CHRF, *further])
    return [*bleu.metrics(language, tokenizers), *(named(name) for name in names if name != BLEU)]


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
