"""Records: what a stage wrote, with the SHA-256 of each file; readers compare before they use it.

The last file that a stage writes is its record, a JSON file. `files` holds the SHA-256 of all other
files by their path from the record's folder, and `record_sha256` that of the record's own content,
so that a changed number in it is noticed too.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import read_json, require_no_pipe, sha256, write_json
from fathom.io.hashes import identity

OWN = "record_sha256"
MISSING = "no such file"
CHANGED = "not the file that was recorded"


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record atomically, with the hash of its content.

    Args:
        path: the file.
        content: values that JSON has; `files` where the stage wrote other files.
    """
    # As it is read again: a tuple is a list there, and a key is text.
    plain = json.loads(json.dumps(content, allow_nan=False))
    write_json(path, plain | {OWN: identity(plain)})


def read_record(path: Path) -> dict[str, Any]:
    """Read a record without its own hash.

    Raises:
        FathomError: it is missing, is not JSON, or has another hash than its content.
    """
    content = read_json(path, again(path))
    own = content.pop(OWN, None)
    if own is None:
        what = "without a checksum: an older version or somebody else wrote it"
        raise FathomError(what, str(path), again(path))
    if own != _identity(content):
        what = "its content is not what was written: its checksum does not fit"
        raise FathomError(what, str(path), again(path))
    return content


def _identity(content: Mapping[str, Any]) -> str | None:
    """Return the hash of a record's content; None for numbers and text that no record has."""
    try:
        return identity(content)
    except ValueError:
        return None


@dataclass(frozen=True)
class Recorded:
    """The files of a stage.

    Attributes:
        record: the record.
        files: SHA-256 by path from the record's folder.
    """

    record: Path
    files: Mapping[str, str]

    @classmethod
    def of(cls, record: Path) -> "Recorded":
        """Return the files of a record.

        Raises:
            FathomError: the record is missing or damaged.
        """
        return cls(record, read_record(record)["files"])

    def path(self, name: str) -> Path:
        """Return the place of a file."""
        return self.record.parent / name

    def expected(self, name: str) -> str:
        """Return the SHA-256 that a file was recorded with.

        Raises:
            FathomError: it was not recorded.
        """
        if name not in self.files:
            what = f"not among the files of {self.record.name}"
            raise FathomError(what, str(self.path(name)), again(self.record))
        return self.files[name]

    def read(self, name: str) -> bytes:
        """Return a file's content, read once.

        Raises:
            FathomError: it is missing, or not the file that was recorded.
        """
        expected = self.expected(name)
        require_no_pipe(self.path(name), again(self.path(name)))
        try:
            content = self.path(name).read_bytes()
        except FileNotFoundError:
            raise self._unfit(name, MISSING) from None
        if hashlib.sha256(content).hexdigest() != expected:
            raise self._unfit(name, CHANGED)
        return content

    def lines(self, name: str) -> list[str]:
        """Return the lines of a text; only LF ends a line.

        Raises:
            FathomError: as for `read`.
        """
        return self.read(name).decode("utf-8").split("\n")[:-1]

    def stream(self, name: str) -> Iterator[str]:
        """Return the lines of a text that may be too large for memory; the file is read twice.

        Raises:
            FathomError: as for `read`, before the first line.
        """
        self.require(name)
        return self._stream(name)

    def _stream(self, name: str) -> Iterator[str]:
        with open(self.path(name), encoding="utf-8", newline="\n") as lines:
            for line in lines:
                yield line.removesuffix("\n")

    def require(self, *names: str) -> None:
        """Check files without holding them in memory.

        Args:
            *names: which; all, if none is given.

        Raises:
            FathomError: as for `read`, about the first one.
        """
        for name in names or self.files:
            self.expected(name)
            if reason := self.unfit(name):
                raise self._unfit(name, reason)

    def unfit(self, name: str) -> str | None:
        """Return why a recorded file cannot be used, or None if it can."""
        path = self.path(name)
        if not path.is_file():
            return MISSING
        return None if sha256(path) == self.files[name] else CHANGED

    def _unfit(self, name: str, reason: str) -> FathomError:
        return FathomError(reason, str(self.path(name)), again(self.path(name)))


def hashes(folder: Path, *patterns: str) -> dict[str, str]:
    """Return the SHA-256 of a folder's files that fit patterns, by their path from the folder."""
    paths = (path for pattern in patterns for path in sorted(folder.glob(pattern)))
    return {path.relative_to(folder).as_posix(): sha256(path) for path in paths}
