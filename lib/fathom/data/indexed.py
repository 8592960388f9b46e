"""The files of an encoded data set: ids in fairseq's memory-mapped format.

One file has all ids, one all lengths; they equal those of fairseq's MMapIndexedDatasetBuilder in
every byte. They are read and written here because importing fairseq takes seconds, and because a
batch is gathered from the file of all ids, not sentence by sentence.
"""

import struct
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import numpy as np

from fathom.io.files import replacing

SIDES = ("source", "target")
_MAGIC, _VERSION = b"MMIDIDX\x00\x00", 1
# Magic, version, code of the type of the ids, number of sentences.
_HEADER = struct.Struct("<9sQBQ")
_CODES = {np.dtype(np.uint16): 8, np.dtype(np.uint32): 9}
# fairseq's bound for ids of two bytes.
_SHORT = 65500


def prefix(folder: Path, task: str, split: str, side: str) -> Path:
    """Return the path of a side of a split, without the endings of its two files."""
    return folder / task / f"{split}.{side}"


def dictionary_path(folder: Path, side: str) -> Path:
    """Return the path of a side's dictionary."""
    return folder / f"dictionary.{side}.txt"


def files(prefix: Path) -> tuple[Path, Path]:
    """Return the file of all ids and the file of all lengths of a path without the endings."""
    return prefix.with_name(f"{prefix.name}.bin"), prefix.with_name(f"{prefix.name}.idx")


class Sentences:
    """One side of a split, by its path without the endings."""

    def __init__(self, prefix: Path):
        ids, index = files(prefix)
        content = index.read_bytes()
        _, _, code, count = _HEADER.unpack_from(content)
        lengths = np.frombuffer(content, dtype="<i4", count=count, offset=_HEADER.size)
        kinds = {number: kind for kind, number in _CODES.items()}
        # (sentences,) tokens of each sentence.
        self.lengths = lengths.astype(np.int64)
        # (tokens,) the ids of all sentences in a row, memory-mapped.
        self.ids = np.asarray(np.memmap(ids, dtype=kinds[code], mode="r"))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, sentence: int) -> np.ndarray:
        start = self.starts[sentence]
        return self.ids[start : start + self.lengths[sentence]].astype(np.int64)

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self.__getitem__, range(len(self)))

    @cached_property
    def starts(self) -> np.ndarray:
        """The place of each sentence's first id, (sentences,)."""
        return np.cumsum(self.lengths) - self.lengths


@contextmanager
def writing(prefix: Path, entries: int) -> Iterator[Callable[[list[int]], None]]:
    """Give a function that adds the ids of one sentence; the files are there at the end.

    `prefix` is their path without the endings; the dictionary's `entries` choose the ids' type.
    """
    kind = np.dtype(np.uint16 if entries < _SHORT else np.uint32)
    sizes = array("i")
    ids_path, index_path = files(prefix)
    with replacing(ids_path, "wb") as stream:

        def add(ids: list[int]) -> None:
            stream.write(np.array(ids, dtype=kind).tobytes())
            sizes.append(len(ids))

        yield add
    lengths = np.array(sizes, dtype="<i4")
    places = (np.cumsum(lengths, dtype="<i8") - lengths) * kind.itemsize
    with replacing(index_path, "wb") as stream:
        stream.write(_HEADER.pack(_MAGIC, _VERSION, _CODES[kind], len(sizes)))
        stream.write(lengths.tobytes() + places.tobytes())
