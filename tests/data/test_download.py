import hashlib
import itertools
import socket
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fathom.data import download as downloading
from fathom.data.download import Failed, Limits, _answer
from fathom.io.errors import FathomError
from tests.data.server import CERTIFICATES, Script, Site
from tests.support.refused import refused

# Larger than the buffers in which it is read, and different at every place.
FILE = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(20_000))
OTHER = bytes(reversed(FILE))
SIZE = len(FILE)
HEAD = b"HTTP/1.1 200 OK\r\n"


def download(address, part, size, report, **changes):
    downloading.download(address, part, size, report, Limits(pause=0, **changes))


@pytest.fixture
def part(tmp_path):
    return tmp_path / "file.part"


def stopped(site, part, lines, **page):
    """Leave 1,000 bytes of the first version, and replace the page; return its address."""
    address = site.put("/file", content=FILE, drops=[1000, 0])
    with pytest.raises(FathomError, match="run it again to resume"):
        download(address, part, SIZE, lines.append)
    site.put("/file", **page)
    site.requests.clear()
    return address


def slowly(send, text=None):
    """Send bytes for ever, one at a time."""
    for byte in text or itertools.repeat(ord("x")):
        send(bytes([byte]))
        time.sleep(0.01)


# A whole file


@pytest.mark.parametrize("encoding", [None, "x-gzip"])
def test_a_file_comes_whole_and_undecoded_also_behind_a_redirect(site, part, lines, encoding):
    """Some servers claim the encoding of a .tar.gz; unpacking it would give another file."""
    site.put("/real", content=FILE, encoding=encoding)
    download(site.put("/file", status=302, location="/real"), part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None), ("/real", None)]
    assert site.encodings == ["identity", "identity"]


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1", "x", False])
@pytest.mark.parametrize("size", [SIZE, None])
def test_a_length_that_is_not_a_number_is_passed_over(site, part, lines, length, size):
    download(site.put("/file", content=FILE, says_length=length), part, size, lines.append)
    assert part.read_bytes() == FILE


# A connection that drops


@pytest.mark.parametrize(
    ("version", "requests"),
    [
        ({"etag": '"one"'}, [None, "bytes=1000-", "bytes=301000-"]),
        ({"etag": None, "date": "Mon, 1 Jan 2024"}, [None, "bytes=1000-", "bytes=301000-"]),
        # Without a certain version nothing is resumed.
        ({"etag": None}, [None, None, None]),
        ({"etag": 'W/"weak"'}, [None, None, None]),
    ],
)
@pytest.mark.parametrize("size", [SIZE, None])
def test_a_dropped_connection_is_resumed_or_begun_again(site, part, lines, version, requests, size):
    address = site.put("/file", content=FILE, drops=[1000, 300_000], **version)
    download(address, part, size, lines.append)
    assert part.read_bytes() == FILE
    assert [place for _, place in site.requests] == requests


def test_a_server_that_drops_again_and_again_is_left_and_resumed_later(site, part, lines):
    """4,177 requests were made in 25 seconds."""
    address = site.put("/file", content=FILE, drops=[1000] * 100)
    with pytest.raises(FathomError, match="at 6,000 of 640,000 bytes, resumed 5 times before"):
        download(address, part, SIZE, lines.append, drops=5)
    assert len(site.requests) == 6
    download(site.put("/file", content=FILE), part, SIZE, lines.append)
    assert site.requests[-1] == ("/file", "bytes=6000-")
    assert any("resuming at 6,000 of 640,000 bytes" in line for line in lines)
    assert part.read_bytes() == FILE


def test_the_pauses_between_attempts_grow(site, part, lines, monkeypatch):
    pauses = []
    stub = SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic)
    monkeypatch.setattr(downloading, "time", stub)
    address = site.put("/file", content=FILE, drops=[1000] * 4)
    downloading.download(address, part, SIZE, lines.append, Limits(pause=1, longest_pause=5))
    assert pauses == [1, 2, 4, 5]


def test_a_broken_answer_without_length_or_version_leaves_nothing(serve, part, lines):
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n"
    server = serve(Script, lambda send: send(head + FILE[:500]))
    with pytest.raises(FathomError, match="the connection ended"):
        download(server.address, part, None, lines.append)
    assert not part.exists()


# Versions: never a file of two


