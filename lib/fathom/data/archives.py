"""Members of a zip or a tar, read where they are, never unpacked to disk.

Every member is checked, also those that nobody reads: one that points outside the archive's folder,
or is not a plain file, a folder or a harmless link, makes the archive unusable. `zipfile` silently
strips such paths, so both kinds of archive are checked here. No link is ever followed.
"""

import errno
import lzma
import os
import posixpath
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from fathom.data.clean import one_line
from fathom.io.errors import FathomError

# Text packs to a quarter or a tenth; a hundredfold is an attack or an accident.
MAX_EXPANSION = 100
# Small archives are mostly headers, where a ratio says nothing.
FREE_BYTES = 1 << 20
# Files that are archives, by the end of their names.
_ARCHIVES = (".zip", ".whl", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
# A table of columns, which has no members.
TABLE, _TABLE_MARK = ".parquet", b"PAR1"
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
# What readers say of a file that is not what they expect.
REMEDY = "the source is not the file that this reader was written for"


def visit(
    path: Path, selected: Callable[[str], bool], take: Callable[[str, IO[bytes]], None]
) -> None:
    """Read the selected plain files, in the archive's order, and check all the others.

    Args:
        path: a zip (a wheel is one) or a tar, packed or not.
        selected: whether a member is read, by its name.
        take: gets a name and the file's bytes, which it reads before it returns.

    Raises:
        FathomError: If a member is dangerous, the content is too large, or the archive is broken.
    """
    try:
        members = _zip_members if zipfile.is_zipfile(path) else _tar_members
        for name, stream in members(path, selected):
            take(name, stream)
    except (*_BROKEN, OSError) as error:
        raise _unreadable(error, path) from None


def check(path: Path) -> None:
    """Check a file as its name says: every member of an archive, or that a parquet file is whole.

    Other files, such as plain text, are left to their reader.
    """
    if path.name.endswith(_ARCHIVES):
        visit(path, lambda name: False, lambda name, stream: None)
    elif path.suffix == TABLE:
        with open(path, "rb") as stream:
            first = stream.read(len(_TABLE_MARK))
            stream.seek(-min(len(_TABLE_MARK), path.stat().st_size), os.SEEK_END)
            if not first == stream.read() == _TABLE_MARK:
                raise _refusal("it does not begin and end as a parquet file", path)


def _unreadable(error: Exception, path: Path) -> Exception:
    """Return why an archive cannot be read; an error of the disk as it is."""
    # bz2's error has no number, and a place before the file's begin is an invalid argument.
    if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        return error
    return _refusal(f"not a readable archive ({str(error) or type(error).__name__})", path)


def _zip_members(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        size = 0
        for member in archive.infolist():
            # The name before zipfile normalises it to what it would unpack.
            _require_inside(member.orig_filename, "", path)
            if member.flag_bits & _ENCRYPTED:
                raise _refusal(f"the member {member.filename!r} is encrypted", path)
            size += member.file_size
            _refuse_bomb(size, path)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind == stat.S_IFLNK:
                target = archive.read(member).decode("utf-8", "replace")
                _require_inside(member.filename, target, path)
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
            _require_inside(member.name, "", path)
            size += member.size
            _refuse_bomb(size, path)
            if member.issym():
                _require_inside(member.name, member.linkname, path)
            elif member.islnk():
                # A hard link names another member from the archive's top.
                _require_inside("link", member.linkname, path)
            elif not member.isfile() and not member.isdir():
                raise _refusal(f"the member {member.name!r} is a device", path)
            if member.isfile() and selected(member.name):
                content = archive.extractfile(member)
                if content is not None:
                    yield member.name, content


def _require_inside(name: str, target: str, path: Path) -> None:
    """Refuse a name, or a link's target seen from its folder, that lies outside the archive."""
    given = (target or name).replace("\\", "/")
    seen = posixpath.join(posixpath.dirname(name), given) if target else given
    first = posixpath.normpath(seen).split("/")[0]
    if not name or first in ("", "..") or ":" in given.split("/")[0] or "\0" in given:
        kind = "is a link that points" if target else "points"
        raise _refusal(f"the member {name!r} {kind} outside the archive", path)


def _refuse_bomb(size: int, path: Path) -> None:
    limit = FREE_BYTES + MAX_EXPANSION * path.stat().st_size
    if size > limit:
        what = f"its content is more than {MAX_EXPANSION} times as large as the archive"
        raise _refusal(what, path)


def _refusal(what: str, path: Path) -> FathomError:
    return FathomError(what, str(path), _REMEDY)


# Members that hold plain text: found by name, and read line by line.


def plain(member: str) -> str:
    """Return a member's name without its folders."""
    return PurePosixPath(member).name


def require(names: Collection[str], read: Container[str], archive: Path) -> None:
    """Refuse an archive in which a member is missing; names are without folders."""
    for name in sorted(names):
        if name not in read:
            raise FathomError(f"the file {name} is missing", archive.name, REMEDY)


def one_length(counts: Mapping[str, int], archive: Path) -> int:
    """Return the number of lines of two sides, given by the members' names."""
    if len(set(counts.values())) > 1:
        lengths = " and ".join(f"{count:,}" for count in counts.values())
        raise FathomError(f"{lengths} lines in {' and '.join(counts)}", archive.name, REMEDY)
    return next(iter(counts.values()))


def text_of(line: bytes, where: str) -> str:
    """Return a line as text in which no character ends a line; `where` is its place in messages."""
    try:
        return one_line(line.decode("utf-8")).strip()
    except UnicodeDecodeError:
        raise FathomError("not UTF-8", where, REMEDY) from None
