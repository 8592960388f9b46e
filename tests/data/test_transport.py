import hashlib
import re
import time
from types import SimpleNamespace

import pytest

from fathom.data import transport
from fathom.data.answers import Limits
from fathom.data.transport import forget
from fathom.io.errors import FathomError
from tests.support.refused import prose, refused, says

# Larger than the buffers in which it is read, and different at every place.
FILE = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(20_000))
OTHER = bytes(reversed(FILE))
SIZE = len(FILE)


def download(address, part, size, report, **changes):
    """Download without pauses."""
    transport.download(address, part, size, report, Limits(pause=0, **changes))


@pytest.fixture
def part(tmp_path):
    return tmp_path / "file.part"


def test_a_file_comes_whole(site, part, lines):
    download(site.put("/file", content=FILE), part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None)]


def test_a_redirect_is_followed(site, part, lines):
    site.put("/real", content=FILE)
    download(site.put("/file", status=302, location="/real"), part, SIZE, lines.append)
    assert part.read_bytes() == FILE


def test_a_file_that_is_packed_on_the_way_keeps_its_bytes(site, part, lines):
    """Some servers claim the encoding of a .tar.gz; unpacking it would give another file."""
    download(site.put("/file", content=FILE, encoding="x-gzip"), part, SIZE, lines.append)
    assert part.read_bytes() == FILE


@pytest.mark.parametrize("version", [{"etag": '"one"'}, {"etag": None, "date": "Mon, 1 Jan 2024"}])
def test_a_dropped_connection_is_resumed(site, part, lines, version):
    address = site.put("/file", content=FILE, drops=[1000, 300_000], **version)
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert [place for _, place in site.requests] == [None, "bytes=1000-", "bytes=301000-"]
    says("at byte", ..., "1,000", "640,000", remedy=prose("resuming now")).check(lines)


def test_another_start_resumes_where_the_first_one_stopped(site, part, lines):
    address = site.put("/file", content=FILE, drops=[1000, 0])
    with refused("at byte", prose("connection ended"), "1,000", "640,000", remedy=prose("resume")):
        download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE[:1000]
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests[-1] == ("/file", "bytes=1000-")


def stopped(site, part, lines, **page):
    """Leave 1,000 bytes of the first version, and replace the page with another one."""
    address = site.put("/file", content=FILE, drops=[1000, 0])
    with pytest.raises(FathomError):
        download(address, part, SIZE, lines.append)
    site.requests.clear()
    return site.put("/file", **page)


def test_a_server_that_ignores_ranges_starts_again(site, part, lines):
    """Field fault 13."""
    address = stopped(site, part, lines, content=FILE, ranges="ignore")
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", "bytes=1000-")]


def test_a_file_that_has_changed_is_not_spliced(site, part, lines):
    """Field fault 13."""
    address = stopped(site, part, lines, content=OTHER, etag='"two"')
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == OTHER


def test_a_download_is_not_resumed_with_another_version(site, part, lines):
    address = stopped(site, part, lines, content=OTHER, etag='"two"', ranges="always")
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == OTHER
    assert [place for _, place in site.requests] == ["bytes=1000-", None]
    says("file changed").check(lines)


def test_a_file_that_has_become_shorter_is_found_by_its_length(site, part, lines):
    address = stopped(site, part, lines, content=FILE[:500], ranges="always")
    with refused("wrong length", 500, "640,000"):
        download(address, part, SIZE, lines.append)


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_certain_version_nothing_is_gone_on_with(site, part, lines, etag):
    address = site.put("/file", content=FILE, etag=etag, drops=[1000])
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None), ("/file", None)]


def test_a_part_from_another_address_is_not_gone_on_with(site, part, lines):
    stopped(site, part, lines, status=404)
    download(site.put("/mirror", content=FILE), part, SIZE, lines.append)
    assert site.requests == [("/mirror", None)]
    assert part.read_bytes() == FILE


