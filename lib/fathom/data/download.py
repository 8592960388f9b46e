"""Download one file over HTTP: resumed where it stopped, and never mixed from two versions.

The bytes received so far are in `<file>.part`; `<file>.part.json` records their address and version
(ETag or date). A download is resumed only if the server confirms that version.
"""

import re
import ssl
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from http.client import responses
from itertools import chain, takewhile
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import requests.exceptions as of_requests
import urllib3.exceptions as of_urllib3
from requests import Response, Session
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from fathom.config.schema.source import Checks
from fathom.data.archives import BEGINNINGS
from fathom.io.errors import FathomError, without_secrets
from fathom.io.files import read_json, write_json

Report = Callable[[str], None]

CHUNK = 1 << 18  # bytes
PROGRESS = 1 << 25  # bytes between two lines for the user
HEAD = 512  # bytes in which a web page is noticed
# Answers of a server that is busy, which is asked again.
_BUSY = (429, 502, 503, 504)
_NOT_ASKED = "the server answers with a part that was not asked for"
_WEB_PAGE = "the server answers with a web page instead of the file"
# Answers to a request for a part that a request for the whole file may not get.
_REFUSES = tuple(f"the server answers {status}" for status in (400, 403, 405, 416, 501))
# Ends of names that are short for others.
_SHORT_FOR = {".tgz": ".gz", ".whl": ".zip"}
_OTHER = "try another address, or put the file by hand"
# What requests and urllib3 raise; a redirect to no address is a ValueError.
_FAILURES = (OSError, of_urllib3.HTTPError, ValueError)
# Their causes in words; the first that fits counts: a proxy that refuses the connection is the
# proxy's fault.
_CAUSES = (
    (of_requests.TooManyRedirects, "the server redirects in a circle, or too often"),
    (of_requests.InvalidSchema, "the server redirects to an address that is not http or https"),
    (of_requests.InvalidProxyURL, "the proxy's address is wrong (HTTP_PROXY, HTTPS_PROXY)"),
    (ValueError, "the address, or one that it redirects to, is not a web address"),
    (of_urllib3.ProxyError, "the proxy cannot be used (HTTP_PROXY, HTTPS_PROXY, NO_PROXY)"),
    (ssl.SSLCertVerificationError, "the certificate of '{host}' is not accepted ({reason})"),
    (of_requests.SSLError, "no secure connection can be made"),
    (of_urllib3.NameResolutionError, "the host '{host}' is not known"),
    (ConnectionRefusedError, "the host '{host}' refuses the connection"),
    (of_requests.ConnectTimeout, "the host '{host}' does not answer"),
    (of_urllib3.NewConnectionError, "the host '{host}' cannot be reached"),
    (of_requests.Timeout, "the server does not answer"),
    ((of_urllib3.TimeoutError, TimeoutError), "the server stopped sending"),
    (of_requests.ConnectionError, "the server ended the connection, or its answer is not HTTP"),
    (of_urllib3.HTTPError, "the connection ended"),
)


@dataclass(frozen=True)
class Limits:
    """What a download may take."""

    drops: int = 20  # connections that may end early
    pause: float = 1.0  # seconds before the first attempt after a drop; each next is twice as long
    longest_pause: float = 30.0  # seconds
    connect: float = 15.0  # seconds to connect
    silence: float = 60.0  # seconds without a byte
    rate: float = 1000.0  # bytes per second that must arrive …
    rate_over: float = 300.0  # … measured over these seconds


LIMITS = Limits()


class Failed(Exception):
    """There is no answer, or not all of it; the text is the cause."""


class TooSlow(Failed):
    """Bytes arrive below the minimum rate."""


class _Changed(Exception):
    """The server has another version than the part that was received."""


def download(
    address: str, part: Path, size: int | None, report: Report, limits: Limits = LIMITS
) -> Checks | None:
    """Download a file to `part`, resuming where possible; its checksum is left to the caller.

    `size` is the published number of bytes; None where nobody publishes it. Then it is what the
    server says, or else the file ends with the answer; and what the site publishes of the file with
    its answer is returned.
    """
    place = without_secrets(address)
    changes = drops = 0
    while size is None or _length(part) != size:
        before = _length(part)
        try:
            return _receive(address, part, size, report, limits)
        except _Changed:
            changes += 1
            forget(part)
            if changes > 1:
                raise FathomError(_NOT_ASKED, place, _OTHER) from None
            report(f"{place} has changed: starting again")
        except Failed as failed:
            drops += 1
            now = _length(part)
            what = f"{failed} at {now:,}{_of(size)}"
            if now <= before or drops > limits.drops or isinstance(failed, TooSlow):
                what += f", resumed {drops - 1} times before" if drops > 1 else ""
                if _noted(part, address):
                    raise FathomError(what, place, "run it again to resume") from None
                forget(part)
                raise FathomError(what, place, f"run it again, {_OTHER}") from None
            report(f"{place}: {what}; resuming")
            time.sleep(min(limits.longest_pause, limits.pause * 2 ** (drops - 1)))
    return None


