import contextlib
import gzip
import random
import stat
import tarfile
import zipfile

import pytest

from fathom.data import archives
from fathom.data.archives import check
from fathom.io.errors import FathomError
from tests.data.small_archives import tar_of, zip_of
from tests.support.refused import refused

CONTENTS = {"a/one.txt": b"one", "two.txt": b"two", "a/..three": b"three"}


@pytest.fixture(params=[zip_of, tar_of])
def pack(request, tmp_path):
    return lambda contents: request.param(
        tmp_path / f"archive.{request.param.__name__[:3]}", contents
    )


def members(path, selected=lambda name: True):
    return [(name, b"".join(lines)) for name, lines in archives.members(path, selected)]


def tar_with(path, kind, name, target=""):
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, target
        archive.addfile(member)
    return path


def zip_with(path, kind, name, target=""):
    with zipfile.ZipFile(path, "w") as archive:
        member = zipfile.ZipInfo(name)
        member.external_attr = (kind | 0o644) << 16
        archive.writestr(member, target)
    return path


def test_wanted_members_are_read_in_order(pack):
    path = pack(CONTENTS)
    assert members(path, lambda name: "t" in name) == list(CONTENTS.items())
    assert members(path, lambda name: name.startswith("two")) == [("two.txt", b"two")]


def test_a_packed_member_is_unpacked_and_a_packed_file_is_its_only_member(pack, tmp_path):
    path = pack({"a/one.gz": gzip.compress(b"one\ntwo\n")})
    assert members(path) == [("a/one.gz", b"one\ntwo\n")]
    alone = tmp_path / "one.gz"
    alone.write_bytes(gzip.compress(b"one\n"))
    assert members(alone) == [("one.gz", b"one\n")]
    alone.write_bytes(alone.read_bytes()[:-9])
    with pytest.raises(FathomError, match="not a readable archive"):
        members(alone)


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "..\\x", "C:\\x"])
def test_a_member_that_points_outside_is_a_name_and_writes_nothing(pack, tmp_path, name):
    path = pack({"fine.txt": b"fine", name: b"x"})
    before = {*tmp_path.rglob("*")}
    check(path)
    assert [content for _, content in members(path)] == [b"fine", b"x"]
    assert {*tmp_path.rglob("*")} == before


@pytest.mark.parametrize(
    ("pack", "kind"),
    [
        (tar_with, tarfile.SYMTYPE), (tar_with, tarfile.LNKTYPE), (tar_with, tarfile.CHRTYPE),
        (tar_with, tarfile.FIFOTYPE), (zip_with, stat.S_IFLNK), (zip_with, stat.S_IFSOCK),
    ],
)  # fmt: skip
def test_no_link_is_followed_and_no_device_is_read(tmp_path, pack, kind):
    path = pack(tmp_path / f"a.{pack.__name__[:3]}", kind, "a/link", "/etc/passwd")
    check(path)
    assert members(path) == []


def test_a_bomb_is_refused_before_it_is_read(pack):
    check(pack({"text": b"It is a long way from here to there.\n" * 20_000}))
    with pytest.raises(FathomError, match="more than 100 times as large as the archive"):
        check(pack({"zeros": bytes(4 << 20)}))


def test_an_encrypted_member_is_refused_though_it_is_not_wanted(tmp_path):
    """Reading it gave a traceback, after the fetch had accepted the archive."""
    path = zip_of(tmp_path / "z.zip", {"fine": b"fine", "secret": b"text"})
    content = bytearray(path.read_bytes())
    # The flags of the last entry of the central directory.
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(FathomError, match="the member 'secret' is encrypted"):
        check(path)


def test_a_zip_cannot_lie_about_a_members_size(tmp_path):
    path = zip_of(tmp_path / "z.zip", {"zeros": bytes(4 << 20)})
    size = (4 << 20).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(FathomError, match="not a readable archive"):
        members(path)


@pytest.mark.parametrize(
    "name", ["archive.zip", "archive.tar.gz", "table.parquet", "text.fr-en.gz"]
)
@pytest.mark.parametrize("content", [b"", b"<html>gone</html>", b"PK\x03\x04 PAR1"])
def test_what_is_not_an_archive_is_named(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with refused(where=path):
        check(path)
    # What is not called an archive is left to its reader.
    check(path.rename(tmp_path / "mine.txt"))


PACKED = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
PACKED += ["w", "w:gz", "w:bz2", "w:xz"]


@pytest.mark.parametrize("packed", PACKED)
def test_an_archive_with_damaged_bytes_is_one_error_or_none(tmp_path, packed):
    """bz2 and lzma have errors of their own, and a wrong offset is the system's."""
    path, rng = tmp_path / "archive", random.Random(0)
    contents = {"a/one.txt": b"one " * 300, "ü": rng.randbytes(500)}
    if isinstance(packed, str):
        tar_of(path, contents, mode=packed)
    else:
        zip_of(path, contents, method=packed)
    whole = path.read_bytes()
    for _ in range(50):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 2, 8])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with contextlib.suppress(FathomError):
            members(path)
    path.write_bytes(whole[:300])
    with pytest.raises(FathomError, match="not a readable archive"):
        members(path)
