"""Adopted text: a user's files, which stay where they are, and the cards that make them a data set.

A card has hashes of what no user may edit in its first line, so that no edit is overwritten.
"""

import gzip
import os
import re
import shlex
import zlib
from collections.abc import Iterable, Mapping
from itertools import accumulate
from math import log
from pathlib import Path
from typing import Any

from fathom.config.schema.dataset import SPLITS, ParallelDataset
from fathom.config.yaml_values import as_yaml, read
from fathom.data.archives import BEGINNINGS, file_and_column, opened, text_of
from fathom.data.clean import has_invisible
from fathom.data.fetch import require_unchanged
from fathom.data.readers.parallel import texts
from fathom.data.split import Pair, TaskText, usable
from fathom.io.errors import FathomError, printable
from fathom.io.files import require_file, sha256, write_text
from fathom.io.records import identity, short

# A pair is worth a look that has more words, or a side that is longer than this many of the other.
MOST_WORDS, MOST_RATIO = 250, 3
_SHOWN = 40  # characters of a side of the example
# What is said of pairs and lines that are dropped, or kept but worth a look.
KINDS = {
    "empty": "with an empty side",
    "untranslated": "equal on both sides",
    "repeated": "that repeat others",
    "in_validation_or_test": "with a held-out sentence in the second language",
    "crlf_files": "files whose lines all end in CRLF",
    "crlf": "lines that end in CRLF",
    "invisible": "pairs with characters that nobody sees (zero width, soft hyphen)",
    "words": f"pairs with more than {MOST_WORDS} words on a side",
    "ratio": f"pairs that differ in length by more than {MOST_RATIO} to 1",
    "both": "pairs of validation that are in test, too",
}
_REMEDY = "convert it to UTF-8, for example: iconv -f <its encoding> -t utf8"
# Programs that unpack files of other kinds than .gz.
_UNPACKS = {".xz": "unxz", ".bz2": "bunzip2", ".zip": "unzip", ".zst": "unzstd"}
# The licence on the cards, until a user writes another.
_TERMS = "private"
_EDITABLE = ("title", "citation", "licence", "notice")
_HEAD = "# Written by `fathom adopt`. Edit only title, citation, licence, notice. Hashes: "
Card = dict[str, Any]
Files = Mapping[str, tuple[Path, ...]]


