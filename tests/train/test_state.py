"""States and weights on disk, and a finished training whose files were lost."""

import os
import shutil
from types import SimpleNamespace

import pytest
import torch

from fathom.io import metrics
from fathom.io.files import sha256
from fathom.io.records import read_record
from fathom.io.seals import sealed
from fathom.nn.weights import read_checkpoint, saved_weights
from fathom.train import state as checkpoints
from fathom.train.state import (
    BEFORE,
    FRESH,
    NEWEST,
    delete_weights_after,
    load,
    save,
    save_weights,
    set_aside_after,
)
from tests.support.damage import flip
from tests.support.processes import kill, killed, train_and_be_killed
from tests.support.refused import refused, says
from tests.support.small_runs import specification, switched, train_run
from tests.support.states import require_equal


def test_the_newest_and_the_one_before_it_are_kept(tmp_path):
    for update in (1, 2, 3):
        save(tmp_path, {"update": update, "model": {"a": torch.ones(2)}})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NEWEST, BEFORE])
    assert load(tmp_path, print)["update"] == 3


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip", "weight"])
def test_a_damaged_newest_is_set_aside_and_the_one_before_it_taken(tmp_path, damage):
    for update in (1, 2):
        save(tmp_path, {"update": update, "model": {"a": torch.arange(100)}})
    newest = tmp_path / NEWEST
    content = newest.read_bytes()
    newest.write_bytes(
        {
            "truncate": content[:200],
            "empty": b"",
            "flip": b"x" * 50 + content[50:],
            "weight": content.replace(b"\x07\0\0\0", b"\x17\0\0\0"),
        }[damage]
    )
    damaged = newest.read_bytes()
    assert damaged != content
    said = []
    assert load(tmp_path, said.append)["update"] == 1
    assert "last.damaged" in said[0]
    assert not newest.exists()
    assert (tmp_path / "last.damaged").read_bytes() == damaged
    assert "\n" not in said[0]


def test_a_whole_state_of_another_run_or_seed_is_set_aside(tmp_path):
    """A training went on from the weights of another seed that were copied into its folder."""
    for update, seed in ((1, 1), (2, 2)):
        save(tmp_path, {"update": update, "of": ["a", seed]})
    said = []
    assert load(tmp_path, said.append, of=["a", 1])["update"] == 1
    says("of another run or seed", where="last.pt", remedy="last.damaged").check(said)


def test_another_process_of_the_run_may_have_set_the_damaged_file_aside(tmp_path, monkeypatch):
    for update in (1, 2):
        save(tmp_path, {"update": update})

    def read_late(path):
        if path.name == NEWEST:
            path.rename(path.with_suffix(".damaged"))
        return read_checkpoint(path)

    monkeypatch.setattr(checkpoints, "read_checkpoint", read_late)
    assert load(tmp_path, lambda line: None)["update"] == 1


def test_a_checkpoint_with_code_in_it_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("ran",)

    with sealed(tmp_path / NEWEST) as stream:
        torch.save({"model": Evil()}, stream)
    said = []
    assert load(tmp_path, said.append) is None
    says("it holds code", where="last.pt").check(said)


