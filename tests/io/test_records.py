"""Hashes of values, records, and the files that records name: as written, or refused."""

import hashlib
import json
import math
import os

import pytest

from fathom.io.files import read_json, sha256
from fathom.io.records import Recorded, hashes, identity, read_record, short, write_record
from tests.support.refused import refused

CONTENT = {"tasks": ("bos", "kor"), "score": 0.1, "by_number": {3: None}}
AGAIN = "fathom encode small-12345678"


def test_an_identity_is_the_hash_of_the_shortest_json_with_sorted_keys():
    """The names of all folders would change if this moved."""
    value = {"b": {"č": "x"}, "a": [1, 2.5, None, True]}
    text = rb'{"a":[1,2.5,null,true],"b":{"\u010d":"x"}}'
    assert identity(value) == hashlib.sha256(text).hexdigest()
    assert short(identity(value)) == hashlib.sha256(text).hexdigest()[:8]
    for number in (math.nan, math.inf):
        with pytest.raises(ValueError, match="JSON"):
            identity({"a": number})


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}, True),
        ((0.9, 0.98), [0.9, 0.98], True),
        (["bos", "kor"], ["kor", "bos"], False),
        (3, 3.0, False),
        (1, True, False),
        ("1", 1, False),
        (None, "", False),
        ([], {}, False),
    ],
)
def test_the_order_of_keys_does_not_count_and_what_is_written_otherwise_differs(
    first, second, equal
):
    assert (identity(first) == identity(second)) == equal


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
    record.write_text(json.dumps(read_json(record)), encoding="utf-8")
    assert read_record(record) == content | {"files": files}, "its layout does not matter"


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
    ("content", "what"),
    [
        (b"", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "without a checksum"),
        (b'{"record_sha256": "0"}', "checksum mismatch"),
        (b'{"a": 1e400, "record_sha256": "0"}', "checksum mismatch"),
        (b'{"a": "\\ud800", "record_sha256": "0"}', "checksum mismatch"),
        (None, "no such file"),
    ],
)
def test_a_record_that_cannot_be_used_is_refused_with_the_command(record, content, what):
    if content is None:
        record.unlink()
    else:
        record.write_bytes(content)
    with refused(what, where=record, remedy=AGAIN):
        Recorded.of(record)


def test_files_are_read_as_they_were_recorded(record):
    files = Recorded.of(record)
    assert files.lines("a.txt") == ["a.txt", "second\u2028line"]
    assert list(files.stream("a.txt")) == files.lines("a.txt")
    assert files.read("deep/c.txt") == (record.parent / "deep" / "c.txt").read_bytes()
    files.require()
    files.require("a.txt", "b.txt")
    assert files.unfit("a.txt") is None


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda path: path.unlink(), "no such file"),
        (lambda path: path.write_bytes(path.read_bytes() + b"\n"), "not the file"),
        (lambda path: path.write_bytes(b"A" + path.read_bytes()[1:]), "not the file"),
    ],
)
def test_another_file_than_the_recorded_one_is_refused(record, damage, what):
    path, files = record.parent / "b.txt", Recorded.of(record)
    damage(path)
    assert what in files.unfit("b.txt")
    for use in (files.read, files.lines, files.stream, files.require):
        with refused(what, where=path, remedy=AGAIN):
            use("b.txt")
    with refused(what, where=path):
        files.require()
    files.require("a.txt")


def test_a_pipe_is_refused_and_not_waited_for_and_so_is_a_file_that_was_not_recorded(record):
    files = Recorded.of(record)
    (record.parent / "a.txt").unlink()
    os.mkfifo(record.parent / "a.txt")
    with refused("not a file"):
        files.read("a.txt")
    (record.parent / "new.txt").write_text("new")
    with refused("not among the files of tensors.json"):
        files.read("new.txt")
