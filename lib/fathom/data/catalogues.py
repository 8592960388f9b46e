"""Message catalogues inside packages, as text (.po) or compiled (.mo): those needed, their pairs.

A catalogue's code is its language's folder, `fr` in `locale/fr/LC_MESSAGES/django.po`, or its name,
as in `locale/fr.po`. `fr/django` is the first of these alone.

A compiled one is in GNU gettext's form: seven numbers, then a table of lengths and places for the
messages and one for their translations. A message with a context is `context EOT message`; plural
forms are separated by NUL.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from gettext import c2py
from pathlib import Path
from struct import error as StructError
from struct import unpack_from
from typing import IO, TYPE_CHECKING, Literal, NamedTuple

from fathom.config.schema.dataset import BuiltDataset
from fathom.data.archives import REMEDY, visit
from fathom.data.clean import one_line
from fathom.data.texts import Pair
from fathom.io.errors import FathomError

if TYPE_CHECKING:
    from polib import POEntry, POFile

_PLACE = re.compile(r"(?:^|/)(?:([^/]+)/LC_MESSAGES/([^/]+)|locales?/([^/]+))\.(po|mo)$")
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]+)")
_PLURAL = re.compile(r"\bplural\s*=\s*([^;]+)")
# Numbers that are "one" and "many" in the plural rule of every language.
_ONE, _MANY = 1, 5
# Of a compiled catalogue: its first bytes by the order of bytes, and its separators.
_ORDERS = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
_CONTEXT, _FORMS = "\x04", "\0"


class MessageCatalogue(NamedTuple):
    """One catalogue of a task, or of a text that several tasks share."""

    task: str
    where: str
    text: str


def catalogues_of(
    source: str, wheel: Path, dataset: BuiltDataset, kind: Literal["po", "mo"]
) -> list[MessageCatalogue]:
    """Return the catalogues of a kind that a data set needs of one wheel, in its order."""
    codes_of = {text: {*dataset.codes(source, text)} for text in dataset.texts}
    codes = set().union(*codes_of.values())
    read: list[MessageCatalogue] = []
    found: set[str] = set()

    def take(name: str, stream: IO[bytes]) -> None:
        where, content = f"{wheel.name}: {name}", stream.read()
        content = decompiled(content, where) if kind == "mo" else _decoded(content, where)
        found.update(_codes(name, kind))
        texts = [text for text in codes_of if _codes(name, kind) & codes_of[text]]
        read.extend(MessageCatalogue(text, where, content) for text in texts)

    visit(wheel, lambda name: bool(_codes(name, kind) & codes), take)
    if missing := codes - found:
        what = f"{wheel.name} has no messages in {', '.join(sorted(missing))}"
        where = f"config/datasets/{dataset.name}.yaml: sources.{source}"
        raise FathomError(what, where, "correct the codes")
    return read


def _codes(name: str, kind: str) -> set[str]:
    """Return the codes of a member; none where it is not a catalogue of this kind."""
    match = _PLACE.search(name)
    if match is None or match[4] != kind:
        return set()
    return {match[1], f"{match[1]}/{match[2]}"} if match[2] else {match[3]}


def _decoded(content: bytes, where: str) -> str:
    """Decode a catalogue as its header says, or as UTF-8 where the header says nothing."""
    named = _CHARSET.search(content)
    charset = named[1].decode() if named else "utf-8"
    try:
        return content.decode("utf-8" if charset == "CHARSET" else charset)
    except (LookupError, UnicodeDecodeError) as error:
        raise FathomError(f"cannot be decoded ({error})", where, REMEDY) from None


def translations(
    catalogue: MessageCatalogue, dropped: Counter[str], equal_plurals: bool
) -> Iterator[Pair]:
    """Yield the raw pairs of a catalogue; `dropped` counts messages without a pair.

    With `equal_plurals` a message whose translations for one and for many are equal gives both
    pairs, else the plural's alone.
    """
    entries, many_of = _parsed(catalogue)
    for entry in entries:
        if entry.obsolete or entry.fuzzy or not entry.msgid:
            dropped["obsolete" if entry.obsolete else "fuzzy" if entry.fuzzy else "empty"] += 1
            continue
        pairs = [Pair(entry.msgstr, entry.msgid)]
        if entry.msgid_plural:
            pairs = _forms(entry, many_of, equal_plurals)
        translated = [pair for pair in pairs if pair.text]
        if not translated:
            dropped["no_translation"] += 1
        yield from translated


def messages(catalogue: MessageCatalogue, dropped: Counter[str]) -> Iterator[str]:
    """Yield the messages of a catalogue, singular and plural, whatever their translation."""
    for entry in _parsed(catalogue)[0]:
        if entry.obsolete or not entry.msgid:
            dropped["obsolete" if entry.obsolete else "empty"] += 1
            continue
        yield entry.msgid
        if entry.msgid_plural:
            yield entry.msgid_plural


def _parsed(catalogue: MessageCatalogue) -> tuple["POFile", Callable[[int], int]]:
    """Return a catalogue's entries, and the function from a number to the index of its form."""
    import polib

    try:
        # polib splits text with str.splitlines(), which would cut a message at U+2028.
        entries = polib.pofile("\n".join(map(one_line, catalogue.text.split("\n"))))
        rule = _PLURAL.search(entries.metadata.get("Plural-Forms", ""))
        # As in English where the header has no rule.
        many_of = c2py(rule[1].strip()) if rule else lambda number: int(number != 1)
    except (OSError, ValueError) as error:
        what = f"not a message catalogue ({error})"
        raise FathomError(what, catalogue.where, REMEDY) from None
    return entries, many_of


