"""A finished training whose files were lost: it resumes, and ends with the same bits."""

import shutil

import pytest

from fathom.io.files import sha256
from fathom.io.integrity import read_record
from fathom.nn.weights import read_checkpoint
from fathom.train.loop import TrainPaths
from fathom.train.train import train
from tests.support.refused import refused, says
from tests.support.small_corpus import silent
from tests.support.small_runs import OPTIONS, specification
from tests.support.states import differences

# It validates after updates 3 and 6, so before_last.pt is of update 3.
SPEC = specification(changes={"training": {"keep_weights": 2}, "outcome": {"failed_margin": -20.0}})


@pytest.fixture(scope="module")
def unbroken(tensors, tmp_path_factory):
    """The folder of a finished training."""
    folder = tmp_path_factory.mktemp("unbroken") / "runs/paper/static_3_3-12345678/1"
    train(SPEC, 1, TrainPaths(tensors, folder), OPTIONS, silent)
    return folder


@pytest.fixture
def run(unbroken, tmp_path):
    """A copy of it, which a test may damage."""
    return shutil.copytree(unbroken, tmp_path / "runs/paper/static_3_3-12345678/1")


def resume(tensors, run):
    """Train again; return what was reported."""
    lines = []
    train(SPEC, 1, TrainPaths(tensors, run), OPTIONS, lines.append)
    return lines


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def remove(path):
    path.unlink()


def exchange(path):
    """Put a state of the same training there that is sealed, and of another update."""
    shutil.copy(path.with_name("before_last.pt"), path)


def same_bits(run, unbroken):
    """Whether two trainings have the same weights, states and measurements."""
    for name in ("last.pt", "update_3.pt", "update_6.pt"):
        one, other = (read_checkpoint(each / "checkpoints" / name) for each in (run, unbroken))
        assert list(differences(one, other)) == []
    one, other = (read_record(each / "training.json") for each in (run, unbroken))
    assert one["files"]["checkpoints/last.pt"] == sha256(run / "checkpoints" / "last.pt")
    return all(one[key] == other[key] for key in ("outcome", "validation", "parameters"))


def written(run):
    """Return the time of the last change of every file but those of the lock."""
    files = (path for path in run.rglob("*") if path.is_file())
    return {path: path.stat().st_mtime_ns for path in files if path.stem != "lock"}


def test_a_finished_training_is_left_as_it_is(tensors, run):
    before = written(run)
    [line] = resume(tensors, run)
    says("already finished").check(line)
    assert written(run) == before


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip, remove, exchange])
@pytest.mark.parametrize(
    ("name", "resumed"), [("last.pt", 3), ("update_6.pt", 3), ("update_3.pt", None)]
)
def test_lost_weights_are_made_again_to_the_bit(tensors, run, unbroken, name, resumed, damage):
    damage(run / "checkpoints" / name)
    lines = resume(tensors, run)
    says(where=name, remedy="resuming").check(lines)
    if resumed:
        says("resuming", resumed).check(lines)
    assert same_bits(run, unbroken)
    says("already finished").check(resume(tensors, run))


@pytest.mark.parametrize("damage", [flip, remove])
def test_without_any_state_it_starts_from_the_beginning(tensors, run, unbroken, damage):
    for name in ("last.pt", "before_last.pt"):
        damage(run / "checkpoints" / name)
    lines = resume(tensors, run)
    assert not [line for line in lines if says("resuming").matches(line)]
    assert same_bits(run, unbroken)


def test_a_state_of_the_last_update_that_is_left_is_saved_as_the_last(tensors, run, unbroken):
    (run / "checkpoints" / "last.pt").replace(run / "checkpoints" / "before_last.pt")
    says("resuming", 6).check(resume(tensors, run))
    assert same_bits(run, unbroken)


@pytest.mark.parametrize("content", [b"", b"{", b"{}"])
def test_a_damaged_record_is_written_again(tensors, run, unbroken, content):
    (run / "training.json").write_bytes(content)
    lines = resume(tensors, run)
    says(where="training.json", remedy="resuming").check(lines)
    says("resuming", 6).check(lines)
    assert same_bits(run, unbroken)


def test_a_series_that_changed_too_cannot_be_made_again_from_a_state(tensors, run):
    remove(run / "checkpoints" / "last.pt")
    path = run / "metrics.tsv"
    path.write_bytes(path.read_bytes()[:-20])
    before = sorted(run.rglob("*"))
    with refused("changed file", where=path, remedy=f"rm -r {run} && fathom train paper/"):
        resume(tensors, run)
    assert sorted(run.rglob("*")) == before


@pytest.mark.slow
def test_a_kill_before_the_end_of_the_second_training_loses_nothing(tensors, run, unbroken):
    remove(run / "checkpoints" / "update_3.pt")

    def stop(line):
        if "update 3 of" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(SPEC, 1, TrainPaths(tensors, run), OPTIONS, stop)
    resume(tensors, run)
    assert same_bits(run, unbroken)


def test_a_training_that_diverged_has_no_weights_to_lose(tensors, tmp_path):
    spec = specification(changes={"outcome": {"exploded_above": 0.1, "exploded_for": 4}})
    train(spec, 1, TrainPaths(tensors, tmp_path), OPTIONS, silent)
    ended = read_record(tmp_path / "training.json")
    assert ended["outcome"]["kind"] == "diverged"
    assert sorted(ended["files"]) == ["metrics.tsv", "spec.yaml"]
    (tmp_path / "checkpoints" / "last.pt").unlink()
    lines = []
    train(spec, 1, TrainPaths(tensors, tmp_path), OPTIONS, lines.append)
    says("already ended", "diverged").check(lines)
