"""Files are complete or absent, whatever happens while they are written."""

import hashlib
import math
import os

import pytest

from fathom.io.files import (
    read_json,
    read_lines,
    replacing,
    sha256,
    write_json,
    write_lines,
    write_text,
)
from tests.support.refused import prose, refused


class Killed(Exception):
    """Whatever ends a writer in the middle."""


def write_half(path):
    with replacing(path) as stream:
        stream.write("half of the n")
        raise Killed


def test_a_file_appears_only_when_the_block_has_ended(tmp_path):
    path = tmp_path / "new" / "folder" / "a.txt"
    with replacing(path) as stream:
        stream.write("all\n")
        assert not path.exists()
    assert path.read_bytes() == b"all\n"
    assert [file.name for file in path.parent.iterdir()] == ["a.txt"]


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old\n")
    with pytest.raises(Killed):
        write_half(path)
    assert path.read_text(encoding="utf-8") == "old\n"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_bytes_are_written_as_they_are(tmp_path):
    with replacing(tmp_path / "a.bin", "wb") as stream:
        stream.write(b"\r\n\xff")
    assert (tmp_path / "a.bin").read_bytes() == b"\r\n\xff"


def test_text_is_utf_8_with_lf(tmp_path):
    write_text(tmp_path / "a.txt", "č\r\n한\n")
    assert (tmp_path / "a.txt").read_bytes() == "č\r\n한\n".encode()


@pytest.mark.parametrize(
    "lines",
    [[], [""], ["one", "", "two"], ["a\u2028b\u0085c", "d\x0be\x0cf\x1cg"], [" blank ", "\ttab"]],
)
def test_lines_come_back_as_they_were_also_with_odd_separators(tmp_path, lines):
    write_lines(tmp_path / "a.txt", lines)
    assert read_lines(tmp_path / "a.txt") == lines


def test_a_line_without_its_end_is_none(tmp_path):
    """A writer was killed there; the series of a training is read in this state."""
    (tmp_path / "a.txt").write_bytes(b"all\nhal")
    assert read_lines(tmp_path / "a.txt") == ["all"]


def test_equal_values_give_equal_bytes(tmp_path):
    write_json(tmp_path / "a.json", {"b": [1, 2.5, None], "a": {"한": "č"}})
    write_json(tmp_path / "b.json", {"a": {"한": "č"}, "b": [1, 2.5, None]})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert "한" in (tmp_path / "a.json").read_text(encoding="utf-8")
    assert read_json(tmp_path / "a.json") == {"b": [1, 2.5, None], "a": {"한": "č"}}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_not_are_refused_and_nothing_is_written(tmp_path, value):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "a.json", {"nll": value})
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_named_with_the_command_that_writes_it(tmp_path):
    with refused("no such file") as caught:
        read_json(tmp_path / "a.json", "fathom prepare small")
    assert caught.value.where == str(tmp_path / "a.json")
    assert "fathom prepare small" in caught.value.remedy


@pytest.mark.parametrize("content", [b"", b"{", b"{'a': 1}", b"\xff\xfe"])
def test_a_file_that_is_not_json_is_named(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with refused("not JSON", remedy=prose("delete and run")) as caught:
        read_json(tmp_path / "a.json")
    assert caught.value.where == str(tmp_path / "a.json")


def test_the_hash_is_of_the_bytes(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"fathom")
    assert sha256(tmp_path / "a.bin") == hashlib.sha256(b"fathom").hexdigest()


def test_json_that_is_not_an_object_is_refused(tmp_path):
    """A list in the place of a manifest ended in a traceback."""
    (tmp_path / "a.json").write_text("[]", encoding="utf-8")
    with refused("no JSON object", where="a.json"):
        read_json(tmp_path / "a.json")
