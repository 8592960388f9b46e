"""Duplicates, and the split by hash of the sentence: the same for all tasks and sources."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from fathom.data.clean import key
from fathom.data.texts import Pair
from fathom.runs.datasets import SPLITS, Split


def distinct(pairs: Iterable[Pair]) -> dict[str, Pair]:
    """Return one pair for each key, sorted by key: the most frequent, and of equals the least.

    The key is the normalised pivot sentence. "The least" compares pivot first, then text.
    """
    seen: dict[str, Counter[Pair]] = defaultdict(Counter)
    for pair in pairs:
        seen[key(pair.pivot)][pair] += 1
    return {
        each: min(counts, key=lambda pair: (-counts[pair], pair.pivot, pair.text))
        for each, counts in sorted(seen.items())
    }


def split_of(sentence_key: str, split: Split) -> str:
    """Return the split of a key: a pure function of salt and key, so no task can disagree.

    Args:
        sentence_key: the normalised pivot sentence.
        split: salt, and the shares of test and validation in thousandths.
    """
    digest = hashlib.sha256(f"{split.salt}\0{sentence_key}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") % 1000
    if place < split.test_per_mille:
        return "test"
    return "valid" if place < split.test_per_mille + split.valid_per_mille else "train"


def by_key(pairs: dict[str, Pair], split: Split) -> dict[str, list[Pair]]:
    """Return pairs by split, each in the order of the keys.

    Args:
        pairs: one pair for each key, as `distinct` returns them.
        split: salt and shares.
    """
    splits: dict[str, list[Pair]] = {name: [] for name in SPLITS}
    for each, pair in pairs.items():
        splits[split_of(each, split)].append(pair)
    return splits
