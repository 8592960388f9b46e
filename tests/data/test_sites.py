"""Whether sites have the files of sources, before anything is downloaded."""

import gzip
from contextlib import closing
from hashlib import sha256

import pytest

from fathom.config.schema.source import Archive, ByHand, SeveralFiles
from fathom.data.sites import counts, look_up
from tests.data.server import Script

ZIP = b"PK\x03\x04" + bytes(2000)
WEB_PAGE = b"<!DOCTYPE html><html><body>The file has moved</body></html>" + b" " * 2000
CARD = {"name": "talks", "title": "Talks", "licence": "none", "notice": "Of the tests."}


def archive(*addresses, file="talks.zip", content=None, about=None):
    checks = {"bytes": len(content), "sha256": sha256(content).hexdigest()} if content else {}
    card = CARD | checks | {"kind": "archive", "mirrors": addresses, "file": file}
    return Archive.model_validate(card | {"about_bytes": about})


def found(folder, *sources):
    return look_up(sources, folder.joinpath, folder / "by_hand")


# The answer of a server, and why it is not the file; nothing where it is.
ANSWERS = {
    "the file": ({"content": ZIP}, ""),
    "a server that refuses parts": ({"content": ZIP, "refuses_parts": 405}, ""),
    "a server that ignores parts": ({"content": ZIP, "ranges": "ignore"}, ""),
    "no size": ({"content": ZIP, "ranges": "ignore", "says_length": False}, ""),
    "not allowed at all": ({"status": 405}, "405 Method Not Allowed"),
    "gone": ({"status": 404}, "404 Not Found"),
    "a web page": ({"content": WEB_PAGE}, "a web page instead of the file"),
    "a web page of the file's size": (
        {"content": WEB_PAGE[: len(ZIP)].ljust(len(ZIP))},
        "a web page instead of the file",
    ),
    "a web page by its type": (
        {"content": ZIP, "kind": "text/html; charset=utf-8"},
        "a web page instead of the file",
    ),
    "a redirect to the home page": (
        {"status": 302, "location": "/home"},
        "a web page instead of the file",
    ),
    "another kind of file": ({"content": gzip.compress(ZIP)}, "first bytes are not those of a"),
    "another file of the kind": ({"content": ZIP + b"1"}, "2,005 bytes, not the published 2,004"),
    "an empty file": ({"content": b""}, "first bytes are not those of a file that ends in .zip"),
}


@pytest.mark.parametrize(("page", "fault"), ANSWERS.values(), ids=ANSWERS)
def test_an_address_has_the_file_or_the_reason_is_named(site, tmp_path, page, fault):
    site.put("/home", content=WEB_PAGE, kind="text/html")
    address = site.put("/talks.zip", **page)
    (item,) = found(tmp_path, archive(address, content=ZIP))
    assert item.is_missing is bool(fault)
    if fault:
        assert fault in item.faults[0]
    else:
        assert item.found.startswith(address)
    # Only the first bytes are asked for, and in full only where parts are refused.
    assert site.requests[0] == ("/talks.zip", "bytes=0-511")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "first"),
    [
        ("a.tar.gz", b"\x1f\x8b"),
        ("a.tgz", b"\x1f\x8b"),
        ("a.tar.bz2", b"BZh"),
        ("a.tar.xz", b"\xfd7zXZ"),
        ("a.parquet", b"PAR1"),
    ],
)
def test_a_file_begins_as_the_end_of_its_name_demands(site, tmp_path, file, first):
    """A tunnel of a hotel answers any address with bytes that are not the file."""
    right, wrong = site.put("/1", content=first + b"12345"), site.put("/2", content=b"12345678")
    assert not found(tmp_path, archive(right, file=file))[0].faults
    (fault,) = found(tmp_path, archive(wrong, file=file))[0].faults
    assert "first bytes" in fault


@pytest.mark.parametrize(
    ("about", "fits"), [(20_000, True), (210, True), (190, False), (21_000, False)]
)
def test_an_estimated_size_may_be_wrong_by_a_factor_of_ten(site, tmp_path, about, fits):
    (item,) = found(tmp_path, archive(site.put("/talks.zip", content=ZIP), about=about))
    assert item.is_missing is not fits


def test_the_host_to_which_a_file_moved_is_named(site, tmp_path):
    new = site.put("/new.zip", content=ZIP).replace("127.0.0.1", "localhost")
    for status, words in ((301, ", which moved to localhost: 2,004 bytes"), (302, ": 2,004 bytes")):
        address = site.put("/talks.zip", status=status, location=new)
        assert found(tmp_path, archive(address))[0].found == f"{address}{words}"


def test_only_a_redirect_for_good_names_the_new_host(site, tmp_path):
    """A site moves within itself, and sends each download to another machine."""
    new = site.put("/new.zip", content=ZIP).replace("127.0.0.1", "localhost")
    for first, second, words in ((301, 302, ": 2,004 bytes"), (302, 301, ": 2,004 bytes")):
        within = site.put("/within.zip", status=second, location=new)
        address = site.put("/talks.zip", status=first, location=within)
        assert found(tmp_path, archive(address))[0].found == f"{address}{words}"


@pytest.mark.parametrize(
    ("content", "fault"), [(ZIP, ""), (WEB_PAGE, "a web page instead of the file")]
)
def test_an_answer_in_chunks_of_unknown_number_is_read(monkeypatch, tmp_path, content, fault):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")

    def answer(send):
        send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(content), 100):
            chunk = content[start : start + 100]
            send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        send(b"0\r\n\r\n")

    with closing(Script(answer)) as server:
        (item,) = found(tmp_path, archive(server.address))
    assert item.is_missing is bool(fault)
    assert not fault or fault in item.faults[0]


def test_the_first_address_that_has_the_file_is_enough(site, tmp_path):
    gone, there = site.put("/gone", status=404), site.put("/there", content=ZIP)
    (item,) = found(tmp_path, archive(gone, there, content=ZIP))
    assert (item.is_missing, len(item.faults)) == (False, 1)
    assert counts([item]) == "files here: 0, found at 1 hosts: 1, missing: 0"


def test_each_of_several_files_is_looked_up(site, tmp_path):
    folder = site.put("/talks")
    site.put("/talks/a.parquet", content=b"PAR1" + bytes(9))
    files = {"a.parquet": None, "b.parquet": None}
    card = CARD | {"kind": "files", "address": folder, "files": files}
    items = found(tmp_path, SeveralFiles.model_validate(card))
    assert [item.is_missing for item in items] == [False, True]


def test_a_file_that_a_user_puts_by_hand_is_missing_until_it_is_there(tmp_path):
    steps = "ask its owner"
    card = CARD | {"kind": "by_hand", "file": "talks.zip", "steps": steps}
    source = ByHand.model_validate(card)
    (item,) = found(tmp_path, source)
    put = tmp_path / "by_hand" / "talks.zip"
    assert item.is_missing
    assert item.remedy == f"{steps}; put it at {put}"
    put.parent.mkdir()
    put.write_bytes(ZIP)
    assert counts(found(tmp_path, source)) == "files here: 1, found at 0 hosts: 0, missing: 0"
