"""Members of a zip or a tar, read where they are, never unpacked to disk.

Every member is checked, also those that nobody reads: one that points outside the archive's folder,
or is not a plain file, a folder or a harmless link, makes the archive unusable. `zipfile` silently
strips such paths, so both kinds of archive are checked here. No link is ever followed.
"""

import bz2
import errno
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from fathom.io.errors import FathomError

# Text packs to a quarter or a tenth; a hundredfold is an attack or an accident.
MAX_EXPANSION = 100
# Small archives are mostly headers, where a ratio says nothing.
FREE_BYTES = 1 << 20
# A single file, which has no members: a dump of a wiki.
PACKED_FILE = ".xml.bz2"
_ENCRYPTED = 1
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
)
_REMEDY = "do not use this file; fetch it from another address"


def visit(
    path: Path, selected: Callable[[str], bool], take: Callable[[str, IO[bytes]], None]
) -> None:
    """Read the selected plain files, in the archive's order, and check all the others.

    Args:
        path: a zip (a wheel is one) or a tar, packed or not.
        selected: whether a member is read, by its name.
        take: gets a name and the file's bytes, which it reads before it returns.

    Raises:
        FathomError: a dangerous member, too large a content, or no archive that can be read.
    """
    try:
        members = _zip_members if zipfile.is_zipfile(path) else _tar_members
        for name, stream in members(path, selected):
            take(name, stream)
    except (*_BROKEN, OSError) as error:
        raise _unreadable(error, path) from None


def check(path: Path) -> None:
    """Check every member of an archive; of one packed file, that it is packed.

    Raises:
        FathomError: as `visit`.
    """
    if not path.name.endswith(PACKED_FILE):
        visit(path, lambda name: False, lambda name, stream: None)
        return
    try:
        with bz2.open(path) as stream:
            stream.read(1)
    except (EOFError, OSError) as error:
        raise _unreadable(error, path) from None


def _unreadable(error: Exception, path: Path) -> Exception:
    """Return why an archive cannot be read; an error of the disk as it is."""
    # bz2's error has no number, and a place before the file's begin is an invalid argument.
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        return error
    what = f"not a readable archive ({str(error) or type(error).__name__})"
    return FathomError(what, str(path), _REMEDY)


def _zip_members(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        size = 0
        for member in archive.infolist():
            # The name before zipfile normalises it to what it would unpack.
            _refuse_outside(member.orig_filename, path)
            if member.flag_bits & _ENCRYPTED:
                raise _refusal(f"the member {member.filename!r} is encrypted", path)
            size += member.file_size
            _refuse_bomb(size, path)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind == stat.S_IFLNK:
                _refuse_link(member.filename, archive.read(member).decode("utf-8", "replace"), path)
            elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refusal(f"the member {member.filename!r} is a device", path)
        for member in archive.infolist():
            plain = stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
            if plain and not member.is_dir() and selected(member.filename):
                with archive.open(member) as stream:
                    yield member.filename, stream


def _tar_members(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(path, mode="r|*") as archive:
        size = 0
        for member in archive:
            _refuse_outside(member.name, path)
            size += member.size
            _refuse_bomb(size, path)
            if member.issym():
                _refuse_link(member.name, member.linkname, path)
            elif member.islnk():
                # A hard link names another member from the archive's top.
                _refuse_link("", member.linkname, path)
            elif not member.isfile() and not member.isdir():
                raise _refusal(f"the member {member.name!r} is a device", path)
            if member.isfile() and selected(member.name):
                content = archive.extractfile(member)
                if content is not None:
                    yield member.name, content


def _refuse_outside(name: str, path: Path) -> None:
    """Refuse a name that would be written outside the folder into which it is unpacked."""
    parts = name.replace("\\", "/").split("/")
    if not name or parts[0] == "" or ".." in parts or ":" in parts[0] or "\0" in name:
        raise _refusal(f"the member {name!r} points outside the archive", path)


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
        what = f"the member {name or target!r} is a link that points outside the archive"
        raise _refusal(what, path)


def _refuse_bomb(size: int, path: Path) -> None:
    limit = FREE_BYTES + MAX_EXPANSION * path.stat().st_size
    if size > limit:
        what = f"its content is more than {MAX_EXPANSION} times as large as the archive"
        raise _refusal(what, path)


def _refusal(what: str, path: Path) -> FathomError:
    return FathomError(what, str(path), _REMEDY)
