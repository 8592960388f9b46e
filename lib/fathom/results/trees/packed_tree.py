"""All results of a scale in one file: to hand on, to keep, and to compare."""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from fathom.config.schema.section import Section
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import read_json
from fathom.io.integrity import CHANGED, OWN, read_record
from fathom.results.measurements import SCHEMA, checked
from fathom.results.recipe import RECIPE
from fathom.results.trees import archive as archives
from fathom.results.trees.tree import Tree

CARD = "results.json"


class Card(BaseModel):
    """What an archive says of its results.

    Attributes:
        scale: of the results.
        recipe: of the code that packed them.
        files: SHA-256 by path from the folder of results.
    """

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    scale: str
    recipe: dict[str, int]
    files: dict[str, str]


def pack(folder: Path, names: Iterable[str], scale: str, archive: Path) -> dict[str, str]:
    """Write results to an archive, and return the SHA-256 of each file.

    Args:
        folder: of the results.
        names: the files, by their path from there.
        scale: of the results.
        archive: the file to write.

    Raises:
        FathomError: a file is not the one that was recorded.
    """

    def content(files: dict[str, str]) -> dict[str, Any]:
        for name in files:
            if name.endswith(".json"):
                _require(folder, name, files)
        card = Card(scale=scale, recipe=dict(RECIPE), files=files)
        return card.model_dump(mode="json", by_alias=True)

    return archives.write(archive, CARD, content, folder, names)


def _require(folder: Path, name: str, files: Mapping[str, str]) -> None:
    """Compare the files of a record with what it says of them."""
    path = folder / name
    if OWN not in read_json(path, again(path)):
        return
    recorded = read_record(path).get("files", {})
    for inner, digits in recorded.items() if isinstance(recorded, dict) else ():
        own = (path.parent / inner).relative_to(folder).as_posix()
        if files.get(own, digits) != digits:
            raise FathomError(CHANGED, str(folder / own), again(path))


def holds_results(archive: Path) -> bool:
    """Return whether a file is an archive of results, and not of one run."""
    if not zipfile.is_zipfile(archive):
        return False
    with zipfile.ZipFile(archive) as packed:
        return CARD in packed.namelist()


def unpack(archive: Path, folder: Path) -> Card:
    """Write the results of an archive to a folder that is new or empty.

    Raises:
        FathomError: the folder has files; or the archive is damaged, or has no results.
    """
    content = archives.card_of(archive, CARD, "no archive of results")
    card = checked(Card, content, archive, archives.AGAIN)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    if os.path.lexists(folder):
        what = "there is such a folder" if folder.is_dir() else "there is such a file"
        raise FathomError(what, str(folder), "name a new folder with --results")
    archives.unpack(archive, CARD, card.files, folder)
    return card


@contextmanager
def opened(path: Path) -> Iterator[Tree]:
    """Open a folder of results, or an archive of them in a temporary folder.

    Raises:
        FathomError: there are no results, or the archive is damaged.
    """
    if path.is_dir() or not path.exists():
        yield Tree.at(path)
        return
    place = Path(tempfile.mkdtemp(prefix="fathom-"))
    try:
        unpack(path, place / path.stem)
        yield Tree.at(place / path.stem)
    finally:
        shutil.rmtree(place, ignore_errors=True)
