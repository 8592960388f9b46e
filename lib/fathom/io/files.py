"""Files that are complete or absent: written under another name, synced, then renamed."""

import fcntl
import hashlib
import json
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from fathom.io.errors import FathomError

# What Python raises for an archive that is damaged, besides an OSError without a number. A header
# of gzip that is cut off is a TypeError, a link to a member that is not there a KeyError.
BROKEN_ARCHIVE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError,
    NotImplementedError, ValueError, OverflowError, struct.error, TypeError, KeyError,
)  # fmt: skip
MISSING = "no such file"
# What a killed writer leaves: `.<name>.<process>.part`.
_PARTS = ".*.[0-9]*.part"


@contextmanager
def naming(path: Path, *others: Path) -> Iterator[None]:
    """Give what the disk refuses inside the block the name of the file.

    torch raises a RuntimeError after it; in place of that it is raised again. `others` are
    temporary files, whose names would tell a user nothing.
    """
    try:
        yield
    except (OSError, RuntimeError) as error:
        refusal = error if isinstance(error, OSError) else error.__context__
        if not isinstance(refusal, OSError):
            raise
        if refusal.filename in (None, *map(str, others)):
            refusal.filename = str(path)
        raise refusal from None


@contextmanager
def replacing(path: Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file that replaces `path` if the block ends without an error.

    Its folder is created. Mode "w" is UTF-8 text with LF line ends; "wb" and "w+b" are bytes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    remove_leftovers(path.parent.glob(_PARTS))
    with naming(path, temporary):
        try:
            with open(_locked(temporary), mode, encoding=encoding, newline=newline) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                # Before the lock goes: a file without one counts as left over.
                os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _locked(path: Path) -> int:
    """Create a file with a lock, which shows that its writer lives; return its descriptor.

    Another process may delete the file before it has its lock; then it is created again. Where the
    file system has no locks, nobody deletes it.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:
            return file
        os.close(file)


@contextmanager
def appending(path: Path) -> Iterator[IO[str]]:
    """Open a file of UTF-8 text with LF line ends, to which the block appends."""
    with naming(path), open(path, "a", encoding="utf-8", newline="\n") as stream:
        yield stream


def remove_leftovers(parts: Iterable[Path]) -> None:
    """Delete temporary files whose writer was killed; a living one holds a lock on its file."""
    for part in parts:
        with suppress(OSError), open(part, "r+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def leftovers(folder: Path) -> Iterator[Path]:
    """Return the temporary files below a folder."""
    return folder.rglob(_PARTS)


def set_aside(path: Path, suffix: str = ".damaged") -> str:
    """Rename a file that cannot be used, or that is made again; return its new name."""
    aside = path.with_suffix(suffix)
    # Another process of the same run may have renamed it.
    with suppress(FileNotFoundError):
        os.replace(path, aside)
    return aside.name


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, all of it or nothing."""
    with replacing(path) as stream:
        stream.write(text)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a line for each item, ended by LF."""
    with replacing(path) as stream:
        stream.writelines(f"{line}\n" for line in lines)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file that `write_lines` wrote; only LF ends a line."""
    return path.read_bytes().decode("utf-8").split("\n")[:-1]


def write_json(path: Path, value: object) -> None:
    """Write JSON with sorted keys; NaN and infinity raise an error, since JSON has neither."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: Path, remedy: str = "delete it and run again") -> dict:
    """Read a JSON file whose top level is an object, or refuse it; `remedy` makes it again."""
    require_file(path, remedy)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FathomError(MISSING, str(path), remedy) from None
    except (ValueError, RecursionError) as error:
        raise FathomError(f"not JSON ({error})", str(path), remedy) from None
    if not isinstance(value, dict):
        raise FathomError("not a JSON object", str(path), remedy)
    return value


def is_there(path: Path) -> bool:
    """Return whether anything is in the place of a file; its reader refuses what is no file."""
    return os.path.lexists(path)


def require_file(path: Path, remedy: str) -> None:
    """Refuse a place where no file is; all readers say in the same words what is there."""
    if reason := why_no_file(path):
        raise FathomError(reason, str(path), remedy)


def why_no_file(path: Path) -> str:
    """Return what is in the place of a file; nothing where a file is."""
    if path.is_file():
        return ""
    if path.exists():
        # The end of a pipe would be waited for.
        return "a folder, not a file" if path.is_dir() else "not a file"
    return "a link to nothing" if path.is_symlink() else MISSING


def sha256(path: Path, algorithm: str = "sha256") -> str:
    """Return the SHA-256 of a file, or another checksum, in hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest()
