import hashlib
import re

import pytest

from fathom.data.transport import download, forget
from fathom.errors import FathomError
from tests.support.refused import prose, refused, says

# Larger than the buffers in which it is read, and different at every place.
FILE = b"".join(hashlib.sha256(str(n).encode()).digest() for n in range(20_000))
OTHER = bytes(reversed(FILE))
SIZE = len(FILE)


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
    with refused("at byte", prose("connection failed"), "1,000", "640,000", remedy=prose("resume")):
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
    address = stopped(site, part, lines, content=FILE, ranges="ignore")
    download(address, part, SIZE, lines.append)
    assert part.read_bytes() == FILE
    assert site.requests == [("/file", "bytes=1000-")]


def test_a_file_that_has_changed_is_not_spliced(site, part, lines):
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
    with refused("at byte", prose("connection failed"), 0, "640,000"):
        download(address, part, SIZE, lines.append)


def test_a_whole_part_is_left_to_the_checksum(site, part, lines):
    part.write_bytes(OTHER)
    download(site.put("/file", content=FILE), part, SIZE, lines.append)
    assert (part.read_bytes(), site.requests) == (OTHER, [])


def test_forgetting_leaves_nothing(site, part, lines):
    stopped(site, part, lines, status=404)
    forget(part)
    assert list(part.parent.iterdir()) == []
