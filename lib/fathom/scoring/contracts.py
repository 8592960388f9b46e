"""What every metric and every reader of text promises, checked on sentences and on fetched files.

A contract yields what breaks it. A metric is checked on a few sentences; a reader on a data set of
its format, whose files it reads twice.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import isfinite
from pathlib import Path
from typing import TypeVar

import numpy as np

from fathom.config import plugins
from fathom.config.schema.dataset import SPLITS, BuiltDataset, Published
from fathom.data.split import Line, Pair, TaskText
from fathom.io.errors import FathomError, brief
from fathom.scoring.metrics import Metric

T = TypeVar("T")
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


# The contracts of a metric


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


# The contracts of a reader


@dataclass(frozen=True)
class ReadTwice:
    """The text of a data set, as a reader gave it the first and the second time."""

    card: BuiltDataset
    texts: Mapping[str, TaskText]
    again: Mapping[str, TaskText]


def tasks(read: ReadTwice) -> Iterator[str]:
    """Each task of the card has text for training, validation and test."""
    for task in read.card.tasks:
        splits = read.texts[task].splits if task in read.texts else {}
        if missing := [split for split in SPLITS if not len(splits.get(split, ()))]:
            yield f"{task} has no {', '.join(missing)}"


def sentences(read: ReadTwice) -> Iterator[str]:
    """A sentence is a `Pair`, without a pivot a `Line`, and its sides have no line break."""
    kind = Pair if read.card.pivot else Line
    for task, text in read.texts.items():
        for row in chain.from_iterable(text.splits.values()):
            if not isinstance(row, kind) or any("\n" in side for side in row):
                yield f"{task} has {brief(repr(row))}"
                break


def equal(read: ReadTwice) -> Iterator[str]:
    """Equal files give equal text."""
    for task, text in read.texts.items():
        for split, rows in text.splits.items():
            other = read.again[task].splits[split] if task in read.again else ()
            if any(first != again for first, again in zip_longest(rows, other)):
                yield f"{task} has another {split} when it is read again"


def counted(read: ReadTwice) -> Iterator[str]:
    """Of a task as many sentences are read as are kept and dropped."""
    for task, text in read.texts.items():
        kept, dropped = sum(map(len, text.splits.values())), Counter(text.dropped).total()
        if text.read != kept + dropped:
            yield f"{task}: {text.read} read, {kept} kept and {dropped} dropped"


def held_out(read: ReadTwice) -> Iterator[str]:
    """Validation and test are not in training, but for those that `shared` counts."""
    for task, text in read.texts.items() if not isinstance(read.card.split, Published) else ():
        held = {row for split in SPLITS[1:] for row in text.splits.get(split, ())}
        trained = held.intersection(text.splits.get("train", ()))
        for split in SPLITS[1:]:
            found = sum(row in trained for row in text.splits.get(split, ()))
            if found != text.shared.get(split, 0):
                yield f"{task}: {found} of {split} in training, `shared` says {text.shared}"


# By name; the sentence of each is its docstring.
METRIC = {each.__name__: each for each in (whole, finite, empty, best, repeats, order, sums)}
READER = {each.__name__: each for each in (tasks, sentences, equal, counted, held_out)}


def check_metric(metric: Metric) -> dict[str, list[str]]:
    """Return what breaks each contract of a metric, by its name."""
    return _check(METRIC, metric, metric.name)


def check_reader(card: BuiltDataset, files: Mapping[str, Path]) -> dict[str, list[str]]:
    """Return what breaks each contract of a data set's reader; `files` are its fetched sources."""
    with plugins.running(card.format):
        read = plugins.load("readers", card.format).read
        return _check(READER, ReadTwice(card, *(read(files, card) for _ in "12")), card.format)


def _check(
    contracts: Mapping[str, Callable[[T], Iterator[str]]], subject: T, where: str
) -> dict[str, list[str]]:
    found = {}
    for name, contract in contracts.items():
        try:
            with plugins.running(where):
                found[name] = [*contract(subject)]
        except FathomError as error:
            found[name] = [error.what]
    return found
