"""Packages of Debian (.deb): where the archive of their files begins.

The form is ar's: a first line, then members, each with a header of 60 bytes. The files that would
be installed are the member `data.tar`, packed.
"""

from typing import IO

FIRST_LINE = b"!<arch>\n"
_HEADER, _NAME, _SIZE = 60, slice(16), slice(48, 58)


def is_debian(stream: IO[bytes]) -> bool:
    """Return whether a file begins as a package of Debian does; it is read from its beginning."""
    stream.seek(0)
    return stream.read(len(FIRST_LINE)) == FIRST_LINE


def to_data(stream: IO[bytes]) -> None:
    """Move to the beginning of the archive of a package's files.

    Args:
        stream: the package.

    Raises:
        EOFError: it has none, or a header is damaged.
    """
    stream.seek(len(FIRST_LINE))
    while len(header := stream.read(_HEADER)) == _HEADER:
        if header[_NAME].startswith(b"data.tar"):
            return
        if not header[_SIZE].strip().isdigit():
            break
        # A member begins at an even place.
        size = int(header[_SIZE])
        stream.seek(size + size % 2, 1)
    raise EOFError("it has no data.tar")