@pytest.mark.parametrize(
    ("page", "requests"),
    [
        # The server ignores ranges.
        ({"content": OTHER, "ranges": "ignore"}, ["bytes=1000-"]),
        # If-Range tells that the file has changed.
        ({"content": OTHER, "etag": '"two"'}, ["bytes=1000-"]),
        # The server ignores If-Range: the part's version tells, or its end.
        ({"content": OTHER, "etag": '"two"', "ranges": "always"}, ["bytes=1000-", None]),
        ({"content": b"short", "ranges": "always"}, ["bytes=1000-", None]),
    ],
)
def test_a_file_that_has_changed_is_not_spliced(site, part, lines, page, requests):
    address = stopped(site, part, lines, **page)
    download(address, part, None, lines.append)
    assert part.read_bytes() == page["content"]
    assert [place for _, place in site.requests] == requests


@pytest.mark.parametrize(
    ("size", "page", "words", "requests"),
    [
        # Such a server was asked again for ever, without a pause.
        (SIZE, {"ranges": "unasked"}, "a part that was not asked for", [None]),
        # Another version at each request.
        (
            SIZE,
            {"ranges": "always", "changes": True, "drops": [1000] * 9},
            "a part that was not asked for",
            ["bytes=1000-", None, "bytes=1000-"],
        ),
        # Another length than the published one.
        (
            SIZE - 1,
            {"ranges": "always", "etag": '"two"'},
            "640,000 bytes, not the published 639,999",
            ["bytes=1000-", None],
        ),
        (SIZE, {"drops": [0] * 9}, "the connection ended at 0 of 640,000 bytes", [None]),
        # A server that is busy is asked again.
        (SIZE, {"status": 503}, "the server answers 503 Service Unavailable", [None] * 4),
    ],
)
def test_a_server_that_gives_no_certain_file_is_left(
    site, part, lines, size, page, words, requests
):
    if requests[0]:
        stopped(site, part, lines)
    with pytest.raises(FathomError, match=words):
        download(site.put("/file", content=FILE, **page), part, size, lines.append)
    assert [place for _, place in site.requests] == requests


NOTES = ["", "{", "{}", "[]", '{"address": 1}', "\0", b"\xff"]
NOTES += ['{"address": "http://elsewhere.example/file", "version": "\\"one\\""}']


@pytest.mark.parametrize("note", NOTES)
def test_a_part_is_not_resumed_whose_note_is_odd_or_of_another_address(site, part, lines, note):
    """An empty note gave the same message at each start, `{}` a traceback."""
    address = stopped(site, part, lines, content=FILE)
    written = note if isinstance(note, bytes) else note.replace("<address>", address).encode()
    part.with_name("file.part.json").write_bytes(written)
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None)]


# Answers that are not the file


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ({"content": b" <!DOCTYPE HTML>" + FILE}, "a web page instead of the file"),
        ({"content": FILE[:-1]}, "639,999 bytes, not the published 640,000"),
        ({"content": FILE + b"x"}, "640,001 bytes, not the published 640,000"),
        ({"status": 404}, "the server answers 404 Not Found"),
        ({"status": 500}, "the server answers 500"),
    ],
)
def test_an_answer_that_cannot_be_the_file_is_refused_before_the_part_is_touched(
    site, part, lines, page, words
):
    address = stopped(site, part, lines, **page, ranges="ignore")
    with refused(words, where=address):
        download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE[:1000]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (FILE + b"x", "more than the published 640,000 bytes"),
        (FILE[:-1], "the connection ended at 639,999 of 640,000 bytes"),
    ],
)
def test_another_length_is_noticed_where_none_is_announced(site, part, lines, content, words):
    address = site.put("/file", content=content, says_length=False, ranges="ignore")
    with pytest.raises(FathomError, match=words):
        download(address, part, SIZE, lines.append)
    assert not part.exists() or len(content) < SIZE


# Servers that never end


@pytest.fixture
def short():
    """Short limits; a machine that is busy may reach them early, which no test here minds."""
    return Limits(pause=0, connect=0.1, silence=0.2, rate_over=0.2)


def falls_silent(send):
    send(HEAD + b"Content-Length: 10\r\n\r\nabc")
    time.sleep(5)


