"""Dictionaries: one list of pieces for each side, in fairseq's format, one `piece count` per line.

A dictionary unites the pieces of all models of its side. It is ordered by falling count in the
encoded training text, then by piece, so it does not depend on the order of the tasks.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path

import numpy as np

from fathom.io.errors import FathomError
from fathom.io.files import read_lines, write_lines

# fairseq's dictionary adds these itself, before the first piece of the file.
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# Their ids in fairseq's dictionary.
BOS, PAD, EOS, UNKNOWN = range(len(SPECIAL))
# Of a dictionary of published pieces: `fairseq-preprocess --padding-factor`, its default, and what
# it calls the entries that it adds. 34,040, the size in Table 1 of latent_depth, is a multiple.
MULTIPLE, ADDED = 8, "madeupword{:04d}"


def count(sentences: Iterable[list[str]]) -> Counter[str]:
    """Count the pieces of encoded sentences."""
    return Counter(chain.from_iterable(sentences))


def unite(pieces: Iterable[str], counts: Counter[str]) -> dict[str, int]:
    """Return the pieces of a side's models with their counts, in the dictionary's order.

    A piece may never occur in the text. Counted pieces that no model lists are left out: they are
    unknown to the models too.
    """
    return {piece: counts[piece] for piece in sorted({*pieces}, key=lambda p: (-counts[p], p))}


def frequent(counts: Counter[str], threshold: int) -> dict[str, int]:
    """Return the pieces that occur at least `threshold` times, in the dictionary's order.

    As `fairseq-preprocess --thresholdsrc` does; entries that no text has make the size, with
    fairseq's own symbols, a multiple of 8.
    """
    dictionary = unite((piece for piece, times in counts.items() if times >= threshold), counts)
    number = 0
    while (len(SPECIAL) + len(dictionary)) % MULTIPLE:
        dictionary.setdefault(ADDED.format(number), 0)
        number += 1
    return dictionary


def unknown_rate(dictionary: Collection[str], sentences: Iterable[list[str]]) -> float:
    """Return the share of pieces that a dictionary lacks; 0 where there are no pieces."""
    counts = count(sentences)
    unknown = sum(times for piece, times in counts.items() if piece not in dictionary)
    return unknown / counts.total() if counts else 0.0


def write(path: Path, dictionary: dict[str, int]) -> None:
    """Write a dictionary in fairseq's format."""
    for piece in SPECIAL:
        if piece in dictionary:
            what = f"the text gave the piece {piece}, which is a symbol of the dictionary itself"
            raise FathomError(what, str(path), "remove such markup when the corpus is cleaned")
    write_lines(path, [f"{piece} {times}" for piece, times in dictionary.items()])


def add_tokens(path: Path, tokens: Collection[str]) -> None:
    """Write tokens to the end of a dictionary, in their order, with fairseq's count of 1."""
    entries = read(path)
    for token in tokens:
        if token in entries:
            what = f"the text gave the piece {token}, which is a token of a target language"
            raise FathomError(what, str(path), "remove it when the corpus is cleaned")
    write(path, entries | dict.fromkeys(tokens, 1))


def read(path: Path) -> dict[str, int]:
    """Read a dictionary that `write` wrote."""
    split = (line.rsplit(" ", 1) for line in read_lines(path))
    return {piece: int(times) for piece, times in split}


class Ids:
    """The ids of pieces, as fairseq's dictionary of the same file gives them.

    `tokens` are entries that are no text, such as the tokens of target languages.
    """

    def __init__(self, path: Path, tokens: Iterable[str] = ()):
        entries = {piece: number for number, piece in enumerate(read(path), start=len(SPECIAL))}
        self._tokens = {token: entries.pop(token) for token in dict.fromkeys(tokens)}
        self._ids = entries

    def __len__(self) -> int:
        return len(SPECIAL) + len(self._ids) + len(self._tokens)

    def of(self, pieces: list[str], *before: str) -> list[int]:
        """Return a sentence's ids with the end symbol, after the tokens that are read before it.

        SentencePiece joins neighbouring unknown characters, so that the text "</s>" can be a piece;
        it becomes the unknown symbol, never the end symbol, and no token.
        """
        tokens = (self._tokens[token] for token in before)
        return [*tokens, *(self._ids.get(piece, UNKNOWN) for piece in pieces), EOS]


# The unigram baseline: the NLL of target pieces by their frequencies alone. One distribution for
# all tasks that share a target vocabulary, from their training targets with end symbols. A network
# whose validation NLL is no better has learned nothing but the frequencies.


def unigram(sentences: Iterable[np.ndarray], vocabulary: int) -> np.ndarray:
    """Return the log-probability of each piece, (V,), add-one smoothed over the vocabulary."""
    counts = np.ones(vocabulary, dtype=np.int64)
    for ids in sentences:
        np.add.at(counts, ids, 1)
    return np.log(counts) - np.log(counts.sum())


def unigram_nll(
    log_probabilities: np.ndarray, sentences: Iterable[np.ndarray]
) -> tuple[float, int]:
    """Return the summed negative log-likelihood of target ids in nats, and the number of tokens."""
    nats, tokens = 0.0, 0
    for ids in sentences:
        nats -= float(log_probabilities[ids].sum())
        tokens += len(ids)
    return nats, tokens
