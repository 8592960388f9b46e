"""Sentences as ids in fairseq's memory-mapped format: one file of all ids, one of all lengths.

The files equal those of fairseq's MMapIndexedDatasetBuilder in every byte. They are read and
written here because importing fairseq takes seconds, and because a batch is gathered from the file
of all ids, not sentence by sentence.
"""

import struct
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np

from fathom.io.files import replacing

_MAGIC, _VERSION = b"MMIDIDX\x00\x00", 1
# Magic, version, code of the type of the ids, number of sentences.
_HEADER = struct.Struct("<9sQBQ")
_CODES = {np.dtype(np.uint16): 8, np.dtype(np.uint32): 9}
# fairseq's bound for ids of two bytes.
_SHORT = 65500


class Sentences:
    """One side of a split.

    Attributes:
        ids: (tokens,) the ids of all sentences in a row, memory-mapped.
        lengths: (sentences,) tokens of each sentence.
    """

    def __init__(self, prefix: Path):
        """Open the two files.

        Args:
            prefix: their path without the endings.
        """
        index = index_path(prefix).read_bytes()
        _, _, code, count = _HEADER.unpack_from(index)
        lengths = np.frombuffer(index, dtype="<i4", count=count, offset=_HEADER.size)
        kinds = {number: kind for kind, number in _CODES.items()}
        self.lengths = lengths.astype(np.int64)
        self.ids = np.asarray(np.memmap(ids_path(prefix), dtype=kinds[code], mode="r"))

    def __len__(self) -> int:
        """Return the number of sentences."""
        return len(self.lengths)

    def __getitem__(self, sentence: int) -> np.ndarray:
        """Return the ids of a sentence, (T,)."""
        start = self.starts[sentence]
        return self.ids[start : start + self.lengths[sentence]].astype(np.int64)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield the ids of each sentence, (T,)."""
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def starts(self) -> np.ndarray:
        """The place of each sentence's first id, (sentences,)."""
        return np.cumsum(self.lengths) - self.lengths


def files(prefix: Path) -> tuple[Path, Path]:
    """Return the two files of a path without the endings."""
    return ids_path(prefix), index_path(prefix)


@contextmanager
def writing(prefix: Path, entries: int) -> Iterator[Callable[[list[int]], None]]:
    """Give a function that adds the ids of one sentence; the files are there at the end.

    Args:
        prefix: the path of the two files without the endings.
        entries: of the dictionary, which choose the type of the ids.
    """
    kind = np.dtype(np.uint16 if entries < _SHORT else np.uint32)
    sizes = array("i")
    with replacing(ids_path(prefix), "wb") as stream:

        def add(ids: list[int]) -> None:
            stream.write(np.array(ids, dtype=kind).tobytes())
            sizes.append(len(ids))

        yield add
    lengths = np.array(sizes, dtype="<i4")
    places = (np.cumsum(lengths, dtype="<i8") - lengths) * kind.itemsize
    with replacing(index_path(prefix), "wb") as stream:
        stream.write(_HEADER.pack(_MAGIC, _VERSION, _CODES[kind], len(sizes)))
        stream.write(lengths.tobytes() + places.tobytes())


def ids_path(prefix: Path) -> Path:
    """Return the file of all ids."""
    return prefix.with_name(f"{prefix.name}.bin")


def index_path(prefix: Path) -> Path:
    """Return the file of all lengths."""
    return prefix.with_name(f"{prefix.name}.idx")