def trickles(send):
    send(HEAD + b"\r\n")
    slowly(send)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda send: time.sleep(5), "the server does not answer"),
        (lambda send: None, "the server ended the connection, or its answer is not HTTP"),
        (lambda send: send(b"220 mail\r\n"), "the server ended the connection, or its answer"),
        (falls_silent, "the server stopped sending"),
        (trickles, "the server is too slow: only"),
    ],
)
def test_every_wait_for_a_server_has_an_end(serve, short, run, words):
    with pytest.raises(Failed, match=words):
        list(_answer(serve(Script, run).address, {}, short))


def test_a_trickle_above_the_rate_goes_on(serve, short):
    def run(send):
        send(HEAD + b"Content-Length: 40\r\n\r\n")
        slowly(send, b"x" * 40)

    answer = _answer(serve(Script, run).address, {}, replace(short, silence=5, rate=10))
    assert next(answer).status_code == 200
    assert b"".join(answer) == b"x" * 40


def test_a_trickle_after_a_good_beginning_is_not_resumed_at_once(serve, part, lines):
    def run(send):
        head = f'HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\nETag: "one"\r\n\r\n'
        send(head.encode() + FILE[:1000])
        slowly(send)

    server = serve(Script, run)
    with pytest.raises(FathomError, match=r"too slow.*run it again to resume"):
        download(server.address, part, SIZE, lines.append, rate_over=0.2)
    assert server.connections == 1


# Why there is no answer


def failure(address):
    """Return why a request fails."""
    with pytest.raises(Failed) as caught:
        list(_answer(address, {}, Limits(pause=0, connect=0.2)))
    return str(caught.value)


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("/file", "redirects in a circle"),
        ("file:///etc/hostname", "an address that is not http or https"),
        ("http://[/", "is not a web address"),
        ("http://127.0.0.1:0x/", "is not a web address"),
        (f"http://{'a' * 70}/", "is not a web address"),
        ("http://127.0.0.1:9/file", "the host '127.0.0.1' refuses the connection"),
        # No connection goes to the address of all machines.
        ("http://255.255.255.255/f", "the host '255.255.255.255' cannot be reached"),
        ("http://moved.example/file", "the host 'moved.example' is not known"),
        # A server without a certificate.
        ("https", "no secure connection can be made"),
    ],
)
def test_an_address_or_redirect_that_leads_nowhere_is_named(site, monkeypatch, location, words):
    def unknown(host, *others, **named):
        if host == "moved.example":
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return found(host, *others, **named)

    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setenv("NO_PROXY", "*")
    address = site.put("/file", status=302, location=location)
    if location == "https":
        address = address.replace("http:", "https:")
    assert words in failure(address)
    assert len(site.requests) < 50


def test_a_host_that_does_not_answer_is_named(monkeypatch):
    """A connection waits where a program accepts none and its queue is full."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as host, socket.socket() as first, socket.socket() as second:
        host.bind(("127.0.0.1", 0))
        host.listen(0)
        for waiting in (first, second):
            waiting.setblocking(False)
            waiting.connect_ex(host.getsockname())
        printed = failure(f"http://127.0.0.1:{host.getsockname()[1]}/file")
    assert printed == "the host '127.0.0.1' does not answer"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_dead_is_named_without_its_password(monkeypatch, scheme):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
        monkeypatch.setenv(name, "http://user:secret@127.0.0.1:9")
    printed = failure(f"{scheme}://moved.example/file")
    assert printed.startswith("the proxy cannot be used")


@pytest.mark.parametrize(
    ("certificate", "trusted", "host", "reason"),
    [
        ("own", False, "127.0.0.1", "self-signed certificate"),
        ("past", True, "127.0.0.1", "certificate has expired"),
        ("own", True, "localhost", "Hostname mismatch"),
        ("own", True, "127.0.0.1", None),
    ],
)
def test_a_certificate_is_accepted_or_named(serve, monkeypatch, certificate, trusted, host, reason):
    if trusted:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(CERTIFICATES[certificate]))
    site = serve(Site, certificate)
    address = site.put("/file?key=secret", content=b"x").replace("127.0.0.1", host)
    if reason is None:
        assert b"".join([*_answer(address, {}, Limits())][1:]) == b"x"
        return
    printed = failure(address)
    assert f"the certificate of '{host}' is not accepted ({reason}" in printed
    assert "secret" not in printed
    assert site.requests == []
