"""A task's sentences: duplicates, and what their hash decides: split, and part of a dealt text."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
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
    split may have such. `dropped_lines` has the numbers from 1 of dropped training pairs by rule,
    where `usable` dropped them. `parts` has the numbers from 1 of the test pairs that are in each
    part of the test set. `doubt` says why it may be another text, if a reader has a reason.
    """

    splits: Mapping[str, Collection[Sentence]]
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    shared: dict[str, int] = field(default_factory=dict)
    dropped_lines: dict[str, list[int]] = field(default_factory=dict)
    parts: dict[str, list[int]] = field(default_factory=dict)
    doubt: str = ""


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


def usable(
    pairs: Iterable[Pair], held_out: Container[str] = ()
) -> tuple[list[Pair], dict[str, list[int]]]:
    """Return the pairs that are kept, and the numbers from 1 of those that each rule drops.

    A pair is dropped for the first of: one side has no text; both are equal; an earlier pair is
    equal; `held_out` has the key of its pivot sentence.
    """
    kept: dict[Pair, None] = {}
    rules = ("empty", "untranslated", "repeated", "in_validation_or_test")
    dropped: dict[str, list[int]] = {rule: [] for rule in rules}
    for number, pair in enumerate(pairs, 1):
        if not all(pair):
            dropped["empty"].append(number)
        elif pair.text == pair.pivot:
            dropped["untranslated"].append(number)
        elif pair in kept:
            dropped["repeated"].append(number)
        elif held_out and key(pair.pivot) in held_out:
            dropped["in_validation_or_test"].append(number)
        else:
            kept[pair] = None
    return [*kept], dropped


def by_hash(
    texts: Mapping[str, Collection[Pair]], split: PairsByHash
) -> dict[str, dict[str, list[Pair]]]:
    """Return the usable pairs of each task by split, each in the order of the text.

    All pairs of all tasks with an equal pivot key are in one split. Task after task, the smallest
    first, the pivots with the least hashes give test, the next ones validation. A pivot that has
    more pairs than a task lacks there is for training. If only such are left that have too many
    for another task, they are taken, and that task holds out more than its number.
    """
    keys = {task: [key(pair.pivot) for pair in pairs] for task, pairs in texts.items()}
    of_key = {task: Counter(pivots) for task, pivots in keys.items()}
    numbers = {"test": split.test, "valid": split.valid}
    lacking = {name: Counter(dict.fromkeys(texts, number)) for name, number in numbers.items()}
    place: dict[str, str] = {}
    # A large task has sentences that no smaller one has; a small task may share all of its.
    for task in sorted(texts, key=lambda task: len(of_key[task])):
        pivots = sorted(of_key[task], key=lambda pivot: digest(pivot, split.salt))
        for in_all_tasks, pivot in product((True, False), pivots):
            if not any(left[task] for left in lacking.values()):
                break
            sizes = Counter({each: counts[pivot] for each, counts in of_key.items()})
            judged = sizes if in_all_tasks else Counter({task: sizes[task]})
            name = next((name for name, left in lacking.items() if judged <= left), None)
            if name and pivot not in place:
                place[pivot] = name
                lacking[name] -= sizes
    splits: dict[str, dict[str, list[Pair]]] = {}
    for task, pairs in texts.items():
        splits[task] = {name: [] for name in SPLITS}
        for pair, pivot in zip(pairs, keys[task], strict=True):
            splits[task][place.get(pivot, "train")].append(pair)
        if any(left[task] for left in lacking.values()) or not splits[task]["train"]:
            what = f"cannot hold out {split.valid}+{split.test} of {len(pairs):,} pairs"
            raise FathomError(what, f"split of {task}", "hold out fewer pairs, or give more text")
    return splits


def digest(text: str, salt: str, first: int = 0) -> int:
    """Return eight bytes, from the `first` on, of the SHA-256 of a salt and a text, as a number."""
    hashed = hashlib.sha256(f"{salt}\0{text}".encode()).digest()
    return int.from_bytes(hashed[first : first + 8], "big")