def test_a_web_page_with_status_200_is_named_and_touches_nothing(site, part, lines):
    """Field fault 12."""
    page = b"\n<!DOCTYPE html>\n<html><body>I moved.</body></html>"
    address = stopped(site, part, lines, content=page, etag='"two"')
    with refused("web page"):
        download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE[:1000]


@pytest.mark.parametrize("content", [FILE[:-1], FILE + b"x"])
def test_another_length_is_refused_before_it_is_read(site, part, lines, content):
    address = site.put("/file", content=content)
    with refused("wrong length", f"{len(content):,}", "640,000"):
        download(address, part, SIZE, lines.append)
    assert not part.exists()


def test_too_many_bytes_are_noticed_without_an_announced_length(site, part, lines):
    address = site.put("/file", content=FILE + b"x", says_length=False)
    with refused("too many bytes", "640,000"):
        download(address, part, SIZE, lines.append)
    assert not part.exists()


def test_too_few_bytes_are_noticed_without_an_announced_length(site, part, lines):
    """Field fault 12."""
    address = site.put("/file", content=FILE[:-1], says_length=False, ranges="ignore")
    with refused("at byte", prose("connection ended"), "639,999", "640,000"):
        download(address, part, SIZE, lines.append)


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal_is_reported_with_its_status(site, part, lines, status):
    with refused("server answers", re.compile(rf"{status}\b.*")):
        download(site.put("/file", status=status), part, SIZE, lines.append)
    assert not part.exists()


def test_a_server_that_is_not_there_is_one_error(site, part, lines):
    address = site.put("/file", content=FILE)
    site.close()
    with refused("refused connection", "127.0.0.1", where=address):
        download(address, part, SIZE, lines.append)


def test_a_whole_part_is_left_to_the_checksum(site, part, lines):
    part.write_bytes(OTHER)
    download(site.put("/file", content=FILE), part, SIZE, lines.append)
    assert (part.read_bytes(), site.requests) == (OTHER, [])


def test_forgetting_leaves_nothing(site, part, lines):
    stopped(site, part, lines, status=404)
    forget(part)
    assert list(part.parent.iterdir()) == []


def test_a_part_that_nobody_asked_for_is_refused_at_once(site, part, lines):
    """Such a server was asked again for ever, without a pause."""
    address = site.put("/file", content=FILE, ranges="unasked")
    with refused("part not asked for", where=address):
        download(address, part, SIZE, lines.append)
    assert len(site.requests) == 1


def test_another_part_than_the_one_asked_for_is_refused_the_second_time(site, part, lines):
    address = stopped(site, part, lines, content=FILE, ranges="unasked")
    with refused("part not asked for", where=address):
        download(address, part, SIZE, lines.append)
    assert len(site.requests) == 2
    says("file changed").check(lines)


def test_a_server_with_another_version_at_each_request_is_left(site, part, lines):
    page = {"content": FILE, "ranges": "always", "changes": True, "drops": [1000] * 9}
    address = stopped(site, part, lines, **page)
    with refused("part not asked for", where=address):
        download(address, part, SIZE, lines.append)
    assert [place for _, place in site.requests] == ["bytes=1000-", None, "bytes=1000-"]


def test_a_server_that_drops_again_and_again_is_left(site, part, lines):
    """4,177 requests were made in 25 seconds."""
    address = site.put("/file", content=FILE, drops=[1000] * 100)
    with refused("resumed before", 5, where=address, remedy=prose("resume")) as caught:
        download(address, part, SIZE, lines.append, drops=5)
    says("at byte", prose("connection ended"), "6,000", "640,000").check(caught.value)
    assert len(site.requests) == 6
    download(site.put("/file", content=FILE), part, SIZE, lines.append)
    assert site.requests[-1] == ("/file", "bytes=6000-")
    assert part.read_bytes() == FILE


def test_a_server_that_drops_after_each_byte_is_left_at_once(site, part, lines):
    with refused("at byte", prose("connection ended"), 0, "640,000"):
        download(site.put("/file", content=FILE, drops=[1] * 100), part, SIZE, lines.append)
    assert len(site.requests) == 1


