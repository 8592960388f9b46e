"""Compiled message catalogues (.mo): the text from which one was compiled.

The form is GNU gettext's: seven numbers, then a table of lengths and places for the messages and
one for their translations. A message with a context is `context EOT message`; plural forms are
separated by NUL.
"""

from struct import error as StructError
from struct import unpack_from

from fathom.data.members import REMEDY
from fathom.io.errors import FathomError

_ORDERS = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
_CONTEXT, _FORMS = "\x04", "\0"


def decompiled(content: bytes, where: str) -> str:
    """Return a compiled catalogue as text.

    Args:
        content: the catalogue's bytes.
        where: its name in messages.

    Raises:
        FathomError: it is no compiled catalogue, or not in UTF-8.
    """
    from polib import POEntry, POFile

    text = POFile(wrapwidth=0)
    try:
        for message, translation in _entries(content):
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


def _entries(content: bytes) -> list[tuple[str, str]]:
    """Return the messages and their translations, the header under the empty message."""
    order = _ORDERS[content[:4]]
    count, *tables = unpack_from(f"{order}3I", content, 8)
    messages, translations = (
        [unpack_from(f"{order}2I", content, table + 8 * at) for at in range(count)]
        for table in tables
    )
    return [
        (_text(content, *message), _text(content, *translation))
        for message, translation in zip(messages, translations, strict=True)
    ]


def _text(content: bytes, length: int, place: int) -> str:
    """Return the text at a place.

    Raises:
        StructError: the content ends before it.
    """
    return unpack_from(f"{length}s", content, place)[0].decode("utf-8")
