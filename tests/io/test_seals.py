"""A seal at the end of a zip file: what is sealed, and what is refused."""

import errno
import hashlib
import zipfile

import pytest

from fathom.io.errors import FathomError
from fathom.io.seals import DIGITS, checked_seal, sealed


@pytest.fixture
def path(tmp_path):
    """A sealed zip file."""
    path = tmp_path / "runs/paper/small-12345678/1/checkpoints/last.pt"
    with sealed(path) as stream, zipfile.ZipFile(Forward(stream), "w") as archive:
        archive.writestr("weights", bytes(range(256)) * 40)
    return path


class Forward:
    """A stream that cannot go back, as that of PyTorch's writer."""

    def __init__(self, stream):
        """Write to a stream."""
        self.write, self.flush = stream.write, stream.flush


def test_a_sealed_file_is_a_zip_file_whose_comment_is_its_checksum(path):
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert archive.comment == content[-DIGITS:]
        assert archive.read("weights")[:3] == b"\0\1\2"
    assert hashlib.sha256(content[:-DIGITS]).hexdigest().encode() == content[-DIGITS:]


def test_the_hash_of_a_sealed_file_is_that_of_all_its_bytes(path):
    assert checked_seal(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_flipped_bits_are_refused(path):
    content = path.read_bytes()[-200:]
    path.write_bytes(content)
    assert path.stat().st_size == 200
    for bit in range(0, 8 * len(content), 3):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with pytest.raises(FathomError, match="fathom train paper/small-12345678 --seed 1"):
            checked_seal(path)


@pytest.mark.parametrize("pieces", [[b"a", b"b", b"c", b"", b"d"], [b"ab", b"cd"], [b"abcd"]])
def test_the_pieces_in_which_bytes_are_written_do_not_matter(tmp_path, pieces):
    with sealed(tmp_path / "a") as stream:
        assert [stream.write(piece) for piece in pieces] == [len(piece) for piece in pieces]
    # The last two bytes are the length of the comment.
    body = b"ab" + DIGITS.to_bytes(2, "little")
    assert (tmp_path / "a").read_bytes() == body + hashlib.sha256(body).hexdigest().encode()
    checked_seal(tmp_path / "a")


@pytest.mark.parametrize("more", [b"0", b"\n"])
def test_bytes_after_the_seal_are_refused(path, more):
    path.write_bytes(path.read_bytes() + more)
    with pytest.raises(FathomError, match=r"last\.pt"):
        checked_seal(path)


@pytest.mark.parametrize("content", [b"", b"0" * 63])
def test_a_file_shorter_than_a_seal_has_none(path, content):
    path.write_bytes(content)
    with pytest.raises(FathomError, match="without the checksum"):
        checked_seal(path)


def test_a_missing_file_is_named_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(FathomError, match="no such checkpoint"):
        checked_seal(tmp_path / "last.pt")


def write_half(path):
    with sealed(path) as stream:
        stream.write(b"half of it")
        raise KeyboardInterrupt


def write_to_a_full_disk(path):
    """Write as PyTorch does: its own error takes the place of the disk's."""

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with sealed(path) as stream:
        stream._stream = type("Full", (), {"write": staticmethod(full)})
        try:
            stream.write(b"abcd")
        except OSError:
            raise RuntimeError("unexpected position") from None


def test_what_fails_leaves_the_file_of_before(path):
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        write_half(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["last.pt"]


def test_a_full_disk_is_raised_as_such_whatever_the_writer_makes_of_it(tmp_path):
    with pytest.raises(OSError, match="No space left"):
        write_to_a_full_disk(tmp_path / "a")
    assert not (tmp_path / "a").exists()
