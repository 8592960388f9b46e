"""Download one file over HTTP: resumed where it stopped, and never mixed from two versions.

The bytes received so far are in `<file>.part`; `<file>.part.json` records their address and version
(ETag or date). A download is resumed only if the server confirms that version.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import FathomError
from fathom.io.files import read_json, write_json

if TYPE_CHECKING:
    from requests import Response

Report = Callable[[str], None]

CHUNK = 1 << 18  # bytes
PROGRESS = 1 << 25  # bytes between two lines for the user
CONNECT_SECONDS, SILENCE_SECONDS = 15, 60
_AGAIN = "run it again to resume"
_OTHER = "try another address, or put the file by hand"


class _Dropped(Exception):
    """The connection ended before the file did."""


class _Changed(Exception):
    """The server has another version than the part that was received."""


class _Part:
    """The first bytes of a file, and the file's version."""

    def __init__(self, path: Path):
        self.path, self.note = path, path.with_name(f"{path.name}.json")

    def size(self) -> int:
        """Return the number of bytes received."""
        return self.path.stat().st_size if self.path.exists() else 0

    def version(self, address: str) -> str | None:
        """Return the version of the part, if it came from this address."""
        if not (self.size() and self.note.exists()):
            return None
        note = read_json(self.note)
        return note["version"] if note["address"] == address else None

    def begin(self, address: str, version: str | None) -> None:
        """Start from nothing; a part without a version is never resumed."""
        self.forget()
        if version:
            write_json(self.note, {"address": address, "version": version})

    def forget(self) -> None:
        """Delete the part and its note."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def download(address: str, part: Path, size: int, report: Report) -> None:
    """Download a file of a known size to `part`, resuming where possible.

    Args:
        address: the file's address.
        part: the path to write; its checksum is not compared here.
        size: the file's size in bytes.
        report: takes a line for the user.

    Raises:
        FathomError: the address has no file or another one, or the connection drops without
            progress.
    """
    received = _Part(part)
    # A complete part is left to the caller, who compares its checksum.
    while received.size() != size:
        before = received.size()
        try:
            _receive(address, received, size, report)
        except _Changed:
            report(f"{address} has changed: starting again")
            received.forget()
        except _Dropped as drop:
            now = received.size()
            what = f"{drop} at {now:,} of {size:,} bytes"
            if now <= before:
                raise FathomError(what, address, _AGAIN) from None
            report(f"{address}: {what}; resuming")


def forget(part: Path) -> None:
    """Delete a part and the note of its version."""
    _Part(part).forget()


def _receive(address: str, part: _Part, size: int, report: Report) -> None:
    """Make one request and append the bytes of its answer."""
    import requests
    import urllib3

    version = part.version(address)
    start = part.size() if version else 0
    # A compressed answer would have other bytes than the checksum.
    headers = {"Accept-Encoding": "identity"}
    if version:
        headers |= {"Range": f"bytes={start}-", "If-Range": version}
    seconds = (CONNECT_SECONDS, SILENCE_SECONDS)
    try:
        with requests.get(address, headers=headers, stream=True, timeout=seconds) as response:
            start = _start(response, version, start, size, address)
            chunks = response.raw.stream(CHUNK, decode_content=False)
            first = next(chunks, b"")
            _refuse(response, first, start, size, address)
            if start:
                report(f"{address}: resuming at {start:,} of {size:,} bytes")
            else:
                part.begin(address, _version(response))
            _append(part, first, chunks, size, address, report)
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
        raise _Dropped("the server stopped sending") from None
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError):
        raise _Dropped("the connection failed") from None
    if part.size() < size:
        raise _Dropped("the connection ended")


def _append(
    part: _Part, first: bytes, chunks: Iterator[bytes], size: int, address: str, report: Report
) -> None:
    """Write chunks as they arrive; stop at the first byte beyond the published size."""
    with open(part.path, "ab") as stream:
        count = stream.tell()
        chunk: bytes | None = first
        while chunk:
            count += len(chunk)
            if count > size:
                part.forget()
                raise FathomError(f"more than the published {size:,} bytes", address, _OTHER)
            stream.write(chunk)
            if count // PROGRESS > (count - len(chunk)) // PROGRESS:
                report(f"{address}: {count:,} of {size:,} bytes")
            chunk = next(chunks, None)


def _start(response: "Response", version: str | None, start: int, size: int, address: str) -> int:
    """Return the byte at which an answer starts.

    Raises:
        _Changed: the server has another version than the part.
        FathomError: the server refuses.
    """
    if version and response.status_code == 416:
        raise _Changed
    if response.status_code == 206:
        rest = f"bytes {start}-{size - 1}/{size}"
        same_version = _version(response) in (None, version)
        if response.headers.get("Content-Range", "") != rest or not same_version:
            raise _Changed
        return start
    if response.status_code != 200:
        what = f"the server answers {response.status_code} {response.reason or ''}".rstrip()
        raise FathomError(what, address, _OTHER)
    return 0


def _refuse(response: "Response", first: bytes, start: int, size: int, address: str) -> None:
    """Refuse an answer that cannot be the file, before the part is changed."""
    head = first[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start == 0 and head.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        raise FathomError("the server answers with a web page instead of the file", address, _OTHER)
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and start + int(length) != size:
        what = f"{start + int(length):,} bytes, not the published {size:,}"
        raise FathomError(what, address, _OTHER)


def _version(response: "Response") -> str | None:
    """Return the version of a file: a strong ETag, else its date."""
    tag = response.headers.get("ETag", "")
    if tag and not tag.startswith("W/"):
        return tag
    return response.headers.get("Last-Modified")