@dataclass(frozen=True)
class Answer:
    """What a server answers about the file at an address."""

    fault: str  # why the address does not have the file; empty if it does
    size: int | None = None  # bytes of the file, where the server says it
    moved_to: str = ""  # the host to which the address is redirected for good


def ask(address: str, file: str, limits: Limits = LIMITS) -> Answer:
    """Ask an address for a file, and read its first bytes alone.

    A web page, or bytes with which no file of this name begins, are not the file.
    """
    answer = _ask(address, file, {"Range": f"bytes=0-{HEAD - 1}"}, limits)
    # Some servers refuse any request for a part.
    return _ask(address, file, {}, limits) if answer.fault.startswith(_REFUSES) else answer


def _ask(address: str, file: str, headers: Mapping[str, str], limits: Limits) -> Answer:
    try:
        with closing(_answer(address, headers, limits)) as answer:
            response = next(answer)
            moved = _moved_to(response)
            if response.status_code != 206 and (refusal := _refusal(response)):
                return Answer(refusal, moved_to=moved)
            first = b""
            while len(first) < HEAD and (chunk := next(answer, b"")):
                first += chunk
    except Failed as failed:
        return Answer(str(failed))
    size = _told(response)
    if response.status_code == 206:
        match = re.fullmatch(
            "bytes 0-[0-9]+/([0-9]{1,18})", response.headers.get("Content-Range", "")
        )
        size = int(match[1]) if match else None
    return Answer(_not_the_file(file, response, first), size, moved)


def _moved_to(response: Response) -> str:
    """Return the host to which an address is redirected for good; empty if it is not."""
    hosts = [urlsplit(each.url).hostname or "" for each in (*response.history, response)]
    # A temporary redirect may lead elsewhere tomorrow, and so may all that come after it.
    permanent = [*takewhile(attrgetter("is_permanent_redirect"), response.history)]
    last = hosts[len(permanent)]
    return last if last != hosts[0] else ""


def _not_the_file(file: str, response: Response, first: bytes) -> str:
    """Return why the first bytes of an answer are not those of a file; empty if they may be."""
    kind = response.headers.get("Content-Type", "")
    if _is_web_page(first) or kind.startswith("text/html"):
        return _WEB_PAGE
    end = PurePosixPath(file).suffix
    if not first.startswith(BEGINNINGS.get(_SHORT_FOR.get(end, end), b"")):
        return f"its first bytes are not those of a file that ends in {end}"
    return ""


def _is_web_page(first: bytes) -> bool:
    head = first.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml"))


def forget(part: Path) -> None:
    """Delete a part and the note of its version."""
    part.unlink(missing_ok=True)
    _note(part).unlink(missing_ok=True)


def _receive(
    address: str, part: Path, size: int | None, report: Report, limits: Limits
) -> Checks | None:
    """Make one request and append the bytes of its answer."""
    place, version = without_secrets(address), _noted(part, address)
    headers = {"Range": f"bytes={_length(part)}-", "If-Range": version} if version else {}
    with closing(_answer(address, headers, limits)) as answer:
        response = next(answer)
        of_site = None if size else _of_site(response)
        size = of_site.bytes if of_site else size
        start, told = _extent(response, version, _length(part), size, place)
        first = b""
        while len(first) < (1 if start else HEAD) and (chunk := next(answer, b"")):
            first += chunk
        if start == 0 and _is_web_page(first):
            raise FathomError(_WEB_PAGE, place, _OTHER)
        if told is not None and size not in (None, told):
            raise FathomError(f"{told:,} bytes, not the published {size:,}", place, _OTHER)
        size = size or told
        if start:
            report(f"{place}: resuming at {start:,}{_of(size)}")
        else:
            forget(part)
            write_json(_note(part), {"address": place, "version": _version(response)})
        with open(part, "ab") as stream:
            count = stream.tell()
            for chunk in chain([first], answer):
                count += len(chunk)
                if size is not None and count > size:
                    forget(part)
                    raise FathomError(f"more than the published {size:,} bytes", place, _OTHER)
                stream.write(chunk)
                if count // PROGRESS > (count - len(chunk)) // PROGRESS:
                    report(f"{place}: {count:,}{_of(size)}")
    if size is not None and count < size:
        raise Failed("the connection ended")
    return of_site