class AdoptedText:
    """A data set of a user's files: its card, a source's card for each task, and their pairs."""

    def __init__(self, folder: Path):
        """Read the cards in the folder of a study, if there are any; refuse edited ones."""
        self.folder, self.name = folder, folder.name
        path = self.path("datasets", self.name)
        self.card: Card = _read_card(path) if path.exists() else {}
        names = self.card.get("sources", ())
        self.sources = {name: _read_card(self.path("sources", name)) for name in names}
        self.pairs: dict[tuple[str, tuple[str, str]], list[Pair]] = {}
        self._crlf: dict[Path, list[int]] = {}

    def path(self, kind: str, name: str) -> Path:
        """Return where a card of the data set is."""
        return self.folder / kind / f"{name}.yaml"

    def add(self, codes: tuple[str, str], files: Files, columns: Iterable[str]) -> None:
        """Add a task, which is named by the first language of `codes`; the second is the pivot.

        By split there is a file for each language, or for training one with `columns` from 1.
        """
        task, pivot = codes
        if self.card:
            self.card.pop("translates", None)  # each run says its direction
        else:
            self.card = {"title": f"{self.name}, adopted text", "citation": "text of the user"}
            self.card |= {"licence": _TERMS, "format": "parallel", "pivot": pivot, "tasks": []}
            self.card |= {"translates": [*codes], "sources": {}, "max_shared": 1.0}
            # The salt is that of all adopted text, so that longer text holds out nearly the same.
            by_hash: Card = {"by": "pairs_by_hash", "salt": "adopt"}
            by_file: Card = {"by": "file", "valid": [], "test": [], "clean": "pivots"}
            self.card["split"] = by_file if "test" in files else by_hash
        names: dict[str, list[str]] = {code: [] for code in codes}
        title = " and ".join(path.name for path in files["train"])
        card = {"title": title, "kind": "local", "licence": _TERMS, "notice": "Text of the user."}
        self.sources[f"{self.name}_{task}"] = card | {"files": (records := {})}
        folder = (self.folder / "sources").absolute()
        # Called by split and language, so that another name of a file makes no other text.
        for split, paths in files.items():
            for code, path, column in zip(codes, paths * 2, columns, strict=False):
                tsv = len(paths) == 1
                file = f"{task}.tsv" if tsv else code if split == "train" else f"{split}.{code}"
                file += ".gz" * (path.suffix.lower() == ".gz")
                records[file] = {"path": os.path.relpath(path.absolute(), folder)}
                names[code].append(f"{file}:{column}" if tsv else file)
            if split != "train":
                self.card["split"][split].append(names[task][-1])
        self.card["tasks"].append(task)
        self.card["sources"][f"{self.name}_{task}"] = names

    def read(self, again: bool) -> None:
        """Read and record all files; those that have changed only `again`."""
        for source, codes in self.card["sources"].items():
            for names in zip(*codes.values(), strict=True):
                first, second = sides = [self._lines(source, name, again) for name in names]
                if len(first) != len(second):
                    paths, line = [self._path(source, name) for name in names], _parting(*sides)
                    parts = f"they part near line {line:,}, where lengths stop matching"
                    if line > min(map(len, sides)):
                        parts = f"{paths[len(first) < len(second)]} has more at its end"
                    what = f"{paths[0]} has {len(first):,} lines and {paths[1]} {len(second):,}; "
                    what += parts
                    remedy = "correct the files: line n of both is one pair"
                    raise FathomError(what, f"{paths[0]}:{line}", remedy)
                if first == second:
                    remedy = "give files or columns in two languages"
                    place = str(self._path(source, names[0]))
                    raise FathomError("both sides have the same text", place, remedy)
                self.pairs[source, names] = [Pair(*lines) for lines in zip(*sides, strict=True)]

    def _path(self, source: str, name: str) -> Path:
        record = self.sources[source]["files"][file_and_column(name)[0]]
        return Path(os.path.normpath(self.folder / "sources" / record["path"]))

    def _lines(self, source: str, name: str, again: bool) -> list[str]:
        (file, column), path = file_and_column(name), self._path(source, name)
        require_file(path, "correct the path")
        _require_text(path)
        record = self.sources[source]["files"][file]
        if "sha256" in record and not again:
            require_unchanged(path, record["sha256"], self.name)
        record |= {"bytes": path.stat().st_size, "sha256": sha256(path)}
        try:
            with opened(path) as stream:
                lines = [*enumerate(stream, 1)]
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FathomError(f"not a whole .gz ({error})", str(path), "pack it again") from None
        if not lines:
            raise FathomError("the file is empty", str(path), "give a file with a sentence a line")
        if len(lines) == 1 and (ends := lines[0][1].count(b"\r")) > 1:
            what, remedy = f"one line with {ends:,} CR", r"convert line ends: tr '\r' '\n'"
            raise FathomError(what, str(path), remedy)
        for number, line in lines:
            if (at := line.find(b"\0")) >= 0:
                remedy = r"remove it, for example: tr -d '\0'"
                raise FathomError(f"NUL at byte {at + 1}", f"{path}:{number}", remedy)
        self._crlf[path] = [number for number, line in lines if line.endswith(b"\r\n")]
        read = [text_of(line, f"{path}:{number}", _REMEDY, column) for number, line in lines]
        widths = [line.count(b"\t") + 1 for _, line in lines if column]
        for number, width in enumerate(widths, 1):
            if width != widths[0]:
                what = f"{width} columns, where line 1 has {widths[0]}"
                remedy = "correct the line: a tab within a sentence moves the columns after it"
                raise FathomError(what, f"{path}:{number}", remedy)
        return read

    def sizes(self) -> list[tuple[int, str]]:
        """Return how many usable pairs each task has, without held-out files, and what is lost."""
        first = {source: pairs for (source, _), pairs in reversed(self.pairs.items())}
        of_task = [usable(first[source]) for source in self.sources]
        return [(len(kept), _loss(dropped)) for kept, dropped in of_task]

    def texts(self) -> dict[str, TaskText[Pair]]:
        """Return the text of all tasks as the reader splits it, and record its counts."""
        counts = self.card["expected"] = {}
        dataset = ParallelDataset.model_validate(self.card | {"name": self.name})
        of_task = texts(dataset, lambda source, names: self.pairs[source, names])
        for task, text in of_task.items():
            counts[task] = {split: len(text.splits[split]) for split in SPLITS}
            if empty := [split for split, count in counts[task].items() if not count]:
                what = f"{_loss(text.dropped_lines)}no pairs for {empty[0]}"
                raise FathomError(what, f"task {task}", "give more text")
        return of_task

    def places(self, task: str, text: TaskText[Pair]) -> dict[str, list[str]]:
        """Return the places of a task's pairs and lines that are dropped or worth a look."""
        rules = text.dropped_lines
        kept = ("crlf_files", "crlf", "invisible", "words", "ratio", "both")
        found: dict[str, list[str]] = {kind: [] for kind in (*rules, *kept)}
        files, test = self.card["split"]["valid"], {*text.splits["test"]}
        for (source, names), pairs in self.pairs.items():
            if source == f"{self.name}_{task}":
                paths = [self._path(source, name) for name in names]
                for path in dict.fromkeys(paths):
                    if len(numbers := self._crlf[path]) == len(pairs):
                        found["crlf_files"].append(str(path))
                    else:
                        found["crlf"] += [f"{path}:{number}" for number in numbers]
                for rule, numbers in rules.items():
                    found[rule] += [f"{paths[0]}:{number}" for number in numbers]
                dropped = {number for numbers in rules.values() for number in numbers}
                for number, pair in enumerate(pairs, 1):
                    short, long = sorted(map(len, pair))
                    place = [f"{paths[0]}:{number}"] * (number not in dropped)
                    in_both = isinstance(files, list) and names[0] in files and pair in test
                    found["both"] += place * in_both
                    found["invisible"] += place * any(map(has_invisible, pair))
                    found["ratio"] += place * (short * MOST_RATIO < long)
                    found["words"] += place * (max(len(s.split()) for s in pair) > MOST_WORDS)
                rules = {}  # held-out files, which come next, lose nothing
        return found

    def example(self, task: str, text: TaskText[Pair]) -> str:
        """Return the first training pair of a task with its place, its sides cut."""
        first, source = next(iter(text.splits["train"])), f"{self.name}_{task}"
        name, pairs = next((key[1][0], of) for key, of in self.pairs.items() if key[0] == source)
        sides = [side if len(side) <= _SHOWN else f"{side[:_SHOWN]}…" for side in first]
        shown = printable(f"{task} “{sides[0]}” = {self.card['pivot']} “{sides[1]}”")
        return f"{self._path(source, name)}:{pairs.index(first) + 1}: {shown}"

    def write(self) -> list[Path]:
        """Write the cards, and return their paths."""
        cards = {self.path("sources", name): card for name, card in self.sources.items()}
        cards[self.path("datasets", self.name)] = self.card
        for path, card in cards.items():
            lines = _by_key(as_yaml(card))
            before = _by_key(path.read_text("utf-8")) if path.exists() else {}
            lines |= {key: before[key] for key in _EDITABLE if key in before}
            write_text(path, f"{_HEAD}{', '.join(_hashes(lines))}\n{''.join(lines.values())}")
        return [*cards]


