"""A packed run is accepted where it fits, complete and unchanged, or not at all."""

import json
import shutil
import zipfile
from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.io.files import sha256
from fathom.io.integrity import hashes, write_record
from fathom.io.seals import sealed
from fathom.results.run_archive import CARD, pack, place, unpack
from fathom.results.verify import verify
from tests.support.refused import refused
from tests.support.run_files import training
from tests.support.targets import own_project

RUN = "latent_depth/m2o_diverse_12_12"


@pytest.fixture
def trained(tmp_path):
    """The places of a run that has ended, with its text."""
    paths = Paths(tmp_path / "results", "tiny")
    spec = own_project().spec(RUN, "tiny")
    text = paths.tensors(spec.data) / "tensors.json"
    write_record(text, {"files": {}})
    folder = paths.run(spec, 1)
    for name in ("checkpoints/last.pt", "checkpoints/before_last.pt"):
        with sealed(folder / name) as stream, zipfile.ZipFile(stream, "w") as state:
            state.writestr("data", name)
    for name in ("metrics.tsv", "spec.yaml"):
        (folder / name).write_text(name)
    for name in ("lock", ".metrics.tsv.7.part"):
        (folder / name).touch()
    files = hashes(folder, "checkpoints/last.pt", "metrics.tsv", "spec.yaml")
    content = training(tasks=spec.data.tasks, files=files, tensors_sha256=sha256(text))
    write_record(paths.training(spec, 1), content)
    return paths


@pytest.fixture
def archive(trained, tmp_path):
    """The packed run."""
    pack(own_project().spec(RUN, "tiny"), 1, trained, tmp_path / "run.zip")
    return tmp_path / "run.zip"


@pytest.fixture
def elsewhere(tmp_path):
    """The places of another tree without results."""
    return Paths(tmp_path / "elsewhere", "tiny")


def test_a_run_comes_out_as_it_went_in_with_its_times(trained, archive, elsewhere):
    run = place(own_project(), elsewhere, archive)
    unpack(archive, run)
    before, after = trained.run(run.spec, 1), elsewhere.run(run.spec, 1)
    names = {path.relative_to(after).as_posix() for path in after.rglob("*") if path.is_file()}
    assert names == {"checkpoints/last.pt", "metrics.tsv", "spec.yaml", "training.json"}
    for name in names:
        assert (after / name).read_bytes() == (before / name).read_bytes()
        # Zip counts every second one.
        times = [(folder / name).stat().st_mtime for folder in (before, after)]
        assert abs(times[0] - times[1]) <= 2
    assert not verify([after]).findings


def test_a_run_that_has_not_ended_or_is_damaged_is_not_packed(trained, tmp_path):
    spec = own_project().spec(RUN, "tiny")
    (trained.run(spec, 1) / "metrics.tsv").write_text("changed")
    with refused("changed file", where="metrics.tsv"):
        pack(spec, 1, trained, tmp_path / "run.zip")
    trained.training(spec, 1).unlink()
    with refused("no such file", where="training.json"):
        pack(spec, 1, trained, tmp_path / "run.zip")
    assert not (tmp_path / "run.zip").exists()


def rewritten(archive, change):
    """Write the archive again with other members."""
    with zipfile.ZipFile(archive) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    change(members)
    with zipfile.ZipFile(archive, "w") as packed:
        for name, content in members.items():
            packed.writestr(name, content)


def test_a_changed_missing_or_added_file_is_refused_and_leaves_nothing(archive, elsewhere):
    copy = archive.with_name("copy.zip")
    for change in (
        lambda members: members.update({"metrics.tsv": b"other"}),
        lambda members: members.pop("checkpoints/last.pt"),
        lambda members: members.update({"more.txt": b"more"}),
    ):
        shutil.copy(archive, copy)
        rewritten(copy, change)
        run = place(own_project(), elsewhere, copy)
        with refused(where=copy.name):
            unpack(copy, run)
        assert not run.folder.exists()
        assert not [*run.folder.parent.iterdir()]


def test_a_member_that_points_outside_is_refused(archive, elsewhere):
    rewritten(archive, lambda members: members.update({"../outside": b"!"}))
    with refused(where=archive.name):
        place(own_project(), elsewhere, archive)
    assert not (elsewhere.results / "outside").exists()


@pytest.mark.parametrize("cut", [0, 100, -30])
def test_a_cut_off_archive_is_refused(archive, elsewhere, cut):
    archive.write_bytes(archive.read_bytes()[:cut])
    with refused(where=archive.name):
        place(own_project(), elsewhere, archive)


def test_a_changed_card_is_refused(archive, elsewhere):
    def change(members):
        members[CARD] = members[CARD].replace(b'"seed": 1', b'"seed": 2')

    rewritten(archive, change)
    with refused("no archive of a run", where=archive.name):
        place(own_project(), elsewhere, archive)


def test_other_settings_other_text_and_another_recipe_are_refused(archive, elsewhere, monkeypatch):
    """Field fault 18."""
    with refused("other settings here", RUN, "paper", where=archive.name):
        place(own_project(), replace(elsewhere, scale="paper"), archive)
    spec = own_project().spec(RUN, "tiny")
    text = elsewhere.tensors(spec.data) / "tensors.json"
    write_record(text, {"files": {"other": "0"}})
    with refused("trained on other text", where=archive.name):
        place(own_project(), elsewhere, archive)
    monkeypatch.setitem(place.__globals__["RECIPE"], "training", 99)
    with refused("trained by recipe", ..., 99, where=archive.name):
        place(own_project(), elsewhere, archive)


def test_a_run_that_is_here_is_not_overwritten(trained, archive):
    with refused("run is here"):
        place(own_project(), trained, archive)


def test_another_file_is_no_archive(tmp_path, elsewhere):
    with refused("no such file"):
        place(own_project(), elsewhere, tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as packed:
        packed.writestr(CARD, json.dumps([1]))
    with refused("no archive of a run"):
        place(own_project(), elsewhere, tmp_path / "run.zip")
