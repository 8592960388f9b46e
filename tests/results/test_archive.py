"""A packed run is accepted where it fits, complete and unchanged, or not at all."""

import io
import json
import tarfile
import zipfile
from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.records import hashes, identity, write_record
from fathom.io.seals import sealed
from fathom.results import archive as archives
from fathom.results.archive import (
    RECORD,
    files_of_scale,
    new_folder,
    pack_results,
    pack_run,
    place,
    read,
    unpack,
)
from fathom.results.diff import compare
from fathom.results.training_record import restore_measured
from fathom.results.tree import Tree
from fathom.results.verify import verify
from tests.support.own_project import own_project
from tests.support.run_files import training
from tests.support.small_trees import METRICS, edit, write_tree

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
    restore_measured(paths.training(spec, 1), spec, 1)
    return paths


@pytest.fixture
def archive(trained, tmp_path):
    """The packed run."""
    pack_run(own_project().spec(RUN, "tiny"), 1, trained, tmp_path / "run.tar.gz")
    return tmp_path / "run.tar.gz"


@pytest.fixture
def elsewhere(tmp_path):
    """The places of another tree without results."""
    return Paths(tmp_path / "elsewhere", "tiny")


def placed(paths, archive):
    return place(own_project(), paths, archive, read(archive))


def test_a_run_comes_out_as_it_went_in_with_its_times(trained, archive, elsewhere):
    after = placed(elsewhere, archive)
    unpack([(archive, read(archive), after)])
    before = trained.run(own_project().spec(RUN, "tiny"), 1)
    names = {path.relative_to(after).as_posix() for path in after.rglob("*") if path.is_file()}
    measured = "measurements/training.json"
    assert names == {"checkpoints/last.pt", "metrics.tsv", "spec.yaml", "training.json", measured}
    for name in names:
        assert (after / name).read_bytes() == (before / name).read_bytes()
        times = [(folder / name).stat().st_mtime for folder in (before, after)]
        assert times[0] == pytest.approx(times[1], abs=1e-3)
    assert not verify([after]).findings


def test_a_run_that_has_not_ended_or_is_damaged_is_not_packed(trained, tmp_path):
    spec = own_project().spec(RUN, "tiny")
    (trained.run(spec, 1) / "metrics.tsv").write_text("changed")
    with pytest.raises(FathomError, match=r"metrics\.tsv: not the file that was recorded"):
        pack_run(spec, 1, trained, tmp_path / "run.tar.gz")
    trained.training(spec, 1).unlink()
    with pytest.raises(FathomError, match=r"training\.json: no such file"):
        pack_run(spec, 1, trained, tmp_path / "run.tar.gz")
    assert not (tmp_path / "run.tar.gz").exists()


LINKS = {
    b"link": (tarfile.SYMTYPE, "/etc/passwd"),
    b"hard link": (tarfile.LNKTYPE, "a later member"),
}


def rewritten(archive, change):
    """Write an archive again with other members."""
    with tarfile.open(archive) as tar:
        members = {entry.name: tar.extractfile(entry).read() for entry in tar}
    change(members)
    with tarfile.open(archive, "w:gz") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            if content in LINKS:
                entry.type, entry.linkname, entry.size = *LINKS[content], 0
            tar.addfile(entry, io.BytesIO(content))


