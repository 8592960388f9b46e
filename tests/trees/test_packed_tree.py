"""All results in one file: read again as they were, or refused."""

import zipfile

import pytest

from fathom.results.trees.compared import compare
from fathom.results.trees.packed_tree import CARD, holds_results, opened, pack, unpack
from fathom.results.trees.tree import Tree
from tests.support.refused import refused
from tests.support.small_trees import METRICS, edit, write_tree


@pytest.fixture
def folder(tmp_path):
    return write_tree(tmp_path / "results")


@pytest.fixture
def archive(folder, tmp_path):
    pack(folder, names(folder), "small", tmp_path / "small.zip")
    return tmp_path / "small.zip"


def names(folder):
    """Return all files of a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path.relative_to(folder).as_posix() for path in paths]


def test_unpacked_results_are_equal_to_those_that_were_packed(folder, archive, tmp_path):
    card = unpack(archive, tmp_path / "unpacked")
    assert (card.scale, [*card.files]) == ("small", names(folder))
    assert compare(Tree.at(folder), Tree.at(tmp_path / "unpacked")).equal


def test_an_archive_is_compared_like_a_folder_and_leaves_nothing(
    folder, archive, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    edit(folder / "small/sample/table1.csv", "20.5", "20.75")
    with opened(folder) as own, opened(archive) as packed:
        assert len(compare(own, packed).differences) == 1
    assert not any((tmp_path / "scratch").iterdir())


def test_a_file_that_is_not_the_recorded_one_is_not_packed(folder, tmp_path):
    path = next(folder.glob("runs/sample/a-*/1/metrics.tsv"))
    edit(path, METRICS, METRICS.replace("4.75", "4.8"))
    with refused("changed file", where="metrics.tsv"):
        pack(folder, names(folder), "small", tmp_path / "small.zip")
    edit(path, "4.8", "4.75")
    edit(path.with_name("manifest.json"), "many_to_one", "one_to_many")
    with refused(where="manifest.json"):
        pack(folder, names(folder), "small", tmp_path / "small.zip")
    assert not (tmp_path / "small.zip").exists()


def test_a_file_that_grows_while_it_is_packed_fits_its_hash(folder, tmp_path):
    """Files were hashed first and read later, and such an archive was refused."""
    path = folder / "small/sample/growing.txt"
    path.write_text("1")

    def reading():
        yield from names(folder)
        # As a training that runs, after all files were named.
        path.write_text("12")

    pack(folder, reading(), "small", tmp_path / "small.zip")
    unpack(tmp_path / "small.zip", tmp_path / "unpacked")
    assert (tmp_path / "unpacked/small/sample/growing.txt").read_text() in ("1", "12")


def test_a_folder_with_files_is_not_overwritten_and_an_empty_one_is_used(archive, tmp_path):
    target = tmp_path / "unpacked"
    target.mkdir()
    unpack(archive, target)
    with refused("folder exists", where="unpacked"):
        unpack(archive, target)
    with refused("file exists", where="small.zip"):
        unpack(archive, archive)


def test_a_damaged_archive_is_refused_and_leaves_nothing(archive, tmp_path):
    copy = tmp_path / "copy.zip"
    for at in (0, 100, -30):
        copy.write_bytes(archive.read_bytes()[:at])
        with refused(where="copy.zip"):
            unpack(copy, tmp_path / "unpacked")
    with zipfile.ZipFile(archive) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(copy, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content.replace(b"20.5", b"90.5"))
    with refused(where="copy.zip"), opened(copy):
        pass
    assert not (tmp_path / "unpacked").exists()


def test_an_archive_of_something_else_holds_no_results(archive, tmp_path):
    assert holds_results(archive)
    other = tmp_path / "other.zip"
    assert not holds_results(other)
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr("run.json", "{}")
    assert not holds_results(other)
    with refused("no archive of results", where="other.zip"), opened(other):
        pass
    with zipfile.ZipFile(other, "w") as packed:
        packed.writestr(CARD, "[]")
    with refused("no archive of results", where="other.zip"), opened(other):
        pass
