"""A task's sentences: duplicates, and what their hash decides: split, and part of a dealt text."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from fathom.config.schema.dataset import SPLITS, KeyHash, PairsByHash
from fathom.data.clean import key
from fathom.io.errors import FathomError


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


def distinct(sentences: Iterable[Sentence]) -> dict[str, Sentence]:
    """Return one sentence for each key, sorted by key: the most frequent, and of equals the least.

    The key is the normalised last side: a pair's pivot, or the line itself. "The least" compares
    from the last side to the first.
    """
    counts: dict[str, Counter[Sentence]] = defaultdict(Counter)
    for sentence in sentences:
        counts[key(sentence[-1])][sentence] += 1
    return {
        sentence_key: min(of_key, key=lambda sentence: (-of_key[sentence], sentence[::-1]))
        for sentence_key, of_key in sorted(counts.items())
    }


def split_of(sentence_key: str, split: KeyHash) -> str:
    """Return the split of a key: a pure function of salt and key, so all tasks agree."""
    place = digest(sentence_key, split.salt) % 1000
    if place < split.test_per_mille:
        return "test"
    return "valid" if place < split.test_per_mille + split.valid_per_mille else "train"


def by_key(sentences: dict[str, Sentence], split: KeyHash) -> dict[str, list[Sentence]]:
    """Return sentences by split, in the order of the keys under which `distinct` returns them."""
    splits: dict[str, list[Sentence]] = {name: [] for name in SPLITS}
    for sentence_key, sentence in sentences.items():
        splits[split_of(sentence_key, split)].append(sentence)
    return splits


def deal(
    text: TaskText[Sentence], tasks: Sequence[str], split: KeyHash
) -> dict[str, TaskText[Sentence]]:
    """Deal a text's training sentences to tasks by hash; all have its validation and test."""
    dealt: dict[str, list[Sentence]] = {task: [] for task in tasks}
    for sentence in text.splits["train"]:
        # Other bytes than those of the split, which would be similar in all training sentences.
        number = digest(key(sentence[-1]), split.salt, 8)
        dealt[tasks[number % len(tasks)]].append(sentence)
    count = len(text.splits["train"])
    return {
        task: TaskText(
            {**text.splits, "train": part},
            text.read,
            text.dropped + Counter(other_part=count - len(part)),
        )
        for task, part in dealt.items()
    }


def published(splits: dict[str, list[Pair]], clean: bool) -> TaskText[Pair]:
    """Return a text in the splits of its source, and count what they share.

    Validation and test stay as they are. A pair of the training text is dropped for the first of:

    1. empty: one side has no text;
    2. in_validation_or_test: the same pair is there, too. Only where `clean` asks for it.
    """
    held_out = {pair for split in SPLITS[1:] for pair in splits[split]} if clean else set()
    train: list[Pair] = []
    dropped: Counter[str] = Counter()
    for pair in splits["train"]:
        if not all(pair):
            dropped["empty"] += 1
        elif pair in held_out:
            dropped["in_validation_or_test"] += 1
        else:
            train.append(pair)
    in_training = set(train)
    shared = {split: sum(pair in in_training for pair in splits[split]) for split in SPLITS[1:]}
    count = sum(len(pairs) for pairs in splits.values())
    return TaskText(splits | {"train": train}, count, dropped, shared)


def usable(pairs: Iterable[Pair]) -> tuple[list[Pair], dict[str, list[int]]]:
    """Return the pairs that are kept, and the numbers from 1 of those that each rule drops.

    A pair is dropped for the first of: one side has no text; both are equal; an earlier pair is.
    """
    kept: dict[Pair, None] = {}
    dropped: dict[str, list[int]] = {"empty": [], "untranslated": [], "repeated": []}
    for number, pair in enumerate(pairs, 1):
        if not all(pair):
            dropped["empty"].append(number)
        elif pair.text == pair.pivot:
            dropped["untranslated"].append(number)
        elif pair in kept:
            dropped["repeated"].append(number)
        else:
            kept[pair] = None
    return [*kept], dropped


def by_hash(pairs: Sequence[Pair], split: PairsByHash) -> dict[str, list[Pair]]:
    """Return usable pairs by split, each in the order of the text.

    Pivot sentences with the least hashes give test, the next ones validation. One with more pairs
    than its split lacks is for training.

    Raises:
        FathomError: If too few pairs can be held out, or nothing is left for training.
    """
    keys = [key(pair.pivot) for pair in pairs]
    of_key = Counter(keys)
    lacking = {"test": split.test, "valid": split.valid}
    place: dict[str, str] = {}
    for pivot in sorted(of_key, key=lambda pivot: digest(pivot, split.salt)):
        name = next((name for name, count in lacking.items() if of_key[pivot] <= count), "train")
        place[pivot] = name
        if name != "train":
            lacking[name] -= of_key[pivot]
    splits: dict[str, list[Pair]] = {name: [] for name in SPLITS}
    for pair, pivot in zip(pairs, keys, strict=True):
        splits[place[pivot]].append(pair)
    if any(lacking.values()) or not splits["train"]:
        left = max(len(pairs) - split.valid - split.test, 0)
        what = f"{split.valid}+{split.test} of {len(pairs):,} pairs leave {left:,} for training"
        raise FathomError(what, "split", "hold out fewer pairs, or give more text")
    return splits


def digest(text: str, salt: str, first: int = 0) -> int:
    """Return eight bytes, from the `first` on, of the SHA-256 of a salt and a text, as a number."""
    hashed = hashlib.sha256(f"{salt}\0{text}".encode()).digest()
    return int.from_bytes(hashed[first : first + 8], "big")
