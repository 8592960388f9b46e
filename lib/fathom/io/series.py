"""A compressed table that grows with a training: one row for each number recorded in an update.

Columns are `update`, one for each axis, and `value`. Each append is one gzip member, which ends in
a checksum; a damaged member is ignored, with those after it. A file without rows does not exist.
"""

import gzip
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import naming, replacing, require_file

Row = tuple[int, tuple[str, ...], float]
FIRST, LAST = "update", "value"
_GZIP = 31  # zlib's code for a gzip member with its checksum, in the largest window.
_CHUNK = 1 << 16


def append(path: Path, axes: tuple[str, ...], rows: Iterable[Row]) -> None:
    """Append rows and sync the file, whose folder is created; equal rows give equal bytes.

    After a killed process, call `cut` first. A file with other columns is refused. `axes` are the
    columns between `update` and `value`; a value that is not finite is an empty field.
    """
    header = "\t".join((FIRST, *axes, LAST))
    lines = ["\t".join((str(update), *places, _field(value))) for update, places, value in rows]
    if not lines:
        return
    if not path.exists():
        lines.insert(0, header)
    elif _header(path) != header:
        what = f"columns '{_header(path)}' where '{header}' is to be written"
        raise FathomError(what.replace("\t", " "), str(path), "move the file away, and train on")
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), open(path, "ab") as stream:
        stream.write(_packed(lines))
        stream.flush()
        os.fsync(stream.fileno())


def cut(path: Path, update: int) -> bool:
    """Drop the rows after an update and damaged members; return whether there were any.

    The file is replaced, or deleted if no row is left.
    """
    packed = path.read_bytes()
    stay, rows, seen = b"", 0, 0
    for start, end, lines in _members(packed):
        remaining = [line for line in lines if _is_header(line) or _update(line) <= update]
        rows += sum(not _is_header(line) for line in remaining)
        if remaining:
            stay += packed[start:end] if len(remaining) == len(lines) else _packed(remaining)
        seen = end
    if rows == 0:
        path.unlink()
    elif stay != packed:
        with replacing(path, "wb") as stream:
            stream.write(stay)
    return seen < len(packed)


def read(path: Path) -> dict[str, list]:
    """Return the columns by name: updates as integers, labels as text, values or None."""
    require_file(path, again(path))
    packed = path.read_bytes()
    lines, seen = [], 0
    for _, end, more in _members(packed):
        lines += more
        seen = end
    if seen < len(packed) or not lines:
        raise FathomError(f"damaged after {len(lines)} lines", str(path), again(path))
    names, *rows = (line.split("\t") for line in lines)
    try:
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        columns[FIRST] = [int(text) for text in columns[FIRST]]
        columns[LAST] = [float(text) if text else None for text in columns[LAST]]
    except (IndexError, KeyError, ValueError):
        raise FathomError("no table of a training", str(path), again(path)) from None
    return columns


def _members(packed: bytes) -> Iterator[tuple[int, int, list[str]]]:
    """Yield start, end and lines of the members, up to the first incomplete one."""
    start = 0
    while start < len(packed):
        member, parts, place = zlib.decompressobj(wbits=_GZIP), [], start
        try:
            # In chunks: zlib copies the input that it did not use.
            while not member.eof and place < len(packed):
                parts.append(member.decompress(packed[place : place + _CHUNK]))
                place += _CHUNK
        except zlib.error:
            return
        if not member.eof:
            return
        end = min(place, len(packed)) - len(member.unused_data)
        yield start, end, b"".join(parts).decode("utf-8", "replace").split("\n")[:-1]
        start = end


def _header(path: Path) -> str:
    """Return the first line, empty if the first member is incomplete."""
    first = next(_members(path.read_bytes()), (0, 0, []))[2]
    return first[0] if first else ""


def _is_header(line: str) -> bool:
    return line.startswith(f"{FIRST}\t")


def _update(line: str) -> int:
    return int(line.partition("\t")[0])


def _packed(lines: list[str]) -> bytes:
    text = "".join(f"{line}\n" for line in lines)
    # Without the time, which gzip would write too.
    return gzip.compress(text.encode("utf-8"), mtime=0)


def _field(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""