def _forms(entry: "POEntry", many_of: Callable[[int], int], both: bool) -> list[Pair]:
    """Return the pairs of a message with plural forms: for one and for many.

    A catalogue may have more or fewer forms than its header announces.
    """
    one = entry.msgstr_plural.get(many_of(_ONE), "")
    many = entry.msgstr_plural.get(many_of(_MANY), "")
    plural = Pair(many, entry.msgid_plural)
    return [Pair(one, entry.msgid), plural] if both or one != many else [plural]


def decompiled(content: bytes, where: str) -> str:
    """Return a compiled catalogue as the text from which one was compiled."""
    from polib import POEntry, POFile

    text = POFile(wrapwidth=0)
    try:
        for message, translation in _compiled_entries(content):
            if not message:
                lines = (line.partition(":") for line in translation.split("\n"))
                text.metadata = {name.strip(): value.strip() for name, _, value in lines if name}
                continue
            context, mark, plain = message.rpartition(_CONTEXT)
            one, _, many = plain.partition(_FORMS)
            entry = POEntry(msgid=one, msgid_plural=many, msgctxt=context if mark else None)
            if many:
                entry.msgstr_plural = dict(enumerate(translation.split(_FORMS)))
            else:
                entry.msgstr = translation
            text.append(entry)
    except (KeyError, StructError, UnicodeDecodeError) as error:
        what = f"not a message catalogue ({error})"
        raise FathomError(what, where, REMEDY) from None
    return str(text)


def _compiled_entries(content: bytes) -> list[tuple[str, str]]:
    """Return the messages and their translations, the header under the empty message."""
    order = _ORDERS[content[:4]]
    count, *tables = unpack_from(f"{order}3I", content, 8)
    messages, translations = (
        [unpack_from(f"{order}2I", content, table + 8 * at) for at in range(count)]
        for table in tables
    )
    return [
        (_text_at(content, *message), _text_at(content, *translation))
        for message, translation in zip(messages, translations, strict=True)
    ]


def _text_at(content: bytes, length: int, place: int) -> str:
    """Return the text at a place; StructError where the content ends before it."""
    return unpack_from(f"{length}s", content, place)[0].decode("utf-8")
