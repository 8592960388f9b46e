"""One file with files of a tree, and a card: a JSON that hashes each of them, and itself.

Files are hashed as they are written, so one that grows meanwhile fits its hash. Everything is
hashed again before it is believed, and all of it is unpacked or nothing.
"""

import calendar
import hashlib
import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from fathom.data.archives import visit
from fathom.io.errors import FathomError
from fathom.io.files import replacing, sha256
from fathom.io.hashes import identity

AGAIN = "copy the archive again, or pack again"
# Zip knows no earlier time.
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_PACKED = (".pt", ".gz", ".png", ".pdf")
_BLOCK = 1 << 20  # bytes that are copied at once


def write(
    archive: Path,
    card: str,
    content_of: Callable[[dict[str, str]], Mapping[str, Any]],
    folder: Path,
    names: Iterable[str],
) -> dict[str, str]:
    """Write an archive atomically, its card last, and return the SHA-256 of each file.

    Args:
        archive: the file to write.
        card: the name of the card.
        content_of: returns the content of the card, without its own hash, for the SHA-256 of each
            file; if it raises an error, nothing is written.
        folder: where the files are.
        names: their paths from there.
    """
    with replacing(archive, "wb") as stream, zipfile.ZipFile(stream, "w") as packed:
        files = {name: _add(packed, folder, name) for name in names}
        content = content_of(files)
        text = json.dumps(dict(content) | {"sha256": identity(content)}, indent=1, allow_nan=False)
        packed.writestr(zipfile.ZipInfo(card, _EARLIEST), text)
    return files


def _add(packed: zipfile.ZipFile, folder: Path, name: str) -> str:
    """Add a file with its time, and return its SHA-256.

    Snakemake compares the times of runs that start from another.
    """
    changed = time.gmtime((folder / name).stat().st_mtime)[:6]
    entry = zipfile.ZipInfo(name, max(changed, _EARLIEST))
    stored = name.endswith(_PACKED)
    entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    digest = hashlib.sha256()
    with open(folder / name, "rb") as source, packed.open(entry, "w", force_zip64=True) as target:
        while block := source.read(_BLOCK):
            digest.update(block)
            target.write(block)
    return digest.hexdigest()


def card_of(archive: Path, card: str, what: str) -> dict[str, Any]:
    """Return the content of an archive's card, without its own hash.

    Args:
        archive: the file.
        card: the name of the card.
        what: what the archive is not, for messages, if it has no such card.

    Raises:
        FathomError: it is not there, is damaged, or has no such card.
    """
    if not archive.is_file():
        raise FathomError("no such file", str(archive), "give an archive of `fathom pack`")
    read: list[bytes] = []
    visit(archive, lambda name: name == card, lambda _, stream: read.append(stream.read()))
    try:
        content: dict[str, Any] = json.loads(read[0])
        own = content.pop("sha256")
        matches = own == identity(content)
    except (IndexError, ValueError, KeyError, AttributeError, TypeError):
        matches, content = False, {}
    if not matches:
        raise FathomError(what, str(archive), "give one of `fathom pack`")
    return content


def unpack(archive: Path, card: str, files: Mapping[str, str], folder: Path) -> None:
    """Write the files of an archive to a folder that does not exist, all of them or nothing.

    Args:
        archive: the file.
        card: the name of the card, which is not written.
        files: SHA-256 by path, as the card has them.
        folder: where to write.

    Raises:
        FathomError: a file is missing, is not the one that was packed, or was not expected.
    """
    waiting = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    shutil.rmtree(waiting, ignore_errors=True)
    unpacked: set[str] = set()

    def take(name: str, stream: IO[bytes]) -> None:
        if name == card:
            return
        path = waiting / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as target:
            shutil.copyfileobj(stream, target)
        if sha256(path) != files.get(name):
            raise FathomError(f"{name} is not the file that was packed", str(archive), AGAIN)
        unpacked.add(name)

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        visit(archive, lambda name: True, take)
        if missing := {*files} - unpacked:
            raise FathomError(f"{min(missing)} is missing", str(archive), AGAIN)
        _set_times(archive, card, waiting)
        waiting.rename(folder)
    finally:
        shutil.rmtree(waiting, ignore_errors=True)


def _set_times(archive: Path, card: str, folder: Path) -> None:
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            if entry.filename != card:
                seconds = calendar.timegm((*entry.date_time, 0, 0, 0))
                os.utime(folder / entry.filename, (seconds, seconds))
