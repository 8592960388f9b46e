"""Files are complete or absent, whatever happens while they are written."""

import errno
import fcntl
import hashlib
import math
import multiprocessing
import os
import signal

import pytest
import torch

from fathom.io.files import (
    appending,
    leftovers,
    read_json,
    read_lines,
    remove_leftovers,
    replacing,
    sha256,
    write_json,
    write_lines,
    write_text,
)
from tests.support.refused import refused
from tests.support.small_disk import small_disk

FORK = multiprocessing.get_context("fork")


@pytest.mark.parametrize(
    ("mode", "content"), [("w", "č\r\n한\n"), ("wb", b"\r\n\xff")], ids=["text", "bytes"]
)
def test_a_file_appears_as_it_was_written_when_the_block_has_ended(tmp_path, mode, content):
    path = tmp_path / "new" / "folder" / "a"
    with replacing(path, mode) as stream:
        stream.write(content)
        assert not path.exists()
    written = content if mode == "wb" else content.encode("utf-8")
    assert path.read_bytes() == written
    assert sha256(path) == hashlib.sha256(written).hexdigest()
    assert [file.name for file in path.parent.iterdir()] == ["a"]


def test_a_writer_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old\n")
    with pytest.raises(TypeError), replacing(path) as stream:
        stream.writelines(["half of the n", None])
    assert path.read_text(encoding="utf-8") == "old\n"
    assert os.listdir(tmp_path) == ["a.txt"]


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


def test_json_is_the_same_bytes_for_equal_values_and_refuses_numbers_that_it_has_not(tmp_path):
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    write_json(path, {"b": [1, 2.5, None], "a": {"한": "č"}})
    write_json(other, {"a": {"한": "č"}, "b": [1, 2.5, None]})
    assert path.read_bytes() == other.read_bytes()
    assert "한" in path.read_text(encoding="utf-8")
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="JSON"):
            write_json(path, {"nll": value})
    assert read_json(path) == {"b": [1, 2.5, None], "a": {"한": "č"}}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "no such file"),
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b'{"a":' * 99999, "not JSON"),
        (b"[]", "not a JSON object"),
        ("a pipe", "not a file"),
        ("a folder", "a folder, not a file"),
        ("a link", "a link to nothing"),
    ],
)
def test_a_file_that_is_not_a_json_object_is_named_with_what_makes_it_again(
    tmp_path, content, what
):
    """A list in the place of a record ended in a traceback, and a pipe was waited for."""
    path = tmp_path / "a.json"
    if content == "a pipe":
        os.mkfifo(path)
    elif content == "a folder":
        path.mkdir()
    elif content == "a link":
        path.symlink_to("nothing")
    elif content is not None:
        path.write_bytes(content)
    with refused(what, where=path, remedy="fathom prepare small"):
        read_json(path, "fathom prepare small")


def test_a_name_too_long_for_the_temporary_file_is_named_as_it_is(tmp_path):
    with pytest.raises(OSError, match="too long") as caught:
        write_text(tmp_path / ("a" * 250), "x")
    assert caught.value.filename == str(tmp_path / ("a" * 250))


@pytest.fixture
def disk(tmp_path):
    """A small disk."""
    with small_disk(tmp_path / "disk") as made:
        yield made


@pytest.mark.parametrize("library", ["python", "torch"])
def test_a_full_disk_is_named_by_the_file_and_leaves_what_was_there(disk, library):
    path = disk.folder / "a.pt"
    save = torch.save if library == "torch" else lambda tensor, stream: stream.write(tensor.numpy())

    def write(size):
        with replacing(path, "wb") as stream:
            save(torch.zeros(size, dtype=torch.uint8), stream)

    write(10)
    before = path.read_bytes()
    with pytest.raises(OSError, match=r"a\.pt") as caught:
        write(8_000_000)
    assert caught.value.errno in (errno.ENOSPC, errno.EFBIG)
    assert caught.value.filename == str(path)
    assert os.listdir(disk.folder) == ["a.pt"]
    assert path.read_bytes() == before


def test_a_text_that_grows_names_its_file_where_the_disk_refuses(disk):
    def write():
        with appending(disk.folder / "train.log") as stream:
            stream.write("x" * 1_000_000)

    for _ in range(3):
        write()
    with pytest.raises(OSError, match=r"train\.log"):
        list(iter(write, 0))


def test_an_error_of_another_file_or_kind_keeps_its_own_words(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "a.txt"):
        (tmp_path / "b.txt").read_text(encoding="utf-8")
    assert caught.value.filename == str(tmp_path / "b.txt")
    with pytest.raises(RuntimeError, match="another"), replacing(tmp_path / "a.txt"):
        raise RuntimeError("another")


def write_and_die(path):
    with replacing(path) as stream:
        stream.write("half of the n")
        stream.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_writer_left_goes_with_the_next_write_of_its_folder(tmp_path):
    process = FORK.Process(target=write_and_die, args=(tmp_path / "a.txt",))
    process.start()
    process.join()
    others = [".a.txt.part", ".a.txt.x1.part", ".b.1.partly", "a.txt.1.part"]
    for name in others:
        (tmp_path / name).touch()
    assert sorted(os.listdir(tmp_path)) == sorted([*others, f".a.txt.{process.pid}.part"])
    write_text(tmp_path / "b.txt", "all\n")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "b.txt"])


def test_what_another_writer_is_writing_stays(tmp_path):
    with replacing(tmp_path / "a.txt") as stream:
        stream.write("half, ")
        write_text(tmp_path / "b.txt", "all\n")
        remove_leftovers(leftovers(tmp_path))
        stream.write("and half")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "half, and half"


@pytest.mark.parametrize(
    ("module", "call"), [(fcntl, "flock"), (os, "replace")], ids=["before its lock", "at its end"]
)
def test_no_other_process_deletes_a_file_while_it_is_written(tmp_path, monkeypatch, module, call):
    """Of two starts that wrote in one folder, one lost its file to the other."""
    as_it_is = getattr(module, call)

    def after_another_process(*arguments):
        monkeypatch.setattr(module, call, as_it_is)
        remove_leftovers(leftovers(tmp_path))
        return as_it_is(*arguments)

    monkeypatch.setattr(module, call, after_another_process)
    write_text(tmp_path / "a.txt", "all\n")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "all\n"
    assert os.listdir(tmp_path) == ["a.txt"]
