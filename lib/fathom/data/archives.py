"""Members of a zip or tar archive, read where they are; nothing is ever unpacked to disk.

Every member is looked at, wanted or not: one that points outside the archive's folder, or is no
plain file, folder or harmless link, condemns the archive. `zipfile` silently strips such paths, so
the test is made here for both kinds.
"""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from fathom.errors import FathomError

# Text packs to a quarter or a tenth; a hundredfold is an attack or an accident.
MAX_EXPANSION = 100
# Small archives are mostly headers, where a ratio says nothing.
FREE_BYTES = 1 << 20
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError)
_REMEDY = "do not use this file; fetch it from another address"


def visit(
    path: Path, wanted: Callable[[str], bool], take: Callable[[str, IO[bytes]], None]
) -> None:
    """Hand over the wanted plain files, in the archive's order, and look at all the others.

    Args:
        path: a zip (a wheel is one) or a tar, packed or not.
        wanted: whether a name is wanted.
        take: gets a name and the file's bytes, which it reads before it returns.

    Raises:
        FathomError: a dangerous member, too large a content, or no archive that can be read.
    """
    try:
        members = _zip_members if zipfile.is_zipfile(path) else _tar_members
        for name, stream in members(path, wanted):
            take(name, stream)
    except _BROKEN as error:
        what = f"not a readable archive ({str(error) or type(error).__name__})"
        raise FathomError(what, str(path), _REMEDY) from None


def check(path: Path) -> None:
    """Look at every member of an archive.

    Raises:
        FathomError: as `visit`.
    """
    visit(path, lambda name: False, lambda name, stream: None)


def _zip_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        size = 0
        for each in archive.infolist():
            # The name before zipfile normalises it to what it would unpack.
            _refuse_outside(each.orig_filename, path)
            size += each.file_size
            _refuse_bomb(size, path)
            kind = stat.S_IFMT(each.external_attr >> 16)
            if kind == stat.S_IFLNK:
                _refuse_link(each.filename, archive.read(each).decode("utf-8", "replace"), path)
            elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refusal(f"the member '{each.filename}' is a device", path)
        for each in archive.infolist():
            plain = stat.S_IFMT(each.external_attr >> 16) in (0, stat.S_IFREG)
            if plain and not each.is_dir() and wanted(each.filename):
                with archive.open(each) as stream:
                    yield each.filename, stream


def _tar_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(path, "r|*") as archive:
        size = 0
        for each in archive:
            _refuse_outside(each.name, path)
            size += each.size
            _refuse_bomb(size, path)
            if each.issym():
                _refuse_link(each.name, each.linkname, path)
            elif each.islnk():
                # A hard link names another member from the archive's top.
                _refuse_link("", each.linkname, path)
            elif not each.isfile() and not each.isdir():
                raise _refusal(f"the member '{each.name}' is a device", path)
            if each.isfile() and wanted(each.name):
                yield each.name, archive.extractfile(each)


def _refuse_outside(name: str, path: Path) -> None:
    """Refuse a name that would be written outside the folder into which it is unpacked."""
    parts = name.replace("\\", "/").split("/")
    if not name or parts[0] == "" or ".." in parts or ":" in parts[0] or "\0" in name:
        raise _refusal(f"the member '{name}' points outside the archive", path)


def _refuse_link(name: str, target: str, path: Path) -> None:
    """Refuse a link whose target, seen from its own folder, lies outside the archive."""
    target = target.replace("\\", "/")
    depth = len(PurePosixPath(name).parts) - 1 if name else 0
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            break
    if depth < 0 or target.startswith("/") or ":" in target.split("/")[0]:
        what = f"the member '{name or target}' is a link that points outside the archive"
        raise _refusal(what, path)


def _refuse_bomb(size: int, path: Path) -> None:
    limit = FREE_BYTES + MAX_EXPANSION * path.stat().st_size
    if size > limit:
        what = f"its content is more than {MAX_EXPANSION} times as large as the archive"
        raise _refusal(what, path)


def _refusal(what: str, path: Path) -> FathomError:
    return FathomError(what, str(path), _REMEDY)
