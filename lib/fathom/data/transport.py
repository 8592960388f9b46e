"""Download one file over HTTP: resumed where it stopped, and never mixed from two versions.

The bytes received so far are in `<file>.part`; `<file>.part.json` records their address and version
(ETag or date). A download is resumed only if the server confirms that version.
"""

import re
import time
from collections.abc import Callable, Iterable
from http.client import responses
from itertools import chain
from pathlib import Path

from requests import Response

from fathom.data.answers import LIMITS, Failed, Limits, TooSlow, ask
from fathom.io.errors import FathomError, without_secrets
from fathom.io.files import read_json, write_json

Report = Callable[[str], None]

PROGRESS = 1 << 25  # bytes between two lines for the user
HEAD = 512  # bytes in which a web page is noticed
_NOT_ASKED = "the server answers with a part that was not asked for"
_AGAIN = "run it again to resume"
_OTHER = "try another address, or put the file by hand"


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
        """Return the version of the part, if a note says that it came from this address."""
        try:
            note = read_json(self.note)
        except FathomError:
            return None
        same = note.get("address") == without_secrets(address)
        return _usable(note.get("version")) if same and self.size() else None

    def begin(self, address: str, version: str | None) -> None:
        """Start from nothing; a part without a version is never resumed."""
        self.forget()
        if version:
            write_json(self.note, {"address": without_secrets(address), "version": version})

    def forget(self) -> None:
        """Delete the part and its note."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def download(
    address: str, part: Path, size: int | None, report: Report, limits: Limits = LIMITS
) -> None:
    """Download a file to `part`, resuming where possible.

    Args:
        address: the file's address.
        part: the path to write; its checksum is not compared here.
        size: the file's size in bytes; None where nobody publishes it. Then it is what the server
            says, and if that says nothing, the file ends with the answer and is never resumed.
        report: takes a line for the user.
        limits: of attempts and time.

    Raises:
        FathomError: the address has no file or another one, or the connection drops without
            progress or too often, or the server is too slow.
    """
    received, place = _Part(part), without_secrets(address)
    changes = drops = 0
    if size is None:
        size = _length(address, limits)
    if size is None:
        try:
            _receive(address, received, None, report, limits)
        except Failed as failed:
            received.forget()
            raise FathomError(str(failed), place, f"run it again, {_OTHER}") from None
        return
    # A complete part is left to the caller, who compares its checksum.
    while received.size() != size:
        before = received.size()
        try:
            _receive(address, received, size, report, limits)
        except _Changed:
            changes += 1
            received.forget()
            if changes > 1:
                raise FathomError(_NOT_ASKED, place, _OTHER) from None
            report(f"{place} has changed: starting again")
        except Failed as failed:
            drops += 1
            now = received.size()
            what = f"{failed} at {now:,} of {size:,} bytes"
            if now <= before or drops > limits.drops or isinstance(failed, TooSlow):
                what += f", resumed {drops - 1} times before" if drops > 1 else ""
                raise FathomError(what, place, _AGAIN) from None
            report(f"{place}: {what}; resuming")
            time.sleep(min(limits.longest_pause, limits.pause * 2 ** (drops - 1)))


def forget(part: Path) -> None:
    """Delete a part and the note of its version."""
    _Part(part).forget()


def _length(address: str, limits: Limits) -> int | None:
    """Return the length that a server says a file has, or None."""
    place = without_secrets(address)
    try:
        response, chunks = ask(address, {"Accept-Encoding": "identity"}, limits)
    except Failed as failed:
        raise FathomError(str(failed), place, f"run it again, {_OTHER}") from None
    _start(response, None, 0, None, place)
    chunks.close()
    return _content_length(response)


def _receive(address: str, part: _Part, size: int | None, report: Report, limits: Limits) -> None:
    """Make one request and append the bytes of its answer."""
    version = part.version(address) if size is not None else None
    place = without_secrets(address)
    start = part.size() if version else 0
    # A compressed answer would have other bytes than the checksum.
    headers = {"Accept-Encoding": "identity"}
    if version:
        headers |= {"Range": f"bytes={start}-", "If-Range": version}
    try:
        response, chunks = ask(address, headers, limits)
    except Failed as failed:
        raise FathomError(str(failed), place, f"run it again, {_OTHER}") from None
    start = _start(response, version, start, size, place)
    first = b""
    while len(first) < (1 if start else HEAD) and (chunk := next(chunks, b"")):
        first += chunk
    _refuse(response, first, start, size, place)
    if start:
        report(f"{place}: resuming at {start:,}{_of(size)}")
    else:
        part.begin(address, _version(response))
    _append(part, chain([first], chunks), size, place, report)
    if size is not None and part.size() < size:
        raise Failed("the connection ended")


def _append(
    part: _Part, chunks: Iterable[bytes], size: int | None, place: str, report: Report
) -> None:
    """Write chunks as they arrive; stop at the first byte beyond the published size."""
    with open(part.path, "ab") as stream:
        count = stream.tell()
        for chunk in chunks:
            count += len(chunk)
            if size is not None and count > size:
                part.forget()
                raise FathomError(f"more than the published {size:,} bytes", place, _OTHER)
            stream.write(chunk)
            if count // PROGRESS > (count - len(chunk)) // PROGRESS:
                report(f"{place}: {count:,}{_of(size)}")


def _of(size: int | None) -> str:
    return " bytes" if size is None else f" of {size:,} bytes"


def _start(
    response: Response, version: str | None, start: int, size: int | None, place: str
) -> int:
    """Return the byte at which an answer starts.

    Raises:
        _Changed: the answer is a part of another version, or not the part that was asked for.
        FathomError: the server refuses.
    """
    status = response.status_code
    if version and status == 416:
        raise _Changed
    if status == 206 and not version:
        raise FathomError(_NOT_ASKED, place, _OTHER)
    if status == 206 and size is not None:
        rest = f"bytes {start}-{size - 1}/{size}"
        same_version = _version(response) in (None, version)
        if response.headers.get("Content-Range", "") != rest or not same_version:
            raise _Changed
        return start
    if status != 200:
        # Not the server's own words: they may be anything.
        what = f"the server answers {status} {responses.get(status, '')}".rstrip()
        raise FathomError(what, place, _OTHER)
    return 0


def _refuse(response: Response, first: bytes, start: int, size: int | None, place: str) -> None:
    """Refuse an answer that cannot be the file, before the part is changed."""
    head = first[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start == 0 and head.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        raise FathomError("the server answers with a web page instead of the file", place, _OTHER)
    length = _content_length(response)
    if length is not None and size is not None and start + length != size:
        what = f"{start + length:,} bytes, not the published {size:,}"
        raise FathomError(what, place, _OTHER)


def _content_length(response: Response) -> int | None:
    """Return the length of an answer, if it says one; a length of more digits is none."""
    length = response.headers.get("Content-Length", "")
    return int(length) if re.fullmatch("[0-9]{1,18}", length) else None


def _version(response: Response) -> str | None:
    """Return the version of a file: a strong ETag, else its date."""
    tag = response.headers.get("ETag", "")
    if tag and not tag.startswith("W/"):
        return _usable(tag)
    return _usable(response.headers.get("Last-Modified"))


def _usable(version: object) -> str | None:
    """Return a version if the header of a request can hold it."""
    if isinstance(version, str) and re.fullmatch(r"[!-~]([ -~]*[!-~])?", version):
        return version
    return None