def _require_text(path: Path) -> None:
    """Refuse a packed file, but for one that ends in `.gz`."""
    with path.open("rb") as stream:
        first = stream.read(max(map(len, BEGINNINGS.values())))
    for end, program in _UNPACKS.items():
        if first.startswith(BEGINNINGS[end]):
            remedy = f"unpack it: {program} {shlex.quote(str(path))}"
            raise FathomError("a packed file, not text", str(path), remedy)
    if first.startswith(BEGINNINGS[".gz"]) and path.suffix.lower() != ".gz":
        raise FathomError("packed by gzip", str(path), "give it a name that ends in .gz")


def _loss(dropped: Mapping[str, list[int]]) -> str:
    """Return how many pairs are dropped and why, as the begin of a message; nothing if none is."""
    parts = [f"{len(lines):,} {KINDS[rule]}" for rule, lines in dropped.items() if lines]
    count = sum(map(len, dropped.values()))
    return f"{count:,} pairs are dropped ({', '.join(parts)}); " if parts else ""


def _read_card(path: Path) -> Card:
    head, _, body = path.read_text("utf-8", "replace").partition("\n")
    changed = {*_hashes(_by_key(body))} ^ {*head.removeprefix(_HEAD).split(", ")}
    card = {} if changed else read(path, Path()).plain
    edited = {entry.partition("=")[0] for entry in changed}
    edited |= {key for key in _EDITABLE if not isinstance(card.get(key, ""), str)}
    if edited:
        what = f"the card is edited ({', '.join(sorted(edited))}), and `fathom adopt` does not "
        what += "overwrite it"
        raise FathomError(what, str(path), "undo the edit, or adopt all text under another name")
    return card


def _by_key(body: str) -> dict[str, str]:
    """Return the lines of each key of a card, and of each comment between keys."""
    parts = re.split(r"^(?=\S)", body, flags=re.MULTILINE)[1:]
    return {part.partition(":")[0].strip(): f"{part.rstrip()}\n" for part in parts}


def _hashes(lines: Mapping[str, str]) -> list[str]:
    """Return the keys of a card with hashes of their lines, if these are not for a user to edit."""
    return [f"{k}={'' if k in _EDITABLE else short(identity(of))}" for k, of in lines.items()]


def _parting(*texts: list[str]) -> int:
    """Return the line from which the longer of two texts fits the other if it is moved up.

    Sentences of a pair have similar lengths: the logarithms of their ratios, summed as the texts
    are up to the line and moved from it on, are least there.
    """
    short, long = ([log(1 + len(line)) for line in text] for text in sorted(texts, key=len))
    sizes = zip(short, long, long[len(long) - len(short) :], strict=False)
    gains = (abs(here - size) - abs(moved - size) for size, here, moved in sizes)
    sums = [*accumulate(gains, initial=0.0)]
    return sums.index(min(sums)) + 1
