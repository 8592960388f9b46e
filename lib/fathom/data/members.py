"""Members of an archive that hold plain text: found by name, and read line by line."""

from collections.abc import Collection, Container, Mapping
from pathlib import Path, PurePosixPath

from fathom.data.clean import one_line
from fathom.io.errors import FathomError

REMEDY = "the source is not the file that this reader was written for"


def plain(member: str) -> str:
    """Return a member's name without its folders."""
    return PurePosixPath(member).name


def require(names: Collection[str], read: Container[str], archive: Path) -> None:
    """Refuse an archive in which a member is missing.

    Args:
        names: the members that are needed, without folders.
        read: those that are there.
        archive: its path.

    Raises:
        FathomError: one is not there.
    """
    for name in sorted(names):
        if name not in read:
            raise FathomError(f"the file {name} is missing", archive.name, REMEDY)


def one_length(counts: Mapping[str, int], archive: Path) -> int:
    """Return the number of lines of two sides.

    Args:
        counts: by the members' names.
        archive: where they are.

    Raises:
        FathomError: the sides have different numbers of lines.
    """
    if len(set(counts.values())) > 1:
        lengths = " and ".join(f"{count:,}" for count in counts.values())
        raise FathomError(f"{lengths} lines in {' and '.join(counts)}", archive.name, REMEDY)
    return next(iter(counts.values()))


def text_of(line: bytes, where: str) -> str:
    """Return a line as text in which no character ends a line.

    Args:
        line: with or without its end.
        where: its place in messages.

    Raises:
        FathomError: it is not UTF-8.
    """
    try:
        return one_line(line.decode("utf-8")).strip()
    except UnicodeDecodeError:
        raise FathomError("not UTF-8", where, REMEDY) from None
