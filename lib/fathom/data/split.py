"""Duplicates, and the split by hash of the sentence: the same for all tasks and sources."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from fathom.data.clean import key
from fathom.data.texts import Sentence
from fathom.runs.datasets import SPLITS
from fathom.runs.text_rules import KeyHash


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
    """Return the split of a key: a pure function of salt and key, so all tasks agree.

    Args:
        sentence_key: the normalised sentence.
        split: salt, and the shares of test and validation in thousandths.
    """
    digest = hashlib.sha256(f"{split.salt}\0{sentence_key}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") % 1000
    if place < split.test_per_mille:
        return "test"
    return "valid" if place < split.test_per_mille + split.valid_per_mille else "train"


def by_key(sentences: dict[str, Sentence], split: KeyHash) -> dict[str, list[Sentence]]:
    """Return sentences by split, in the order of their keys.

    Args:
        sentences: one sentence for each key, as `distinct` returns them.
        split: salt and shares.
    """
    splits: dict[str, list[Sentence]] = {name: [] for name in SPLITS}
    for sentence_key, sentence in sentences.items():
        splits[split_of(sentence_key, split)].append(sentence)
    return splits
