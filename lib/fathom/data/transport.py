"""One file over HTTP: resumed where it stopped, and never spliced from two versions.

What has come so far stands in `<file>.part`; beside it, `<file>.part.json` says from which address
it is, and which version (ETag or date). Only when the server confirms that version is it gone on
with.
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
_AGAIN = "run it again: it goes on where it stopped"
_OTHER = "try another address, or put the file by hand"


class _Dropped(Exception):
    """The connection ended before the file did."""


class _Changed(Exception):
    """The server goes on with another version than the part that is here."""


class _Part:
    """The beginning of a file, and the version that it is the beginning of."""

    def __init__(self, path: Path):
        self.path, self.note = path, path.with_name(f"{path.name}.json")

    def size(self) -> int:
        """Return the number of bytes that are here."""
        return self.path.stat().st_size if self.path.exists() else 0

    def version(self, address: str) -> str | None:
        """Return the version of the part, if it came from this address."""
        if not (self.size() and self.note.exists()):
            return None
        note = read_json(self.note)
        return note["version"] if note["address"] == address else None

    def begin(self, address: str, version: str | None) -> None:
        """Start anew; a part without a version is never gone on with."""
        self.forget()
        if version:
            write_json(self.note, {"address": address, "version": version})

    def forget(self) -> None:
        """Delete what is here."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def download(address: str, part: Path, size: int, report: Report) -> None:
    """Bring a file of a known size to `part`, going on with what is there.

    Args:
        address: where it is.
        part: where it goes; not to be trusted before its checksum has been compared.
        size: its size in bytes.
        report: takes a line for the user.

    Raises:
        FathomError: it is not there, is another file, or the connection drops without progress.
    """
    received = _Part(part)
    # A whole part is left for the checksum to judge.
    while received.size() != size:
        before = received.size()
        try:
            _receive(address, received, size, report)
        except _Changed:
            report(f"{address} has changed meanwhile: starting again")
            received.forget()
        except _Dropped as drop:
            now = received.size()
            what = f"{drop} at {now:,} of {size:,} bytes"
            if now <= before:
                raise FathomError(what, address, _AGAIN) from None
            report(f"{address}: {what}; going on")


def forget(part: Path) -> None:
    """Delete a part and the note of its version."""
    _Part(part).forget()


def _receive(address: str, part: _Part, size: int, report: Report) -> None:
    """Make one request and append what it brings."""
    import requests
    import urllib3

    version = part.version(address)
    start = part.size() if version else 0
    # Packed on the way would mean other bytes than the checksum is of.
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
                report(f"{address}: going on at {start:,} of {size:,} bytes")
            else:
                part.begin(address, _version(response))
            _append(part, first, chunks, size, address, report)
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
        raise _Dropped("the server fell silent") from None
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError):
        raise _Dropped("the connection failed") from None
    if part.size() < size:
        raise _Dropped("the connection ended")


def _append(
    part: _Part, first: bytes, chunks: Iterator[bytes], size: int, address: str, report: Report
) -> None:
    """Write chunks as they come, and stop at the first byte too many."""
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
    """Return the byte at which an answer begins.

    Raises:
        _Changed: it would go on with another version than ours.
        FathomError: the server refuses.
    """
    if version and response.status_code == 416:
        raise _Changed
    if response.status_code == 206:
        place = response.headers.get("Content-Range", "")
        if place != f"bytes {start}-{size - 1}/{size}" or _version(response) not in (None, version):
            raise _Changed
        return start
    if response.status_code != 200:
        what = f"the server answers {response.status_code} {response.reason or ''}".rstrip()
        raise FathomError(what, address, _OTHER)
    return 0


def _refuse(response: "Response", first: bytes, start: int, size: int, address: str) -> None:
    """Refuse what cannot be the file, before anything that is here is touched."""
    head = first[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start == 0 and head.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        raise FathomError("the server answers with a web page, not with the file", address, _OTHER)
    length = response.headers.get("Content-Length", "")
    if length.isdigit() and start + int(length) != size:
        what = f"{start + int(length):,} bytes, not the published {size:,}"
        raise FathomError(what, address, _OTHER)


def _version(response: "Response") -> str | None:
    """Return what names the version of a file: a strong ETag, else its date."""
    tag = response.headers.get("ETag", "")
    if tag and not tag.startswith("W/"):
        return tag
    return response.headers.get("Last-Modified")
