"""Sentences, with or without their translation, and a task's text on its way to the corpus."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar


class Pair(NamedTuple):
    """One sentence in the task's own language and in the pivot."""

    text: str
    pivot: str


class Line(NamedTuple):
    """One sentence of a data set without pairs."""

    text: str


Sentence = TypeVar("Sentence", Pair, Line)


@dataclass
class TaskText(Generic[Sentence]):
    """A task's sentences by split, how many were read, and how many each rule dropped.

    `shared` says how many sentences of validation and test are in training, too, where a published
    split may have such.
    """

    splits: Mapping[str, Collection[Sentence]]
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    shared: dict[str, int] = field(default_factory=dict)
