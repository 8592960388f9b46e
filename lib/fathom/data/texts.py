"""Pairs of sentences, and a task's text on its way through the room."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class Pair(NamedTuple):
    """One sentence in the task's own language and in the pivot."""

    text: str
    pivot: str


@dataclass
class TaskText:
    """A task's pairs by split, how many were read, and how many each rule dropped."""

    splits: dict[str, list[Pair]]
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