def test_the_pauses_between_attempts_grow(site, part, lines, monkeypatch):
    pauses = []
    monkeypatch.setattr(transport, "time", SimpleNamespace(sleep=pauses.append))
    address = site.put("/file", content=FILE, drops=[1000] * 4)
    limits = Limits(pause=1, longest_pause=5)
    transport.download(address, part, SIZE, lines.append, limits)
    assert pauses == [1, 2, 4, 5]


def test_a_trickle_is_one_message_and_is_not_resumed_at_once(site, part, lines):
    address = site.put("/file", content=FILE, pause=0.01)
    with refused("too slow", where=address, remedy=prose("resume")):
        download(address, part, SIZE, lines.append, rate_over=0.2)
    assert len(site.requests) == 1


def test_a_trickle_after_a_good_beginning_is_not_resumed_at_once(scripted, part, lines):
    def run(send):
        head = f'HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\nETag: "one"\r\n\r\n'
        send(head.encode() + FILE[:1000])
        while True:
            time.sleep(0.01)
            send(b"x")

    server = scripted(run)
    with refused("too slow", where=server.address, remedy=prose("resume")):
        download(server.address, part, SIZE, lines.append, rate_over=0.2)
    assert server.connections == 1


NOTES = ["", "{", "{}", "[]", '{"address": 1}', '{"address": "<address>", "version": 3}', "\0"]
NOTES += ['{"address": "<address>", "version": "a\\r\\nX: y"}', b"\xff"]


@pytest.mark.parametrize("note", NOTES)
def test_a_note_that_cannot_be_read_is_no_note(site, part, lines, note):
    """An empty one gave the same message at each start, `{}` a traceback."""
    address = stopped(site, part, lines, content=FILE)
    written = note if isinstance(note, bytes) else note.replace("<address>", address).encode()
    part.with_name("file.part.json").write_bytes(written)
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None)]


def test_a_version_that_not_every_request_can_hold_is_none(site, part, lines):
    address = site.put("/file", content=FILE, etag='"caf\xe9"', drops=[1000])
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None), ("/file", None)]


@pytest.mark.parametrize("length", ["\xb2", "9" * 5000, "-1", "x"])
def test_a_length_that_is_no_number_is_none(site, part, lines, length):
    address = site.put("/file", content=FILE, says_length=length)
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE


def test_no_user_password_or_query_of_an_address_is_printed_or_kept(site, part, lines):
    page = {"content": FILE, "drops": [1000, 2000, 0]}
    plain = site.put("/file?token=hidden", **page)
    address = plain.replace("://", "://somebody:hidden@")
    with refused("at byte", where=plain.replace("token=hidden", "…")) as caught:
        download(address, part, SIZE, lines.append)
    [_, note] = sorted(part.parent.iterdir())
    for text in (str(caught.value), *lines, note.read_text()):
        assert "hidden" not in text
        assert "somebody" not in text
    download(address, part, SIZE, lines.append)
    assert (part.read_bytes(), site.requests[-1][1]) == (FILE, "bytes=3000-")


def test_a_file_of_unknown_size_is_as_long_as_the_server_says(site, part, lines):
    address = site.put("/file", content=FILE, drops=[0, 1000])
    download(address, part, None, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", None), ("/file", None), ("/file", "bytes=1000-")]


def test_a_file_of_unknown_size_may_end_with_the_answer(site, part, lines):
    download(site.put("/file", content=FILE, says_length=False), part, None, lines.append)
    assert part.read_bytes() == FILE
    with refused("server answers"):
        download(site.put("/gone", status=404), part, None, lines.append)


def test_a_broken_answer_of_unknown_length_leaves_nothing(scripted, part, lines):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    server = scripted(lambda send: send(head + b"3e8\r\n" + FILE[:500]))
    with refused("connection ended"):
        download(server.address, part, None, lines.append)
    assert not part.exists()
