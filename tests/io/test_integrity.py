"""Records, and the files that they name: as they were written, or refused in one line."""

import json
import os

import pytest

from fathom.io.files import read_json, sha256
from fathom.io.integrity import Recorded, hashes, read_record, write_record
from tests.support.refused import refused, says

CONTENT = {"tasks": ("bos", "kor"), "score": 0.1, "by_number": {3: None}}
AGAIN = "fathom encode small-12345678"


@pytest.fixture
def record(tmp_path):
    """A record of three files."""
    folder = tmp_path / "tensors" / "small-12345678"
    for name in ("a.txt", "b.txt", "deep/c.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name}\nsecond\u2028line\n", encoding="utf-8")
    write_record(folder / "tensors.json", CONTENT | {"files": hashes(folder, "*.txt", "*/*.txt")})
    return folder / "tensors.json"


def test_what_is_written_is_read_again_without_its_hash(record):
    content = read_record(record)
    files = content.pop("files")
    assert content == {"tasks": ["bos", "kor"], "score": 0.1, "by_number": {"3": None}}
    assert list(files) == ["a.txt", "b.txt", "deep/c.txt"]
    assert files["deep/c.txt"] == sha256(record.parent / "deep" / "c.txt")


def test_the_layout_of_a_record_does_not_matter(record):
    before = read_record(record)
    record.write_text(json.dumps(read_json(record)), encoding="utf-8")
    assert read_record(record) == before


def test_flipped_bits_of_a_record_are_refused(record):
    content = record.read_bytes()
    # Every seventh, so that each place in a byte has its turn.
    for bit in range(0, 8 * len(content), 7):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        record.write_bytes(flipped)
        with refused(where=record, remedy=AGAIN):
            read_record(record)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", says("not JSON")),
        (b"[]", says()),
        (b"{}", says("no checksum")),
        (b'{"record_sha256": "0"}', says("changed record")),
        (b'{"a": 1e400, "record_sha256": "0"}', says("changed record")),
        (b'{"a": "\\ud800", "record_sha256": "0"}', says("changed record")),
        (None, says("no such file")),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_with_the_command(record, content, message):
    if content is None:
        record.unlink()
    else:
        record.write_bytes(content)
    with refused(where=record, remedy=AGAIN) as caught:
        Recorded.of(record)
    message.check(caught.value)


def test_a_pipe_in_the_place_of_a_recorded_file_is_refused_and_not_waited_for(record):
    (record.parent / "a.txt").unlink()
    os.mkfifo(record.parent / "a.txt")
    with refused("not a file", where="a.txt", remedy=AGAIN):
        Recorded.of(record).read("a.txt")


def test_files_are_read_as_they_were_recorded(record):
    files = Recorded.of(record)
    assert files.lines("a.txt") == ["a.txt", "second\u2028line"]
    assert list(files.stream("a.txt")) == files.lines("a.txt")
    assert files.read("deep/c.txt") == (record.parent / "deep" / "c.txt").read_bytes()
    files.require()
    files.require("a.txt", "b.txt")
    assert files.unfit("a.txt") is None


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(b""), "changed file"),
        (lambda path: path.write_bytes(path.read_bytes()[:-1]), "changed file"),
        (lambda path: path.write_bytes(path.read_bytes() + b"\n"), "changed file"),
        (lambda path: path.write_bytes(b"A" + path.read_bytes()[1:]), "changed file"),
    ],
)
def test_another_file_than_the_recorded_one_is_refused(record, damage, message):
    path, files = record.parent / "b.txt", Recorded.of(record)
    damage(path)
    acts = (
        lambda: files.read("b.txt"),
        lambda: files.stream("b.txt"),
        files.require,
        lambda: files.require("b.txt"),
    )
    for act in acts:
        with refused(message, where=path, remedy=f"rm {record} && {AGAIN}"):
            act()
    assert files.unfit("b.txt")
    files.require("a.txt")


def test_a_file_that_was_not_recorded_is_refused(record):
    (record.parent / "d.txt").touch()
    with refused("not recorded", "tensors.json", where="d.txt", remedy=AGAIN):
        Recorded.of(record).read("d.txt")