def test_what_comes_after_an_update_is_renamed_and_unreadable_states_stay(tmp_path):
    """Whole weights were deleted."""
    for update in (3, 6):
        save(tmp_path, {"update": update})
        save_weights(tmp_path, update, weights(update), 2)
    set_aside_after(tmp_path, 6)
    names = {BEFORE, NEWEST, "update_3.pt", "update_6.pt"}
    assert {path.name for path in tmp_path.iterdir()} == names
    set_aside_after(tmp_path, 5)
    names = {BEFORE, "last.replaced", "update_3.pt", "update_6.replaced"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert read_checkpoint(tmp_path / "last.replaced")["update"] == 6
    (tmp_path / BEFORE).write_bytes(b"")
    set_aside_after(tmp_path, 0)
    names = {BEFORE, "last.replaced", "update_3.replaced", "update_6.replaced"}
    assert {path.name for path in tmp_path.iterdir()} == names


def weights(update):
    return {"a": torch.full((3,), float(update)), "count": torch.tensor(update)}


def test_the_last_weights_are_kept_and_the_oldest_deleted(tmp_path):
    for update in (8, 9, 10, 11):
        save_weights(tmp_path, update, weights(update), 2)
        assert list(saved_weights(tmp_path)) == [
            each for each in (8, 9, 10, 11) if update - 2 < each <= update
        ]
    found = read_checkpoint(saved_weights(tmp_path)[10])
    assert found["update"] == 10
    assert torch.equal(found["model"]["a"], torch.full((3,), 10.0))
    # Nothing but the weights: an optimiser's state is twice as large.
    assert found.keys() == {"update", "model"}


def test_nothing_is_kept_where_nothing_is_asked_for(tmp_path):
    save_weights(tmp_path, 5, weights(5), 0)
    assert list(tmp_path.iterdir()) == []


def test_weights_kept_again_after_a_kill_take_the_place_of_the_first(tmp_path):
    for update in (5, 10, 15):
        save_weights(tmp_path, update, weights(update), 2)
    save_weights(tmp_path, 15, weights(99), 2)
    assert list(saved_weights(tmp_path)) == [10, 15]
    assert read_checkpoint(saved_weights(tmp_path)[15])["model"]["count"] == 99


def test_a_kill_while_weights_are_written_leaves_none_of_that_update(tmp_path, monkeypatch):
    save_weights(tmp_path, 5, weights(5), 2)

    def interrupted(_, stream):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_weights(tmp_path, 10, weights(10), 2)
    assert [path.name for path in tmp_path.iterdir()] == ["update_5.pt"]


def test_weights_after_the_update_to_which_a_run_goes_back_are_forgotten(tmp_path):
    for update in (5, 10, 15):
        save_weights(tmp_path, update, weights(update), 3)
    delete_weights_after(tmp_path, 10)
    assert list(saved_weights(tmp_path)) == [5, 10]
    delete_weights_after(tmp_path, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_training_keeps_weights_when_it_validates_and_a_kill_changes_none(tensors, tmp_path):
    spec = specification(changes={"training": {"updates": 11, "keep_weights": 2}})
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train_run(spec, tensors, whole)
    for update in (4, 10):
        train_and_be_killed(spec, tensors, killed, update)
    train_run(spec, tensors, killed)
    one, other = (saved_weights(folder / "checkpoints") for folder in (whole, killed))
    assert list(one) == list(other) == [9, 11]
    for update in one:
        require_equal(*(read_checkpoint(saved[update])["model"] for saved in (one, other)))
    require_equal(read_checkpoint(one[11])["model"], load(whole / "checkpoints", print)["model"])


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["save_weights", "save"])
def test_a_kill_while_a_validated_update_is_written_loses_none_of_its_weights(
    tensors, tmp_path, writer
):
    spec = specification(changes={"training": {"keep_weights": 5}})

    def child():
        setattr(checkpoints, writer, kill)
        train_run(spec, tensors, tmp_path)

    killed(child)
    train_run(spec, tensors, tmp_path)
    assert list(saved_weights(tmp_path / "checkpoints")) == [3, 6]


@pytest.mark.slow
@pytest.mark.parametrize("name", [NEWEST, FRESH])
def test_a_kill_before_a_complete_state_has_its_name_loses_no_update(tensors, tmp_path, name):
    """It resumed from the state before."""
    train_and_be_killed(specification(), tensors, tmp_path, 4)

    def child():
        def replace(source, target):
            if source.name == name:
                kill()
            os.replace(source, target)

        checkpoints.os = SimpleNamespace(replace=replace)
        train_run(specification(), tensors, tmp_path)

    killed(child)
    lines = []
    train_run(specification(), tensors, tmp_path, report=lines.append)
    says("resuming after update 6").check(lines)
    assert read_checkpoint(tmp_path / "checkpoints" / NEWEST)["update"] == 6


def test_weights_kept_before_a_kill_that_lost_their_checkpoint_are_forgotten(tensors, tmp_path):
    spec = specification(changes={"training": {"keep_weights": 5}})
    (tmp_path / "checkpoints").mkdir()
    save_weights(tmp_path / "checkpoints", 4, weights(4), 5)
    train_run(spec, tensors, tmp_path)
    assert list(saved_weights(tmp_path / "checkpoints")) == [3, 6]


def test_weights_are_saved_between_validations_too_and_at_the_end(tensors, tmp_path):
    changes = {"training": {"updates": 7, "keep_weights": 9, "save_every": 2}}
    train_run(specification(changes=changes), tensors, tmp_path)
    assert list(saved_weights(tmp_path / "checkpoints")) == [2, 4, 6, 7]
    assert read_checkpoint(tmp_path / "checkpoints" / NEWEST)["update"] == 7


def test_validations_and_saves_may_count_epochs(tensors, tmp_path):
    lengths = {"updates": "2 epochs", "validate_every": "2 epochs", "save_every": "1 epoch"}
    spec = specification(changes={"training": {"keep_weights": 9, **lengths}})
    train_run(spec, tensors, tmp_path, switched(log_every=1))
    rows = metrics.read(tmp_path / "metrics.tsv")
    first, last = saved_weights(tmp_path / "checkpoints")
    assert next(row["update"] for row in rows if row["epoch"] >= 1) == first
    assert [row["update"] for row in rows if row["valid_nll"] is not None] == [last]


def test_a_kill_in_the_middle_of_a_write_loses_nothing_and_leaves_nothing(tmp_path):
    """Half of a checkpoint is on disk, under a name that nothing reads."""
    for update in (1, 2):
        save(tmp_path, {"update": update, "model": {"a": torch.ones(2)}})

    def half_written(content, stream):
        stream.write(b"P" * 5000)
        stream.flush()
        kill()

    def child():
        torch.save = half_written
        save(tmp_path, {"update": 3, "model": {"a": torch.ones(2)}})

    killed(child)
    [half] = tmp_path.glob(".*.part")
    assert half.stat().st_size > 4000
    assert load(tmp_path, print)["update"] == 2
    save(tmp_path, {"update": 3, "model": {"a": torch.ones(2)}})
    assert load(tmp_path, print)["update"] == 3
    assert not list(tmp_path.glob(".*.part"))


# It validates after updates 3 and 6, so before_last.pt is of update 3.
SPEC = specification(changes={"training": {"keep_weights": 2}, "outcome": {"failed_margin": -20.0}})


@pytest.fixture(scope="module")
def unbroken(tensors, tmp_path_factory):
    """The folder of a finished training."""
    folder = tmp_path_factory.mktemp("unbroken") / "runs/paper/static_3_3-12345678/1"
    train_run(SPEC, tensors, folder)
    return folder


@pytest.fixture
def run(unbroken, tmp_path):
    """A copy of it, which a test may damage."""
    return shutil.copytree(unbroken, tmp_path / "runs/paper/static_3_3-12345678/1")


def resume(tensors, run):
    """Train again; return what was reported."""
    lines = []
    train_run(SPEC, tensors, run, report=lines.append)
    return lines


def exchange(path):
    """Put a state of the same training there that is sealed, and of another update."""
    shutil.copy(path.with_name("before_last.pt"), path)


def same_bits(run, unbroken):
    """Whether two trainings have the same weights, states and measurements."""
    for name in ("last.pt", "update_3.pt", "update_6.pt"):
        require_equal(*(read_checkpoint(each / "checkpoints" / name) for each in (run, unbroken)))
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
@pytest.mark.parametrize(
    ("name", "resumed", "damage"),
    [
        ("last.pt", 3, flip),
        ("last.pt", 3, exchange),
        ("update_6.pt", 3, os.unlink),
        ("update_6.pt", 3, exchange),
        ("update_3.pt", None, flip),
    ],
)
def test_lost_weights_are_made_again_to_the_bit(tensors, run, unbroken, name, resumed, damage):
    damage(run / "checkpoints" / name)
    lines = resume(tensors, run)
    says(where=name, remedy="resuming").check(lines)
    if resumed:
        says(f"resuming after update {resumed}").check(lines)
    assert same_bits(run, unbroken)
    says("already finished").check(resume(tensors, run))


def test_without_any_state_it_starts_from_the_beginning(tensors, run, unbroken):
    flip(run / "checkpoints" / "last.pt")
    os.unlink(run / "checkpoints" / "before_last.pt")
    lines = resume(tensors, run)
    assert not [line for line in lines if says("resuming after update").matches(line)]
    assert same_bits(run, unbroken)


def test_a_state_of_the_last_update_that_is_left_is_saved_as_the_last(tensors, run, unbroken):
    (run / "checkpoints" / "last.pt").replace(run / "checkpoints" / "before_last.pt")
    says("resuming after update 6").check(resume(tensors, run))
    assert same_bits(run, unbroken)


@pytest.mark.parametrize("content", [b"", b"{}"])
def test_a_damaged_record_is_written_again(tensors, run, unbroken, content):
    (run / "training.json").write_bytes(content)
    lines = resume(tensors, run)
    says(where="training.json", remedy="resuming").check(lines)
    says("resuming after update 6").check(lines)
    assert same_bits(run, unbroken)


def test_a_series_that_changed_too_cannot_be_made_again_from_a_state(tensors, run):
    os.unlink(run / "checkpoints" / "last.pt")
    path = run / "metrics.tsv"
    path.write_bytes(path.read_bytes()[:-20])
    before = sorted(run.rglob("*"))
    with refused("not the file that was recorded", where=path, remedy=f"move {run} away"):
        resume(tensors, run)
    assert sorted(run.rglob("*")) == before


@pytest.mark.slow
def test_a_kill_before_the_end_of_the_second_training_loses_nothing(tensors, run, unbroken):
    os.unlink(run / "checkpoints" / "update_3.pt")

    def stop(line):
        if "update 3 of" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_run(SPEC, tensors, run, report=stop)
    resume(tensors, run)
    assert same_bits(run, unbroken)


def test_a_training_that_diverged_has_no_weights_to_lose(tensors, tmp_path):
    spec = specification(changes={"outcome": {"exploded_above": 0.1, "exploded_for": 4}})
    train_run(spec, tensors, tmp_path)
    ended = read_record(tmp_path / "training.json")
    assert ended["outcome"]["kind"] == "diverged"
    assert sorted(ended["files"]) == ["metrics.tsv", "spec.yaml"]
    (tmp_path / "checkpoints" / "last.pt").unlink()
    lines = []
    train_run(spec, tensors, tmp_path, report=lines.append)
    says("already ended: diverged").check(lines)
