"""A task's sentences that are too many for memory: some are held out, and articles are drawn.

They wait in a nameless file, which vanishes with the process. The hash of a sentence, with a salt,
decides whether it is held out; the hash of an article's title, whether it is drawn for training.
"""

import heapq
import tempfile
import weakref
from array import array
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import compress, islice
from pathlib import Path
from typing import IO

from fathom.config.schema.dataset import HeldOut
from fathom.data.clean import key
from fathom.data.split import digest
from fathom.data.texts import Line
from fathom.io.files import naming

# A sentence's line in the file: its hash in hexadecimal digits, a blank, its text.
_DIGITS = 16
_TEXT = _DIGITS + 1


class Draw:
    """The articles of a task with their sentences, of which splits are drawn once all are there."""

    def __init__(self, folder: Path, split: HeldOut):
        """Open the file.

        Args:
            folder: on a disk with room for the text.
            split: the salt, and how many distinct sentences are held out.
        """
        self._folder, self._split, self._file = folder, split, _nameless(folder)
        weakref.finalize(self, _close, self._file)
        self._titles, self._sizes = array("Q"), array("Q")
        # The least hashes; heapq keeps the smallest number first, so they are negative.
        self._least: list[int] = []
        self._held: dict[int, str] = {}

    def add(self, title: str, sentences: Collection[str]) -> None:
        """Add an article.

        Raises:
            OSError: the disk is full.
        """
        self._titles.append(digest(title, self._split.salt))
        self._sizes.append(len(sentences))
        for sentence in sentences:
            number = digest(key(sentence), self._split.salt)
            self._hold(number, sentence)
            with naming(self._folder):
                self._file.write(f"{number:0{_DIGITS}x} {sentence}\n")

    def _hold(self, number: int, sentence: str) -> None:
        """Remember a sentence if its hash is one of the least; of equal ones the first counts."""
        if number in self._held:
            return
        if len(self._held) < self._split.held_out:
            heapq.heappush(self._least, -number)
        elif number < -self._least[0]:
            del self._held[-heapq.heapreplace(self._least, -number)]
        else:
            return
        self._held[number] = sentence

    def held_out(self) -> list[Line]:
        """Return the distinct sentences with the least hashes, in the order of these."""
        return [Line(sentence) for _, sentence in sorted(self._held.items())]

    def training(self, most: int | None) -> "Training":
        """Draw articles as long as all their sentences together are no more than asked for.

        All others are deleted, so that the next dump has their room.

        Args:
            most: the most sentences; None for all.
        """
        with naming(self._folder):
            self._file.flush()
        sizes = array("Q", (len(sentences) for sentences in self._articles()))
        drawn, count = bytearray(len(sizes)), 0
        for place in sorted(range(len(sizes)), key=self._titles.__getitem__):
            if most is not None and count + sizes[place] > most:
                break
            drawn[place] = True
            count += sizes[place]
        file = _nameless(self._folder)
        with naming(self._folder):
            for sentences in compress(self._articles(), drawn):
                file.writelines(f"{sentence}\n" for sentence in sentences)
            file.flush()
        self._file.close()
        return Training(file, count, sum(sizes))

    def _articles(self) -> Iterator[list[str]]:
        """Yield the sentences of each article, in the order in which they were added.

        Those that equal one that is held out, but for case and punctuation, are left out.
        """
        held = {f"{number:0{_DIGITS}x}" for number in self._held}
        self._file.seek(0)
        for size in self._sizes:
            lines = islice(self._file, size)
            yield [line[_TEXT:-1] for line in lines if line[:_DIGITS] not in held]


class Training(Collection[Line]):
    """The sentences of the drawn articles, read from a file at each pass, one pass at a time.

    Attributes:
        left: how many sentences all articles have, without those that are held out.
    """

    def __init__(self, file: IO[str], count: int, left: int):
        """Keep the file, and how many sentences are in it and in all articles."""
        self._file, self._count, self.left = file, count, left
        weakref.finalize(self, _close, file)

    def __len__(self) -> int:
        """Return the number of sentences."""
        return self._count

    def __iter__(self) -> Iterator[Line]:
        """Yield the sentences in the order of the dump."""
        self._file.seek(0)
        return (Line(line[:-1]) for line in self._file)

    def __contains__(self, line: object) -> bool:
        """Return whether a sentence is among them."""
        return any(own == line for own in self)


def _nameless(folder: Path) -> IO[str]:
    """Open a file that vanishes when it is closed."""
    return tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)


def _close(file: IO[str]) -> None:
    """Close a file that nobody reads again; a full disk no longer matters."""
    with suppress(OSError):
        file.close()
