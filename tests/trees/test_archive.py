"""Archives with a card: all of their files, as they were packed, or nothing."""

import zipfile

import pytest

from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.results.trees.archive import card_of, unpack, write
from tests.support.refused import refused

NAMES = ("a.txt", "inner/b.png")


@pytest.fixture
def archive(tmp_path):
    """An archive of two files, and the hashes on its card."""
    folder = tmp_path / "from"
    (folder / "inner").mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_text(name * 100)
    files = write(tmp_path / "some.zip", "card.json", lambda files: {"files": files}, folder, NAMES)
    assert files == {name: sha256(folder / name) for name in NAMES}
    return tmp_path / "some.zip"


def test_files_come_out_as_they_went_in(archive, tmp_path):
    card = card_of(archive, "card.json", "no archive of a run")
    unpack(archive, "card.json", card["files"], tmp_path / "to")
    paths = [path for path in (tmp_path / "to").rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path / "to").as_posix() for path in paths} == {*NAMES}
    assert all(path.read_text().startswith(path.name[0]) or path.parent.name for path in paths)
    with zipfile.ZipFile(archive) as packed:
        sizes = {entry.filename: entry.compress_size for entry in packed.infolist()}
    assert sizes["a.txt"] < len("a.txt" * 100)
    assert sizes["inner/b.png"] == len("inner/b.png" * 100)  # a picture is packed already


def test_another_file_leaves_nothing(archive, tmp_path):
    card = card_of(archive, "card.json", "no archive of a run")
    for files in ({}, card["files"] | {"c.txt": "0"}, card["files"] | {"a.txt": "0"}):
        with refused(where="some.zip"):
            unpack(archive, "card.json", files, tmp_path / "to")
        assert not (tmp_path / "to").exists()


def test_a_card_of_another_name_is_none(archive):
    with refused("no archive of a run", where="some.zip"):
        card_of(archive, "other.json", "no archive of a run")


def test_a_card_that_cannot_be_written_leaves_no_archive(tmp_path):
    (tmp_path / "a.txt").write_text("a")

    def content(files):
        raise FathomError("not the file that was recorded", "a.txt", "make it again")

    with refused("changed file"):
        write(tmp_path / "some.zip", "card.json", content, tmp_path, ["a.txt"])
    assert not (tmp_path / "some.zip").exists()