def _extent(
    response: Response, version: str | None, length: int, size: int | None, place: str
) -> tuple[int, int | None]:
    """Return the byte at which an answer starts, and the size that the server says the file has."""
    status = response.status_code
    if status == 206 and not version:
        raise FathomError(_NOT_ASKED, place, _OTHER)
    if status == 206:
        says = response.headers.get("Content-Range", "")
        match = re.fullmatch(rf"bytes {length}-([0-9]{{1,18}})/([0-9]{{1,18}})", says)
        if match is None or int(match[1]) + 1 != int(match[2]):
            raise _Changed
        if _version(response) not in (None, version) or size not in (None, int(match[2])):
            raise _Changed
        return length, int(match[2])
    if version and status == 416:
        raise _Changed
    if what := _refusal(response):
        raise FathomError(what, place, _OTHER)
    return 0, _told(response)


def _refusal(response: Response) -> str:
    """Return that a server refuses, but not in its words: they may be anything; empty for 200."""
    status = response.status_code
    what = f"the server answers {status} {responses.get(status, '')}".rstrip()
    return "" if status == 200 else what


def _of_site(response: Response) -> Checks | None:
    """Return what Hugging Face publishes of a file, before it redirects to the file's bytes."""
    for answer in (*response.history, response):
        size = answer.headers.get("X-Linked-Size", "")
        digits = answer.headers.get("X-Linked-Etag", "").strip('"')
        # The tag of a small file is another hash, which has 40 digits.
        if re.fullmatch("[1-9][0-9]{0,17}", size) and re.fullmatch("[0-9a-f]{64}", digits):
            return Checks(bytes=int(size), sha256=digits)
    return None


def _told(response: Response) -> int | None:
    says = response.headers.get("Content-Length", "")
    return int(says) if re.fullmatch("[0-9]{1,18}", says) else None


def _answer(address: str, headers: Mapping[str, str], limits: Limits) -> Generator[Any]:
    """Yield the answer to a GET request, then its bytes as they arrive, not decoded.

    A host that is busy or not reached is asked again.
    """
    seconds = (limits.connect, limits.silence)
    try:
        with (
            _session(limits) as session,
            session.get(address, headers=headers, stream=True, timeout=seconds) as response,
        ):
            yield response
            yield from _in_time(response, limits)
    except _FAILURES as error:
        raise Failed(_cause(error)) from None


def _session(limits: Limits) -> Session:
    retry = Retry(
        connect=2,
        read=False,
        other=0,
        status=3,
        status_forcelist=_BUSY,
        backoff_factor=limits.pause,
        respect_retry_after_header=False,
        raise_on_status=False,
    )
    session = Session()
    # A compressed answer would have other bytes than the checksum.
    session.headers["Accept-Encoding"] = "identity"
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _in_time(response: Response, limits: Limits) -> Iterator[bytes]:
    begun, count = time.monotonic(), 0
    # `read1` gives what has arrived; `read` and `stream` wait for a full chunk.
    while chunk := response.raw.read1(CHUNK, decode_content=False):
        yield chunk
        count += len(chunk)
        seconds = time.monotonic() - begun
        if seconds > limits.rate_over:
            if count < limits.rate * seconds:
                what = f"only {count:,} bytes came in {seconds:,.0f} seconds"
                raise TooSlow(f"the server is too slow: {what}")
            begun, count = time.monotonic(), 0


def _cause(error: Exception) -> str:
    """Return why a request failed, without the error's text: it may hold a user's password."""
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None:
        links.append(link)
        link = link.__cause__ or link.__context__
    request = getattr(error, "request", None)
    host = urlsplit(request.url).hostname if request is not None else None
    refused = [item for item in links if isinstance(item, ssl.SSLCertVerificationError)]
    reason = refused[0].verify_message if refused else ""
    for kind, words in _CAUSES:
        # A wrong number in an answer is a ValueError as well, further down.
        if any(isinstance(item, kind) for item in (links[:1] if kind is ValueError else links)):
            return words.format(host=host, reason=reason)
    return f"the request failed ({type(error).__name__})"


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _note(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _noted(part: Path, address: str) -> str | None:
    """Return the version of a part, if a note says that it came from this address."""
    try:
        note = read_json(_note(part))
    except FathomError:
        return None
    same = note.get("address") == without_secrets(address)
    return note.get("version") if same and _length(part) else None


def _version(response: Response) -> str | None:
    """Return the version of a file: a strong ETag, else its date."""
    tag = response.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified")


def _of(size: int | None) -> str:
    return " bytes" if size is None else f" of {size:,} bytes"
