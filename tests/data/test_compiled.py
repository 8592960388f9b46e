from struct import pack

import pytest
from polib import pofile

from fathom.data.compiled import decompiled
from tests.data.small_archives import catalogue, compiled, message, plural
from tests.support.refused import refused

CONTENT = compiled(
    message("Save", "Enregistrer"),
    message("Open", "Ouvrir", before='msgctxt "door"'),
    plural("a page", "pages", "une page", "des pages"),
    message("two\\nlines", "deux\\nlignes"),
    plurals="nplurals=2; plural=n > 1;",
)


def test_a_compiled_catalogue_becomes_its_text():
    entries = {entry.msgid: entry for entry in pofile(decompiled(CONTENT, "here"))}
    assert sorted(entries) == ["Open", "Save", "a page", "two\nlines"]
    assert entries["Save"].msgstr == "Enregistrer"
    assert (entries["Open"].msgctxt, entries["Open"].msgstr) == ("door", "Ouvrir")
    assert entries["a page"].msgid_plural == "pages"
    assert entries["a page"].msgstr_plural == {0: "une page", 1: "des pages"}
    assert entries["two\nlines"].msgstr == "deux\nlignes"


def test_the_header_keeps_the_rule_of_plurals():
    metadata = pofile(decompiled(CONTENT, "here")).metadata
    assert metadata["Plural-Forms"] == "nplurals=2; plural=n > 1;"


def test_both_orders_of_bytes_are_read():
    texts = [b"One\0", b"Un\0"]
    places = [28 + 16, 28 + 16 + len(texts[0])]
    head = pack(">7I", 0x950412DE, 0, 1, 28, 36, 0, 0)
    content = head + pack(">4I", 3, places[0], 2, places[1]) + b"".join(texts)
    (entry,) = pofile(decompiled(content, "here"))
    assert (entry.msgid, entry.msgstr) == ("One", "Un")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no catalogue at all",
        CONTENT[:20],
        CONTENT[:-40],
        catalogue(message("Save", "Enregistrer")),
        CONTENT.replace(b"Enregistrer", b"\xff" * 11),
    ],
)
def test_what_is_no_compiled_catalogue_is_refused(content):
    with refused("no catalogue", where="app.whl: fr.mo"):
        decompiled(content, "app.whl: fr.mo")
