"""Records: the last file that a stage writes, with the SHA-256 of each file that it wrote.

`files` has the SHA-256 of all other files by their path from the record's folder. `record_sha256`
is that of the record's own content, so that a number that was changed in it is noticed too.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import read_json, sha256, why_no_file, write_json

HASH = "record_sha256"
CHANGED = "not the file that was recorded"


def identity(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as 64 hexadecimal digits.

    Keys are sorted, so their order in config files does not matter; 3 and 3.0 differ.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def short(identity_: str) -> str:
    """Return the first eight digits, as in the names of folders."""
    return identity_[:8]


def write_record(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record atomically, with the hash of its content; `files` are those of its stage."""
    # As it is read again: a tuple is a list there, and a key is text.
    plain = json.loads(json.dumps(content, allow_nan=False))
    write_json(path, plain | {HASH: identity(plain)})


def read_record(path: Path) -> dict[str, Any]:
    """Read a record without its own hash, which must be that of its content."""
    content = read_json(path, again(path))
    recorded = content.pop(HASH, None)
    if recorded is None:
        what = "without a checksum: an older version or somebody else wrote it"
        raise FathomError(what, str(path), again(path))
    try:
        computed = identity(content)
    except (ValueError, RecursionError):
        computed = None  # of numbers and text that no record has
    if recorded != computed:
        what = "checksum mismatch: the file changed after it was written"
        raise FathomError(what, str(path), again(path))
    for key in ("files", "lost"):
        if not isinstance(content.get(key, {}), dict):
            raise FathomError(f"`{key}` is no mapping", str(path), again(path))
    return content


@dataclass(frozen=True)
class Recorded:
    """The files of a stage; each is compared with its record before it is used."""

    record: Path
    # SHA-256 by path from the record's folder.
    files: Mapping[str, str]

    @classmethod
    def of(cls, record: Path) -> "Recorded":
        """Return the files of a record, which is refused if it is missing or damaged."""
        return cls(record, read_record(record).get("files", {}))

    def path(self, name: str) -> Path:
        """Return the place of a file, in the record's folder or (`../`) above it."""
        return Path(os.path.normpath(self.record.parent / name))

    def expected(self, name: str) -> str:
        """Return the SHA-256 that a file was recorded with; one that was not is refused."""
        if name not in self.files:
            what = f"not among the files of {self.record.name}"
            raise FathomError(what, str(self.path(name)), again(self.record))
        return self.files[name]

    def read(self, name: str) -> bytes:
        """Return a file's content; another file than the recorded one is refused."""
        self.require(name)
        return self.path(name).read_bytes()

    def lines(self, name: str) -> list[str]:
        """Return the lines of a text; only LF ends a line."""
        return self.read(name).decode("utf-8").split("\n")[:-1]

    def stream(self, name: str) -> Iterator[str]:
        """Return the lines of a text that may be too large for memory; it is checked first."""
        self.require(name)
        return self._stream(name)

    def _stream(self, name: str) -> Iterator[str]:
        with open(self.path(name), encoding="utf-8", newline="\n") as lines:
            for line in lines:
                yield line.removesuffix("\n")

    def require(self, *names: str) -> None:
        """Refuse files that are not the recorded ones; without names all of them are checked."""
        for name in names or self.files:
            self.expected(name)
            if reason := self.unfit(name):
                raise FathomError(reason, str(self.path(name)), again(self.path(name)))

    def unfit(self, name: str) -> str | None:
        """Return why a recorded file cannot be used, or None if it can."""
        if reason := why_no_file(self.path(name)):
            return reason
        return None if sha256(self.path(name)) == self.files[name] else CHANGED


def hashes(folder: Path, *patterns: str) -> dict[str, str]:
    """Return the SHA-256 of a folder's files that fit patterns, by their path from the folder."""
    paths = (path for pattern in patterns for path in sorted(folder.glob(pattern)))
    return {path.relative_to(folder).as_posix(): sha256(path) for path in paths if path.is_file()}