CHANGES = {
    "changed": lambda members: members.update({"metrics.tsv": b"other"}),
    "missing": lambda members: members.pop("checkpoints/last.pt"),
    "added": lambda members: members.update({"more.txt": b"more"}),
    "outside": lambda members: members.update({"../outside": b"!"}),
    "link": lambda members: members.update({"metrics.tsv": b"link"}),
    "link to nothing": lambda members: members.update({"metrics.tsv": b"hard link"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_file_than_was_packed_is_refused_and_leaves_nothing(archive, elsewhere, change):
    rewritten(archive, CHANGES[change])
    folder = placed(elsewhere, archive)
    with pytest.raises(FathomError, match=r"run\.tar\.gz: "):
        unpack([(archive, read(archive), folder)])
    assert not elsewhere.results.exists()
    assert not [*archive.parent.rglob("*outside*")]


@pytest.mark.parametrize("share", [0, 0.1, 0.5])
def test_a_cut_off_archive_is_refused(archive, elsewhere, share):
    content = archive.read_bytes()
    archive.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FathomError, match=r"run\.tar\.gz"):
        unpack([(archive, read(archive), elsewhere.results)])
    assert not elsewhere.results.exists()


def test_what_is_not_an_archive_is_refused(archive, tmp_path):
    record = read(archive).model_dump(mode="json", by_alias=True) | {"scale": "\x1b[31m"}
    sealed_again = json.dumps(record | {"sha256": identity(record)}).encode()
    rewritten(archive, lambda members: members.update({RECORD: sealed_again}))
    with pytest.raises(FathomError, match=r"scale: .* does not match") as caught:
        read(archive)
    assert str(caught.value).isprintable()
    record["sha256"] = "0"
    for text in (json.dumps(record).encode(), b"[1]", b""):
        rewritten(archive, lambda members, text=text: members.update({RECORD: text}))
        with pytest.raises(FathomError, match="not an archive of `fathom pack`"):
            read(archive)
    with pytest.raises(FathomError, match="no such file"):
        read(tmp_path / "run.zip")
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as packed:
        packed.writestr("run.json", "[1]")
    with pytest.raises(FathomError, match="not an archive"):
        read(tmp_path / "run.zip")


def test_a_run_of_other_settings_text_or_recipe_and_one_that_is_here_are_refused(
    trained, archive, elsewhere, monkeypatch
):
    """Field fault 18."""
    with pytest.raises(FathomError, match="the run is here already"):
        placed(trained, archive)
    with pytest.raises(FathomError, match="has other settings here at scale paper"):
        placed(replace(elsewhere, scale="paper"), archive)
    spec = own_project().spec(RUN, "tiny")
    text = elsewhere.tensors(spec.data) / "tensors.json"
    write_record(text, {"files": {"other": "0"}})
    with pytest.raises(FathomError, match="trained on other text"):
        placed(elsewhere, archive)
    monkeypatch.setitem(archives.RECIPE, "training", 99)
    with pytest.raises(FathomError, match="trained by recipe 2, today's code has 99"):
        placed(elsewhere, archive)


READ = (
    "training.json", "metrics.tsv", "diagnostics/a.tsv.gz", "measurements/scores.json",
    "decodings/test.plain-00000000/bos.txt", "window/plain-00000000/scores.tsv",
)  # fmt: skip
LEFT_OUT = (
    "checkpoints/last.pt", "train.log", "state.json", "lock", "pruned/bos/checkpoint.pt",
    "manifest.json", "decodings/test.plain-00000000/lock", "diagnostics/.a.tsv.gz.7.part",
)  # fmt: skip


def touch(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_what_readers_need_of_a_scale_is_without_text_weights_and_logs(tmp_path):
    project, paths = own_project(), Paths(tmp_path, "tiny")
    spec = project.spec(RUN, "tiny")
    for seed in (1, 2):
        touch(paths.run(spec, seed), (*READ, *LEFT_OUT))
    touch(paths.run(spec, 3), ("metrics.tsv", "times.tsv", "attempts.json", "spec.yaml"))
    touch(paths.corpus(spec.data), ("corpus.json", "statistics.json", "bos/train.bos"))
    touch(paths.tensors(spec.data), ("tensors.json", "train.bin"))
    touch(paths.top, ("claims.csv", "lamgd/table1.html", "logs/claims.log", "lamgd.html"))
    touch(tmp_path / "runs/latent_depth/m2o_diverse_12_12-00000000/1", READ)
    run, corpus = (
        folder.relative_to(tmp_path).as_posix()
        for folder in (paths.run(spec, 1).parent, paths.corpus(spec.data))
    )
    names, not_ended = files_of_scale(project, paths)
    assert not_ended == [f"{run}/3"]
    assert {*names} == {
        *(f"{run}/{seed}/{name}" for seed in (1, 2) for name in READ),
        *(f"{corpus}/{name}.json" for name in ("corpus", "statistics")),
        *(f"tiny/{name}" for name in ("claims.csv", "lamgd/table1.html", "lamgd.html")),
    }


@pytest.fixture
def folder(tmp_path):
    return write_tree(tmp_path / "tree")


def pack(folder, tmp_path):
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in names]
    return pack_results(folder, names, "small", tmp_path / "small.tar.gz")


def test_all_results_are_read_again_as_they_were(folder, tmp_path):
    record, target = pack(folder, tmp_path), tmp_path / "unpacked"
    assert read(tmp_path / "small.tar.gz") == record
    target.mkdir()
    unpack([(tmp_path / "small.tar.gz", record, new_folder(target))])
    assert compare(Tree.at(folder), Tree.at(target)).equal
    for path, words in ((target, "such a folder"), (tmp_path / "small.tar.gz", "such a file")):
        with pytest.raises(FathomError, match=f"there is {words}"):
            new_folder(path)


def test_a_file_that_is_not_the_recorded_one_is_not_packed(folder, tmp_path):
    path = next(folder.glob("runs/sample/a-*/1/metrics.tsv"))
    edit(path, METRICS, METRICS.replace("4.75", "4.8"))
    with pytest.raises(FathomError, match=r"metrics\.tsv: not the file"):
        pack(folder, tmp_path)
    edit(path, "4.8", "4.75")
    edit(path.with_name("training.json"), '"seconds": 1.5', '"seconds": 2.5')
    with pytest.raises(FathomError, match=r"training\.json"):
        pack(folder, tmp_path)
    assert not (tmp_path / "small.tar.gz").exists()


@pytest.mark.parametrize("change", ["longer", "", "other"])
def test_a_file_that_changes_while_it_is_packed_is_refused(folder, tmp_path, monkeypatch, change):
    """Such an archive was written, and could not be unpacked."""
    path = folder / "small/sample/drawn.txt"
    path.write_text("drawn")
    write = archives._write

    def later(archive, record, results):
        path.write_text(change)
        write(archive, record, results)

    monkeypatch.setattr(archives, "_write", later)
    with pytest.raises(FathomError, match="changed while it was packed"):
        pack(folder, tmp_path)
    assert not (tmp_path / "small.tar.gz").exists()
