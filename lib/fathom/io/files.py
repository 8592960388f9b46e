"""Files that are complete or absent: written under another name, synced, then renamed."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fathom.errors import FathomError


@contextmanager
def replacing(path: Path, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file that replaces `path` if the block ends without an error.

    Args:
        path: the file to write; its folder is created.
        mode: "w" for UTF-8 text with LF line ends, "wb" for bytes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    try:
        with open(temporary, mode, encoding=encoding, newline=newline) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, all of it or nothing."""
    with replacing(path) as stream:
        stream.write(text)


def write_lines(path: Path, lines: list[str]) -> None:
    """Write a line for each item, ended by LF."""
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file that `write_lines` wrote; only LF ends a line."""
    text = path.read_bytes().decode("utf-8")
    return text.split("\n")[:-1]


def write_json(path: Path, value: object) -> None:
    """Write JSON with sorted keys; NaN and infinity raise an error, since JSON has neither."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: Path, remedy: str = "delete it and run again") -> dict:
    """Read a JSON file whose top level is an object.

    Args:
        path: the file.
        remedy: what makes it again.

    Raises:
        FathomError: the file is missing, or is not JSON or no object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FathomError("no such file", str(path), remedy) from None
    except ValueError as error:
        raise FathomError(f"not JSON ({error})", str(path), remedy) from None
    if not isinstance(value, dict):
        raise FathomError("not a JSON object", str(path), remedy)
    return value


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
