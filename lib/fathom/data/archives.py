"""Members of a zip or a tar, read where they are, never unpacked to disk.

So a member's path is a name alone, wherever it points. Links and devices are never read.
"""

import errno
import gzip
import hashlib
import html
import os
import re
import stat
import tarfile
import zipfile
from codecs import BOM_UTF8
from collections import Counter, deque
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO, cast

from fathom.data.clean import one_line
from fathom.data.split import Pair
from fathom.io.errors import FathomError
from fathom.io.files import BROKEN_ARCHIVE

# Text packs to a quarter or a tenth; a hundredfold is an attack or an accident.
MAX_EXPANSION = 100
# Small archives are mostly headers, where a ratio says nothing.
FREE_BYTES = 1 << 20
# Files that are archives, by the end of their names.
_ARCHIVES = (".zip", ".whl", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_PACKED = ".gz"  # one packed file, unless it is a tar
# A table of columns, which has no members.
TABLE = ".parquet"
# How files begin, by the end of their names.
BEGINNINGS = {
    _PACKED: b"\x1f\x8b",
    ".zip": b"PK\3\4",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ",
    ".zst": b"\x28\xb5\x2f\xfd",
    TABLE: b"PAR1",
}
_ENCRYPTED = 1
_COLUMN = re.compile(r"(.+):([1-9][0-9]{0,3})")
_WILDCARDS = "*?"
_SEGMENT = re.compile(rb"<seg\b[^>]*>(.*?)</seg>", re.DOTALL | re.IGNORECASE)
_REMEDY = "do not use this file; fetch it from another address"
# What readers say of a file that is not what they expect.
REMEDY = "the source is not the file that this reader was written for"


def members(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield name and lines of the selected plain files in the archive's order, and check all.

    `path` is a zip (a wheel is one), a tar, packed or not, a folder, or one file that is packed by
    gzip; members that end in `.gz` are unpacked. The lines of a member are there until the next one
    is asked for. Encrypted, too large and broken archives are refused.
    """
    with _naming_faults(path):
        streams = _zip_streams if zipfile.is_zipfile(path) else _tar_streams
        if path.is_dir() or (path.suffix == _PACKED and not path.name.endswith(_ARCHIVES)):
            streams = _file_streams
        for name, stream in streams(path, selected):
            yield name, _lines(stream, path)


def named(path: Path, names: Collection[str]) -> Iterator[tuple[str, str, Iterator[bytes]]]:
    """Yield name, place in messages and lines of the members of these names, in whatever folder.

    A name is the end of a member's path: `a/b` is b in a folder a. Of several the shortest counts.
    One that is missing is refused at the end.
    """
    missing, shortest_first = {*names}, sorted(names, key=len)

    def end_of(member: str) -> str:
        return next((end for end in shortest_first if f"/{member}".endswith(f"/{end}")), "")

    for member, lines in members(path, lambda member: end_of(member) != ""):
        missing.discard(name := end_of(member))
        yield name, f"{path.name}: {member}", lines
    for name in sorted(missing):
        raise FathomError(f"the file {name} is missing", path.name, REMEDY)


def check(path: Path) -> None:
    """Check all members of an archive, both ends of a parquet file, or where a packed file begins.

    Other files, such as plain text, are left to their reader.
    """
    if path.name.endswith(_ARCHIVES):
        deque(members(path, lambda name: False), maxlen=0)
    elif path.suffix == _PACKED:
        with _naming_faults(path), opened(path) as stream:
            if not stream.read(1):
                raise _refusal("it is empty", path)
    elif path.suffix == TABLE:
        with open(path, "rb") as stream:
            mark = BEGINNINGS[TABLE]
            first = stream.read(len(mark))
            stream.seek(-min(len(mark), path.stat().st_size), os.SEEK_END)
            if not first == stream.read() == mark:
                raise _refusal("it does not begin and end as a parquet file", path)


def check_blobs(path: Path, blobs: Mapping[str, str]) -> None:
    """Refuse an archive without members of these names, or with others than git has by these ids.

    An id is the SHA-1 of the member behind its kind and length.
    """
    for name, where, lines in named(path, blobs):
        content = b"".join(lines)
        digits = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        if digits != blobs[name]:
            raise FathomError(f"its id in git is {digits}, not {blobs[name]}", where, _REMEDY)


@contextmanager
def _naming_faults(path: Path) -> Iterator[None]:
    """Turn what is raised for a broken archive into one error; an error of the disk stays."""
    try:
        yield
    except (*BROKEN_ARCHIVE, OSError) as error:
        # bz2's error has no number, and a place before the file's begin is an invalid argument.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        what = f"not a readable archive ({str(error) or type(error).__name__})"
        raise _refusal(what, path) from None


def _lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    with _naming_faults(path):
        yield from stream


def _file_streams(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if selected(file.name):
            with opened(file) as stream:
                yield file.name, stream


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read bytes, after a byte order mark; one that ends in `.gz` is unpacked."""
    packed = path.suffix.lower() == ".gz"
    with cast("IO[bytes]", gzip.open(path)) if packed else open(path, "rb") as stream:
        stream.seek(len(BOM_UTF8) if stream.read(len(BOM_UTF8)) == BOM_UTF8 else 0)
        yield stream


def _zip_streams(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    size = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.flag_bits & _ENCRYPTED:
                raise _refusal(f"the member {member.filename!r} is encrypted", path)
            size += member.file_size
            _refuse_bomb(size, path)
            kind = stat.S_IFMT(member.external_attr >> 16) or stat.S_IFREG
            if kind == stat.S_IFREG and not member.is_dir() and selected(member.filename):
                with archive.open(member) as stream:
                    yield member.filename, _unpacked(member.filename, stream)


def _tar_streams(path: Path, selected: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    size = 0
    with tarfile.open(path, mode="r|*") as archive:
        for member in archive:
            size += member.size
            _refuse_bomb(size, path)
            wanted = member.isfile() and selected(member.name)
            if wanted and (stream := archive.extractfile(member)):
                yield member.name, _unpacked(member.name, stream)


def _unpacked(name: str, stream: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(stream)) if name.endswith(_PACKED) else stream


def _refuse_bomb(size: int, path: Path) -> None:
    limit = FREE_BYTES + MAX_EXPANSION * path.stat().st_size
    if size > limit:
        what = f"its content is more than {MAX_EXPANSION} times as large as the archive"
        raise _refusal(what, path)


def _refusal(what: str, path: Path) -> FathomError:
    return FathomError(what, str(path), _REMEDY)


def read_pairs(
    path: Path, names: tuple[str, str], needed: Container[int] | None = None, start: int = 0
) -> tuple[list[Pair], int]:
    """Return the pairs of two codes, the task's side first, and how many lines each has.

    A code is the end of a member's path: `a/b` is b in a folder a. A member whose name ends in
    `.sgm` has a sentence in each `seg`, with entities; `a.tsv:2` is the second column of `a.tsv`.
    With `*` and `?` a code stands for all members with such a name, in the order of a shell with
    LC_ALL=C; as in a shell, they match no hidden file.

    Lines are counted from `start`, through all members; without `needed`, which has the numbers of
    those that are kept, all are.
    """
    pairs: list[Pair] = []
    count = 0
    for both in _expanded(path, names):
        read, lines = _read_members(path, both, needed, start + count)
        pairs += read
        count += lines
    return pairs, count


def _expanded(path: Path, names: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of members that two codes stand for, each with its column."""
    if not {*"".join(names)} & {*_WILDCARDS}:
        return [names]
    found = sorted(PurePosixPath(member).name for member, _ in members(path, lambda _: True))
    shown = [file for file in found if not file.startswith(".")]
    for file, count in Counter(shown).items():
        if count > 1:
            raise FathomError(f"{count} files are called {file}", path.name, REMEDY)
    sides: list[list[str]] = []
    for name in names:
        pattern, _ = file_and_column(name)
        column = name.removeprefix(pattern)
        sides.append([f"{file}{column}" for file in shown if fnmatchcase(file, pattern)])
    first, second = sides
    if len(first) != len(second) or not first:
        what = f"{len(first)} and {len(second)} files match {' and '.join(names)}"
        raise FathomError(what, path.name, REMEDY)
    return [*zip(first, second, strict=True)]


def _read_members(
    path: Path, names: tuple[str, str], needed: Container[int] | None, start: int
) -> tuple[list[Pair], int]:
    sides: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    columns = {name: file_and_column(name) for name in names}
    for file, where, lines in named(path, {file for file, _ in columns.values()}):
        sgm = file.endswith(".sgm")
        in_file = [(name, column) for name, (of, column) in columns.items() if of == file]
        for name, _ in in_file:
            sides[name], counts[name] = [], 0
        for number, line in enumerate(_SEGMENT.findall(b"".join(lines)) if sgm else lines, 1):
            for name, column in in_file:
                counts[name] = number
                if needed is None or start + number - 1 in needed:
                    text = text_of(line, f"{where}, line {number}", column=column)
                    sides[name].append(html.unescape(text) if sgm else text)
    first, second = (counts[name] for name in names)
    if first != second:
        what = f"{first:,} and {second:,} lines in {' and '.join(names)}"
        raise FathomError(what, path.name, REMEDY)
    return [Pair(*texts) for texts in zip(*(sides[name] for name in names), strict=True)], first


def file_and_column(name: str) -> tuple[str, int | None]:
    """Return the file that a code names, and the column from 1; None for the whole line."""
    match = _COLUMN.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def decoded(line: bytes, where: str, remedy: str = REMEDY) -> str:
    """Return a line of UTF-8 as text."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FathomError(f"not UTF-8 at byte {error.start + 1}", where, remedy) from None


def text_of(line: bytes, where: str, remedy: str = REMEDY, column: int | None = None) -> str:
    """Return a line, or a column of it from 1, as text in which no character ends a line."""
    text = decoded(line, where, remedy)
    if column is not None:
        # An empty line has empty columns, as for `cut`.
        columns = text.split("\t") if text.strip("\r\n") else [""] * column
        if len(columns) < column:
            remedy = "correct the line, or name other columns"
            raise FathomError(f"no column {column}: the line has {len(columns)}", where, remedy)
        text = columns[column - 1]
    return one_line(text).strip()
