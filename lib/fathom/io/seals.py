"""Sealed files: a checkpoint that ends in the SHA-256 of everything before it.

PyTorch writes checkpoints as zip files and compares none of their checksums when it reads them. A
zip file may end in a comment; the seal is that comment, so that `torch.load` and other programs
read a sealed file as it is.
"""

import hashlib
import os
import pickletools
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import BROKEN_ARCHIVE, replacing, require_file

DIGITS = 64
# The first key of a state: the identity of its run, and the seed.
OF = "of"
# A zip file ends in the length of its comment, two bytes, the low one first.
_LENGTH = DIGITS.to_bytes(2, "little")
_CHUNK = 1 << 20


@contextmanager
def sealed(path: Path) -> Iterator[IO[bytes]]:
    """Seal the zip file without a comment that the block writes, and replace `path` by it."""
    with replacing(path, "w+b") as stream:
        yield stream
        stream.seek(-len(_LENGTH), os.SEEK_END)
        stream.write(_LENGTH)
        stream.seek(0)
        digest = hashlib.file_digest(stream, "sha256")  # pyright: ignore[reportArgumentType]
        stream.write(digest.hexdigest().encode())


def checked_seal(path: Path) -> str:
    """Return the SHA-256 of a sealed file, whose seal must be there and fit."""
    require_file(path, again(path))
    digest, left = hashlib.sha256(), path.stat().st_size - DIGITS
    with open(path, "rb") as stream:
        while left > 0 and (chunk := stream.read(min(left, _CHUNK))):
            digest.update(chunk)
            left -= len(chunk)
        end = stream.read(DIGITS + 1)
    if len(end) != DIGITS or not set(end) <= set(b"0123456789abcdef"):
        what = "without the checksum at its end: cut off, or not written by fathom"
        raise FathomError(what, str(path), again(path))
    if end.decode() != digest.hexdigest():
        what = "checksum mismatch: the file changed after it was written"
        raise FathomError(what, str(path), again(path))
    digest.update(end)
    return digest.hexdigest()


def owner(path: Path) -> dict[str, str]:
    """Return `identity` and `seed` of the training whose state a checkpoint is; else nothing.

    torch is not needed, and no code in the file runs: only the words of its pickle are read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
            codes = [*pickletools.genops(archive.read(name))]
    except BROKEN_ARCHIVE:
        return {}  # no checkpoint of torch, which its reader refuses
    words = [str(word) for code, word, _ in codes if word is not None and "PUT" not in code.name]
    at = words.index(OF) + 1 if OF in words else len(words)
    return dict(zip(("identity", "seed"), words[at:], strict=False))
