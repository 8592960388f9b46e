"""The published plain text of Wikipedia: parquet files of articles, sentences without pairs.

A code is the subdomain of a wiki, such as `en`. Row groups are read in the order of the hash of
their file's name and their number, so that articles of all ages come first, and nothing is read
beyond what a task needs. sentencex of Wikimedia splits paragraphs into sentences, by the
terminators of Unicode and lists of abbreviations. What is dropped is counted as the first of:

1. unfinished: a line that does not end as a sentence does: a heading, an item of a list;
2. no_letter: a sentence in which nothing is a letter;
3. too_long: a sentence with more characters than the card allows.

Of the sentences that are read, the distinct ones with the least hashes are validation and test;
`held_out` counts what repeats one of them, and `not_drawn` what is left at the end.
"""

import heapq
import re
import tempfile
import weakref
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO

import pyarrow
from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue] -- compiled

from fathom.config.measurement_keys import short_code
from fathom.config.schema.dataset import HeldOut, WikipediaDataset
from fathom.data import parquet
from fathom.data.archives import REMEDY
from fathom.data.clean import composed, has_letter, key
from fathom.data.split import Line, TaskText, digest
from fathom.io.errors import FathomError
from fathom.io.files import naming
from fathom.io.records import Recorded

COLUMNS: dict[str, pyarrow.DataType] = dict.fromkeys(("url", "text"), pyarrow.string())
# Full stops, question and exclamation marks of the 25 scripts, then closing quotes and brackets.
_MARKS = r".!?\u2026\u3002\uff0e\uff01\uff1f\u0964\u0965\u104b\u06d4\u061f"
_CLOSING = r"\"'\u201c\u201d\u2019\u00bb\u203a)\]\uff09\u300d\u300f\u3011"
_END = re.compile(f"[{_MARKS}][{_CLOSING}]*$")
# A sentence's line in the file: its hash in hexadecimal digits, a blank, its text.
_DIGITS = 16


def read(folders: dict[str, Path], dataset: WikipediaDataset) -> dict[str, TaskText[Line]]:
    """Read, clean and split the sentences of all tasks; each folder gets a nameless file."""
    return {
        task: _task(folders[source], wiki, task, dataset)
        for task in dataset.tasks
        for source in dataset.sources
        for wiki in dataset.codes(source, task)
    }


def _task(folder: Path, wiki: str, task: str, dataset: WikipediaDataset) -> TaskText[Line]:
    split, dropped = dataset.split, Counter[str]()
    training = _Training(folder, split, split.most(task))
    language, longest = short_code(dataset.language(task)), dataset.cleaning.max_characters
    for article in _articles(folder, wiki, split.salt):
        if training.most is not None and training.count >= training.most:
            break
        training.add(_of_article(article, language, longest, dropped))

    held = [Line(sentence) for _, sentence in sorted(training.held.items())]
    if len(held) < split.held_out or not training.count:
        what = f"{training.read:,} sentences are too few to hold {split.held_out:,} out and train"
        raise FathomError(what, folder.name, REMEDY)
    read = training.read + dropped.total()
    dropped["held_out"] = training.read - training.count - len(held)
    dropped["not_drawn"] = training.count - len(training)
    splits = {"train": training, "valid": held[: split.valid], "test": held[split.valid :]}
    return TaskText(splits, read, dropped)


def _articles(folder: Path, wiki: str, salt: str) -> Iterator[str]:
    names = Recorded.of(folder / "source.json").files
    files = {name: parquet.opened(folder / name, COLUMNS) for name in names}
    groups = [(name, group) for name, file in files.items() for group in range(file.num_row_groups)]
    groups.sort(key=lambda group: digest(f"{group[0]} {group[1]}", salt))
    site = f"https://{wiki}.wikipedia.org/"
    for name, group in groups:
        urls, texts = parquet.row_group(folder / name, files[name], group, *COLUMNS)
        for url, text in zip(urls, texts, strict=True):
            if not str(url).startswith(site):
                what = f"an article at {str(url)[:80]!r} is not one of {site}"
                where, remedy = f"{folder.name}/{name}", "correct the source's files or the code"
                raise FathomError(what, where, remedy)
            yield text or ""


def _of_article(text: str, language: str, longest: int, dropped: Counter[str]) -> list[str]:
    """Return an article's sentences; count what is dropped."""
    sentences = []
    for line in map(composed, text.split("\n")):
        if not line:
            continue
        if not _END.search(line):
            dropped["unfinished"] += 1
            continue
        for sentence in map(str.strip, segment(language, line)):
            if not has_letter(sentence):
                dropped["no_letter"] += 1
            elif len(sentence) > longest:
                dropped["too_long"] += 1
            else:
                sentences.append(sentence)
    return sentences


class _Training(Collection[Line]):
    """A task's sentences for training, in a nameless file: too many for memory.

    Those that are held out are in memory. The file is read at each pass, one pass at a time.
    """

    def __init__(self, folder: Path, split: HeldOut, most: int | None):
        self.read = 0  # sentences
        # Of these, how many do not equal one that is held out, but for case and such.
        self.count = 0
        self.most = most
        self.held: dict[int, str] = {}  # the first sentence of each of the least hashes
        self._repeats = Counter[int]()  # how many sentences have the hash of one that is held out
        # heapq keeps the smallest number first, so the least hashes are negative.
        self._least: list[int] = []
        self._folder, self._split = folder, split
        self._file = _nameless(folder)
        weakref.finalize(self, _close, self._file)

    def add(self, sentences: Collection[str]) -> None:
        """Add the sentences of an article."""
        for sentence in sentences:
            number = digest(key(sentence), self._split.salt)
            self._hold(number, sentence)
            with naming(self._folder):
                self._file.write(f"{number:0{_DIGITS}x} {sentence}\n")
        self.read += len(sentences)

    def _hold(self, number: int, sentence: str) -> None:
        """Remember a sentence while its hash is one of the least; of equal ones the first."""
        if number not in self.held:
            if len(self.held) < self._split.held_out:
                heapq.heappush(self._least, -number)
            elif number < -self._least[0]:
                above = -heapq.heapreplace(self._least, -number)
                del self.held[above]
                self.count += self._repeats.pop(above)
            else:
                self.count += 1
                return
            self.held[number] = sentence
        self._repeats[number] += 1

    def __len__(self) -> int:
        return self.count if self.most is None else min(self.most, self.count)

    def __iter__(self) -> Iterator[Line]:
        with naming(self._folder):
            self._file.seek(0)
        held = {f"{number:0{_DIGITS}x}" for number in self.held}
        lines = (line for line in self._file if line[:_DIGITS] not in held)
        return (Line(line[_DIGITS + 1 : -1]) for line in islice(lines, len(self)))

    def __contains__(self, line: object) -> bool:
        return any(line == sentence for sentence in self)


def _nameless(folder: Path) -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)


def _close(file: IO[str]) -> None:
    with suppress(OSError):
        file.close()
