"""Text cut into marked pieces by a public recipe: Moses tokens, cleaning, one BPE.

It is the recipe of WMT'16's archive, bin/data/wmt16_en_de.sh of google/seq2seq (March 2017), with
sacremoses in place of `tokenizer.perl -q -l <language>`, and subword-nmt itself. The script fixes
no version of Moses and subword-nmt, so a card's `proof` decides whether the text is the archive's.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stderr, suppress
from io import StringIO
from typing import Any

from fathom.config.measurement_keys import short_code
from fathom.config.schema.dataset import SPLITS, MosesPieces, ParallelDataset
from fathom.data.split import Pair
from fathom.io.errors import FathomError

TRAIN = SPLITS[0]
# `clean-corpus-n.perl` drops a pair with a longer token, in characters.
LONGEST_WORD = 1000


def cut(
    read: dict[str, dict[str, list[Pair]]], dataset: ParallelDataset
) -> dict[str, Counter[str]]:
    """Cut the text of all tasks, by split, in place, if the card says how.

    Return how many training pairs each rule dropped, by task. The BPE learns from the cleaned
    training text: first the tasks' own languages, then the pivot. Validation and test are not
    cleaned.
    """
    dropped = {task: Counter[str]() for task in read}
    if not isinstance(rules := dataset.pieces, MosesPieces):
        return dropped
    for task, splits in read.items():
        for split, pairs in splits.items():
            splits[split] = tokens(pairs, dataset.languages_of(task))
        faults = [fault(pair, rules) for pair in splits[TRAIN]]
        dropped[task].update(filter(None, faults))
        kept = zip(splits[TRAIN], faults, strict=True)
        splits[TRAIN] = [pair for pair, broken in kept if not broken]
    lines = (pair[side] for side in (0, 1) for splits in read.values() for pair in splits[TRAIN])
    bpe = learn(lines, rules.merges, dataset.place("pieces", "merges"))
    for splits in read.values():
        for split, pairs in splits.items():
            splits[split] = [Pair(*map(bpe.segment, pair)) for pair in pairs]
    return dropped


def tokens(pairs: Iterable[Pair], languages: Iterable[str]) -> list[Pair]:
    """Return pairs as Moses' tokens with single blanks between them, escaped as Moses does."""
    # Imported where it is used: few data sets are cut here.
    from sacremoses import MosesTokenizer

    cutters: list[Any] = [MosesTokenizer(short_code(language)).tokenize for language in languages]
    return [
        Pair(*(cutter(line, return_str=True) for cutter, line in zip(cutters, pair, strict=True)))
        for pair in pairs
    ]


def fault(pair: Pair, rules: MosesPieces) -> str | None:
    """Return the first rule of `clean-corpus-n.perl` that a pair of tokens breaks, or None."""
    words = [line.split() for line in pair]
    fewest, most = sorted(map(len, words))
    if not fewest:
        return "empty"
    if most > rules.max_words:
        return "too_long"
    if most / fewest > rules.max_ratio:
        return "unequal_length"
    return "long_word" if max(len(word) for side in words for word in side) > LONGEST_WORD else None


def learn(lines: Iterable[str], merges: int, where: str) -> Any:
    """Return subword-nmt's BPE of some lines; `where` is the key of its size in messages."""
    from subword_nmt.apply_bpe import BPE
    from subword_nmt.learn_bpe import learn_bpe

    codes = StringIO()
    # It draws a bar, and without two neighbouring characters it raises a ValueError.
    with redirect_stderr(StringIO()), suppress(ValueError):
        learn_bpe(lines, codes, merges)
    learned = codes.getvalue().count("\n") - 1  # but for the line with the version
    if learned < merges:
        what = f"{merges} merges are more than the text allows"
        raise FathomError(what, where, f"write {learned} or less")
    return BPE(codes)
