"""What every metric promises, checked on a few sentences; a contract yields what breaks it."""

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from fathom.config import plugins
from fathom.io.errors import FathomError
from fathom.scoring.metrics import Metric

REFERENCES = (
    "The cat sat on the mat.",
    "Two dogs, both tired, ran home.",
    "Δύο πόρτες του σπιτιού είναι ανοιχτές.",
    "Rain fell on 17 old roofs.",
    "Nobody opened the green door.",
)
_LAST_LEFT_OUT = tuple(line.rpartition(" ")[0] for line in REFERENCES)
# Of other sentences; and some of the sentences right, some not.
_OTHERS = REFERENCES[1:] + REFERENCES[:1]
_HALF = REFERENCES[:2] + _LAST_LEFT_OUT[2:]
_EMPTY = ("",) * len(REFERENCES)
# A network's counts may differ in the last digits with the batch; small counts must be equal.
_RTOL = 1e-5


def _counts(metric: Metric, hypotheses: Sequence[str], at: Sequence[int]) -> np.ndarray:
    """Return the counts of some of the sentences, (sentences, columns), in an order."""
    lines = [REFERENCES[each] for each in at]
    sources = [line.upper() for line in lines] if metric.needs_source else None
    return metric.count([hypotheses[each] for each in at], lines, sources, "eng")


def _score(metric: Metric, hypotheses: Sequence[str]) -> float:
    return metric.score(_counts(metric, hypotheses, range(len(hypotheses))).sum(axis=0))


def whole(metric: Metric) -> Iterator[str]:
    """Counts are whole numbers, (sentences, columns)."""
    try:
        metric.statistics(_HALF, REFERENCES, "eng", REFERENCES)
    except FathomError as error:
        yield f"{error.what}; {error.remedy}"


def finite(metric: Metric) -> Iterator[str]:
    """The score is a finite number, for some and for all sentences right."""
    for hypotheses in (_HALF, REFERENCES):
        if not isfinite(value := _score(metric, hypotheses)):
            yield f"the score is {value}"


def empty(metric: Metric) -> Iterator[str]:
    """The score is finite where one hypothesis is empty, and where all are."""
    for what, hypotheses in (("one is", ("", *_HALF[1:])), ("all are", _EMPTY)):
        if not isfinite(value := _score(metric, hypotheses)):
            yield f"{what} empty: the score is {value}"


def best(metric: Metric) -> Iterator[str]:
    """The references have the best score, and other sentences a worse one."""
    sign = 1 if metric.better == "higher" else -1
    right, spoilt, other = (
        sign * _score(metric, hypotheses) for hypotheses in (REFERENCES, _LAST_LEFT_OUT, _OTHERS)
    )
    if spoilt > right or other >= right:
        words = (f"{sign * value:.4g}" for value in (right, spoilt, other))
        yield f"{metric.better} is better: {', '.join(words)} for right, cut and other sentences"


def repeats(metric: Metric) -> Iterator[str]:
    """Equal text gives equal counts."""
    first, again = (_counts(metric, _HALF, range(len(_HALF))) for _ in range(2))
    if not np.array_equal(first, again):
        yield f"counts of equal text differ by up to {np.abs(first - again).max()}"


def order(metric: Metric) -> Iterator[str]:
    """A sentence has the same counts among others in any order, and alone."""
    if [*repeats(metric)]:
        return
    places = range(len(_HALF))
    counts, turned = _counts(metric, _HALF, places), _counts(metric, _HALF, places[::-1])[::-1]
    alone = np.concatenate([_counts(metric, _HALF, [each]) for each in places])
    for what, found in (("in the reverse order", turned), ("alone", alone)):
        if not np.allclose(found, counts, rtol=_RTOL, atol=0):
            yield f"sentences {what}: counts differ by up to {np.abs(found - counts).max()}"


def sums(metric: Metric) -> Iterator[str]:
    """`scores` of many sums are those of `score`."""
    counts = _counts(metric, _HALF, range(len(_HALF))).cumsum(axis=0)
    one_by_one = np.array([metric.score(each) for each in counts])
    if not np.allclose(found := metric.scores(counts), one_by_one, atol=1e-6, equal_nan=True):
        yield f"scores differ by up to {np.abs(found - one_by_one).max():.2g}"


# By name.
METRIC = {each.__name__: each for each in (whole, finite, empty, best, repeats, order, sums)}


def check_metric(metric: Metric) -> dict[str, list[str]]:
    """Return what breaks a contract, by its name; nothing for a metric that keeps them all."""
    broken = {}
    for name, contract in METRIC.items():
        try:
            with plugins.running(metric.name):
                found = [*contract(metric)]
        except FathomError as error:
            found = [error.what]
        if found:
            broken[name] = found
    return broken
