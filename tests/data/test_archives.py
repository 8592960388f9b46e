import bz2
import contextlib
import random
import stat
import tarfile
import zipfile

import pytest

from fathom.data.archives import check, visit
from fathom.io.errors import FathomError
from tests.data.small_archives import tar_of, zip_of
from tests.support.refused import refused

CONTENTS = {"a/one.txt": b"one", "two.txt": b"two", "a/..three": b"three"}
OUTSIDE = ["../x", "/x", "a/../../x", "..\\x", "C:\\x", "a/.."]


@pytest.fixture(params=[zip_of, tar_of])
def pack(request, tmp_path):
    return lambda contents: request.param(tmp_path / "archive", contents)


def members(path, selected):
    """Return name and content of the members that are requested."""
    read = []
    visit(path, selected, lambda name, stream: read.append((name, stream.read())))
    return read


def test_wanted_members_are_read_in_order(pack):
    path = pack(CONTENTS)
    assert members(path, lambda name: "t" in name) == list(CONTENTS.items())
    assert members(path, lambda name: name.startswith("two")) == [("two.txt", b"two")]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_member_that_points_outside_is_refused_though_it_is_not_wanted(pack, name):
    """Field fault 14."""
    path = pack({"fine.txt": b"fine", name: b"x"})
    with refused("points outside"):
        check(path)
    with refused("points outside"):
        members(path, lambda name: name == "fine.txt")


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


OUTWARDS = ["/etc/passwd", "../../x", "b/../../../x", "C:\\x"]
INWARDS = ["b", "../b", "./b/../../c"]


@pytest.mark.parametrize("target", OUTWARDS)
def test_a_link_out_is_refused(tmp_path, target):
    """Field fault 14."""
    for path in (
        tar_with(tmp_path / "t", tarfile.SYMTYPE, "a/link", target),
        zip_with(tmp_path / "z", stat.S_IFLNK, "a/link", target),
    ):
        with refused("link outside"):
            check(path)


@pytest.mark.parametrize("target", INWARDS)
def test_a_link_inside_is_passed_over(tmp_path, target):
    for path in (
        tar_with(tmp_path / "t", tarfile.SYMTYPE, "a/link", target),
        zip_with(tmp_path / "z", stat.S_IFLNK, "a/link", target),
    ):
        assert members(path, lambda name: True) == []


def test_a_hard_link_is_seen_from_the_archives_top(tmp_path):
    check(tar_with(tmp_path / "t", tarfile.LNKTYPE, "a/link", "b"))
    with refused("link outside"):
        check(tar_with(tmp_path / "t", tarfile.LNKTYPE, "a/link", "../b"))


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_a_device_in_a_tar_is_refused(tmp_path, kind):
    """Field fault 14."""
    with refused("device", "d"):
        check(tar_with(tmp_path / "t", kind, "d"))


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_device_in_a_zip_is_refused(tmp_path, kind):
    """Field fault 14."""
    with refused("device", "d"):
        check(zip_with(tmp_path / "z", kind, "d"))


def test_a_bomb_is_refused_before_it_is_read(pack):
    """Field fault 14."""
    path = pack({"zeros": bytes(4 << 20)})
    with refused("bomb", 100):
        check(path)


def test_text_packs_well_without_being_a_bomb(pack):
    check(pack({"text": b"It is a long way from here to there.\n" * 20_000}))


def test_a_zip_cannot_lie_about_a_members_size(tmp_path):
    path = zip_of(tmp_path / "z", {"zeros": bytes(4 << 20)})
    content = path.read_bytes()
    size = (4 << 20).to_bytes(4, "little")
    path.write_bytes(content.replace(size, (10).to_bytes(4, "little")))
    with refused("no archive"):
        members(path, lambda name: True)


def test_what_is_no_archive_is_said_to_be_none(pack, tmp_path):
    path = pack(CONTENTS)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with refused("no archive"):
        check(path)
    path.write_bytes(b"<html>gone</html>")
    with refused("no archive"):
        check(path)


def test_a_broken_stream_inside_an_archive_is_one_error(tmp_path):
    path = zip_of(tmp_path / "z", {"text": b"some text " * 100})
    content = bytearray(path.read_bytes())
    content[40:50] = bytes(10)
    path.write_bytes(content)
    with refused("no archive"):
        members(path, lambda name: True)


def test_an_encrypted_member_is_refused_though_it_is_not_wanted(tmp_path):
    """Reading it gave a traceback, after the fetch had accepted the archive."""
    path = zip_of(tmp_path / "z", {"fine": b"fine", "secret": b"text"})
    content = bytearray(path.read_bytes())
    # The flags of the last entry of the central directory.
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with refused("encrypted", "secret"):
        check(path)


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
            members(path, lambda name: True)


def test_a_name_with_control_characters_is_printed_on_one_line(tmp_path):
    with refused("points outside") as caught:
        check(zip_of(tmp_path / "z", {"../x\n\x1b[2J": b"x"}))
    assert str(caught.value).isprintable()


def test_a_packed_file_without_members_is_only_checked_to_be_packed(tmp_path):
    path = tmp_path / "dewiki.xml.bz2"
    path.write_bytes(bz2.compress(b"<mediawiki/>"))
    check(path)
    for content in (b"", b"<html></html>", b"BZh9 damaged"):
        path.write_bytes(content)
        with refused("no archive", where=path):
            check(path)
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "missing.xml.bz2")
