"""Read an encoded data set: memory-mapped ids and dictionaries, in fairseq's formats."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from fathom.data.indexed import Sentences, dictionary_path, prefix
from fathom.data.vocabulary import EOS, PAD
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.fairseq_files import fairseq_files
from fathom.io.files import sha256
from fathom.io.records import Recorded, read_record

with fairseq_files():
    from fairseq.data.dictionary import Dictionary


@dataclass(frozen=True, eq=False)
class Pairs:
    """One split of one task; sentence i of the source belongs to sentence i of the target."""

    task: int  # its index
    sources: Sentences  # with end symbols, and with the token before it if there is one
    targets: Sentences  # with end symbols
    start: int = EOS  # what the decoder reads before the first target

    def __len__(self) -> int:
        return len(self.targets)

    def source(self, sentence: int) -> torch.Tensor:
        """Return a source sentence's ids, (S,), with the end symbol."""
        return torch.from_numpy(self.sources[sentence])

    def target(self, sentence: int) -> torch.Tensor:
        """Return a target sentence's ids, (T,), with the end symbol."""
        return torch.from_numpy(self.targets[sentence])

    @property
    def source_lengths(self) -> np.ndarray:
        """Source tokens of each sentence with the end symbol, (sentences,)."""
        return self.sources.lengths

    @property
    def target_lengths(self) -> np.ndarray:
        """Target tokens of each sentence with the end symbol, (sentences,)."""
        return self.targets.lengths


@dataclass(frozen=True, eq=False)
class Tensors:
    """An encoded data set."""

    folder: Path
    tasks: tuple[str, ...]  # in the order of their indices
    # "source" and "target"; "source" alone for text without pairs, whose target is the source.
    sides: tuple[str, ...]
    source_dictionary: Dictionary
    target_dictionary: Dictionary
    tokens: tuple[str, ...]  # of target languages, entries of both dictionaries that are no text
    before: tuple[tuple[str, ...], ...]  # by task, those before its source sentences: one or none
    starts: tuple[int, ...]  # by task, what the decoder reads first: the end symbol, or a token
    unigram_nll: float  # of the unigram baseline on all validation targets, nats per token
    corpus_sha256: str  # of the corpus.json of its text
    sha256: str  # of tensors.json, which holds that of each file

    def split(self, task: str, split: str) -> Pairs:
        """Return one split of a task."""
        number, ends = self.tasks.index(task), (self.sides[0], self.sides[-1])
        source, target = (Sentences(prefix(self.folder, task, split, side)) for side in ends)
        return Pairs(number, source, target, self.starts[number])

    def splits(self, split: str) -> list[Pairs]:
        """Return one split of every task, in the order of the tasks."""
        return [self.split(task, split) for task in self.tasks]


def load(folder: Path) -> Tensors:
    """Open an encoded data set, after comparing each of its files with what was written."""
    path = folder / "tensors.json"
    summary = read_record(path)
    Recorded(path, summary["files"]).require()
    tasks, tokens = tuple(summary["tasks"]), summary.get("target_tokens", {})
    before, first = tokens.get("source", {}), tokens.get("decoder", {})
    target = read_dictionary(folder, summary["sides"][-1])
    return Tensors(
        folder=folder,
        tasks=tasks,
        sides=tuple(summary["sides"]),
        source_dictionary=read_dictionary(folder, "source"),
        target_dictionary=target,
        tokens=tuple((before | first)[task] for task in tasks if before or first),
        before=tuple((before[task],) if before else () for task in tasks),
        starts=tuple(target.index(first[task]) if first else EOS for task in tasks),
        unigram_nll=summary["unigram_nll"],
        corpus_sha256=summary["corpus_sha256"],
        sha256=sha256(path),
    )


def read_dictionary(folder: Path, side: str) -> Dictionary:
    """Read a dictionary and check the ids of its own symbols."""
    path = dictionary_path(folder, side)
    dictionary = Dictionary.load(str(path))
    if (dictionary.pad(), dictionary.eos()) != (PAD, EOS):
        raise FathomError("padding and end symbol have other ids", str(path), again(path))
    return dictionary
