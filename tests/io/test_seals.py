"""A seal at the end of a zip file: what is sealed, and what is refused."""

import hashlib
import zipfile

import pytest

from fathom.io.seals import DIGITS, checked_seal, owner, sealed
from tests.support.refused import refused


class Forward:
    """A stream that cannot go back, as that of PyTorch's writer."""

    def __init__(self, stream):
        self.write, self.flush = stream.write, stream.flush


@pytest.fixture
def path(tmp_path):
    """A sealed zip file."""
    path = tmp_path / "runs/paper/small-12345678/1/checkpoints/last.pt"
    with sealed(path) as stream, zipfile.ZipFile(Forward(stream), "w") as archive:
        archive.writestr("weights", bytes(range(256)) * 40)
    return path


def test_a_sealed_file_is_a_zip_file_whose_comment_is_its_checksum(path):
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert archive.comment == content[-DIGITS:]
        assert archive.read("weights")[:3] == b"\0\1\2"
    assert hashlib.sha256(content[:-DIGITS]).hexdigest().encode() == content[-DIGITS:]
    assert checked_seal(path) == hashlib.sha256(content).hexdigest(), "the hash of all bytes"


def test_flipped_bits_are_refused(path):
    content = path.read_bytes()[-200:]
    for bit in range(0, 8 * len(content), 3):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        with refused(remedy="fathom train paper/small-12345678 --seed 1"):
            checked_seal(path)


@pytest.mark.parametrize(
    ("damaged", "what"),
    [
        (lambda content: content + b"0", "checksum mismatch"),
        (lambda content: content + b"\n", "without the checksum"),
        (lambda content: b"", "without the checksum"),
        (lambda content: b"0" * 63, "without the checksum"),
        (None, "no such file"),
    ],
)
def test_a_file_that_does_not_end_in_its_seal_is_refused(path, damaged, what):
    if damaged is None:
        path.unlink()
    else:
        path.write_bytes(damaged(path.read_bytes()))
    with refused(what, where=path):
        checked_seal(path)


def test_a_sealed_file_that_is_no_checkpoint_is_of_nobody(path):
    assert owner(path) == {}
