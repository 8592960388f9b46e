"""A training that is killed, stopped or damaged ends with the bits of one that is not."""

import errno
import gzip
import os
import random
import shutil
import time
from dataclasses import dataclass, replace
from itertools import count, pairwise
from types import SimpleNamespace

import pytest

from fathom.config.spec import Spec
from fathom.config.switches import Switches
from fathom.io.files import read_json, sha256, write_json, write_lines
from fathom.io.metrics import read
from fathom.io.records import read_record
from fathom.io.signals import Stopped
from fathom.nn.weights import read_checkpoint
from fathom.results.run_state import read_state
from fathom.train import environment, loop
from fathom.train import state as checkpoints
from fathom.train.diagnostics import Diagnostics
from fathom.train.optimisers import LossScale
from fathom.train.state import BEFORE, FRESH, NEWEST, save_weights
from fathom.train.stopping import END_TIME, STOP_FILE
from tests.support.damage import flip
from tests.support.processes import kill, killed, train_and_be_killed
from tests.support.refused import refused, says
from tests.support.small_corpus import small_data
from tests.support.small_disk import small_disk
from tests.support.small_runs import (
    SWITCHES,
    encoded,
    latent,
    masked,
    specification,
    switched,
    train_run,
    update_batches,
)
from tests.support.states import require_same_training, state

BOTH = ("encoder", "decoder")
# It validates after updates 3 and 6, so before_last.pt is of update 3.
SPEC = latent({"training": {"keep_weights": 5}, "outcome": {"failed_margin": -20.0}})
LAUNCH = switched(diagnose_every=1)
RATIO = "diagnostics/encoder_gradient_ratio.tsv.gz"
# Updates that are written to the tables together.
MEMBER = "fathom.train.diagnostics.MEMBER"


@pytest.fixture(scope="module", autouse=True)
def small_members():
    """Write tables between checkpoints, too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(MEMBER, 2)
        yield


@pytest.fixture(scope="module")
def whole(tensors, tmp_path_factory):
    """The folder of a training that nothing has stopped."""
    folder = tmp_path_factory.mktemp("whole") / "runs/paper/latent_layers_3_3-12345678/1"
    train_run(SPEC, tensors, folder, LAUNCH)
    assert sorted(path.name for path in folder.glob("checkpoints/*")) == [
        BEFORE, NEWEST, "update_3.pt", "update_6.pt",
    ]  # fmt: skip
    return folder


@pytest.fixture
def run(whole, tmp_path):
    """A copy of it, which a test may damage."""
    return shutil.copytree(whole, tmp_path / "runs/paper/latent_layers_3_3-12345678/1")


@pytest.fixture
def broken(tensors, tmp_path):
    """The folder of the same training that was killed after update 4."""
    train_and_be_killed(SPEC, tensors, tmp_path / "broken", 4, LAUNCH)
    return tmp_path / "broken"


def resume(tensors, run):
    """Train on; return what was reported."""
    lines = []
    train_run(SPEC, tensors, run, LAUNCH, lines.append)
    return lines


# Kills


@dataclass(frozen=True)
class Kills:
    """A training that validates after every third update, and the updates that end in a kill."""

    spec: Spec
    at: tuple[int, ...]
    launch: Switches = SWITCHES
    member: int = 2
    passes: int = 0  # of the largest task, which are complete at the last kill
    saved: tuple[int, ...] | None = None  # the updates of the last states, if not by validations


def lasts(updates, **training):
    return {"training": {"updates": updates, **training}}


def one_to_many(place):
    return replace(latent(), data=small_data(direction="one_to_many", target_token=place))


ONE_TASK = lasts(12, tasks_per_update=1, shares="proportional")
EXPLODING = {"outcome": {"exploded_above": 1e-9, "exploded_for": 5}}
DIAGNOSED = switched(diagnose_every=2, diagnose_first=4)
ONCE = specification(changes=lasts(6, validate_every=6))
KILLS = {
    # 60 tokens a task: update 90 lies in the second pass of the largest task.
    "latent layers in a second pass": Kills(
        latent(lasts(96)), (random.randrange(4, 48), 50, 91), passes=1
    ),
    "a masked language model": Kills(
        masked("latent_layers", ("encoder",), lasts(12), target_depth=1), (5, 10)
    ),
    "one to many, the token in the source": Kills(one_to_many("source"), (5,)),
    "one to many, the token in the decoder": Kills(one_to_many("decoder"), (5,)),
    "group dropout, one task an update": Kills(
        specification("group_dropout", BOTH, ONE_TASK, groups=4, active=3), (8,)
    ),
    "adapters, one task an update": Kills(
        specification("adapters", BOTH, ONE_TASK, bottleneck=8), (8,)
    ),
    "kept weights": Kills(specification(changes=lasts(11, keep_weights=2)), (4, 10)),
    "tables of two updates": Kills(latent(lasts(12)), (1, 5, 10), DIAGNOSED),
    "tables of five updates": Kills(latent(lasts(12)), (1, 5, 10), DIAGNOSED, member=5),
    "exploding updates": Kills(specification(changes=EXPLODING), (4,)),
    "no state": Kills(ONCE, (5,), switched(save_minutes=0), saved=(0,)),
    "a state after some minutes": Kills(ONCE, (5,), switched(save_minutes=1e-9), saved=(5,)),
}


def require_exact_resume(tensors, folder, kills):
    """Check that a run that is killed ends as one that is not."""
    train_run(kills.spec, tensors, folder / "whole", kills.launch)
    for kill_at in kills.at:
        train_and_be_killed(kills.spec, tensors, folder / "killed", kill_at, kills.launch)
    attempts = train_run(kills.spec, tensors, folder / "killed", kills.launch)["attempts"]
    require_same_training(folder / "whole", folder / "killed")
    assert [each["ended_as"] for each in attempts][:-1] == ["killed"] * len(kills.at)
    saved = kills.saved or [kill_at - kill_at % 3 for kill_at in kills.at]
    assert [each["from_update"] for each in attempts] == [0, *saved]


@pytest.mark.slow
@pytest.mark.parametrize("kills", KILLS.values(), ids=KILLS)
def test_a_training_that_is_killed_ends_bit_identical(tensors, tmp_path, monkeypatch, kills):
    monkeypatch.setattr(MEMBER, kills.member)
    spec = kills.spec
    text = tensors if spec.data == small_data() else encoded(tmp_path / "text", spec.data)
    require_exact_resume(text, tmp_path, kills)
    assert update_batches(spec, text).sampler.passes(kills.at[-1]) > kills.passes


def test_a_run_with_a_loss_scale_is_killed_twice_and_its_scale_goes_on(
    tensors, tmp_path, monkeypatch, loss_scale
):
    monkeypatch.setattr(LossScale, "WINDOW", 3)
    require_exact_resume(tensors, tmp_path, Kills(latent(lasts(18)), (5, 11)))
    scales = [row["loss_scale"] for row in read(tmp_path / "killed" / "metrics.tsv")]
    steps = {after / before for before, after in pairwise(scales)}
    assert min(steps) < 1 < max(steps), scales


def kill_instead_of(name, run):
    """Kill the process that calls a function of states."""
    setattr(checkpoints, name, kill)


def kill_before_rename(name, run):
    """Kill the process where its second state would be renamed."""

    def replace(source, target):
        if source.name == name and any(source.parent.glob("*last.pt")):
            kill()
        os.replace(source, target)

    checkpoints.os = SimpleNamespace(replace=replace)


def kill_in_a_table(name, run):
    """Kill the process in the middle of a table, after its first state."""
    write = Diagnostics.write

    def write_half(self, complete=None):
        write(self, complete)
        if (run / "checkpoints" / NEWEST).exists():
            path = run / "diagnostics" / name
            path.write_bytes(path.read_bytes()[:-5])
            kill()

    Diagnostics.write = write_half


# What kills where, and what the next attempt says.
TABLE = "decoder_samples.tsv.gz"
WRITES = {
    "before weights": (kill_instead_of, "save_weights", ""),
    "between weights and their state": (kill_instead_of, "save", ""),
    "before the newest state becomes the one before": (
        kill_before_rename, NEWEST, "resuming after update 6",
    ),
    "before a complete state has its name": (
        kill_before_rename, FRESH, "resuming after update 6",
    ),
    "in the middle of a table": (kill_in_a_table, TABLE, f"{TABLE}: damaged rows are dropped"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("plant", "name", "said"), WRITES.values(), ids=WRITES)
def test_a_training_that_is_killed_while_it_writes_loses_nothing(
    tensors, tmp_path, whole, plant, name, said
):
    """It lost weights of an update, or resumed from the state before."""

    def child():
        plant(name, tmp_path)
        resume(tensors, tmp_path)

    killed(child)
    says(said).check(resume(tensors, tmp_path))
    require_same_training(whole, tmp_path)


def test_what_was_written_before_a_first_state_that_never_came_is_dropped(tensors, tmp_path, whole):
    (tmp_path / "diagnostics").mkdir()
    (tmp_path / RATIO).write_bytes(gzip.compress(b"update\tvalue\n1\t99\n"))
    weights = read_checkpoint(whole / "checkpoints" / "update_3.pt")["model"]
    save_weights(tmp_path / "checkpoints", 4, weights, 5)
    resume(tensors, tmp_path)
    require_same_training(whole, tmp_path)


# Stops


@pytest.mark.parametrize(
    ("ask", "why", "made", "reads_at_once"),
    [
        pytest.param("signal", "cancelled", 3, True, id="a signal"),
        pytest.param("signal", "cancelled", 4, True, id="a signal between states"),
        pytest.param("signal", "cancelled", 1, False, id="a signal to a host that runs ahead"),
        pytest.param("file", "limit", 3, True, id="a stop file"),
        pytest.param("time", "limit", 1, True, id="the end of its job's time"),
    ],
)
def test_a_stop_comes_after_the_update_and_keeps_its_state(
    tensors, tmp_path, whole, signal_at, ask, why, made, reads_at_once
):
    """Where a job says of its end, the reason is its limit."""
    stop, run = tmp_path / "stop", tmp_path / "run"

    def at_update_two(line):
        if "update 2 of" in line and ask == "file":
            stop.write_text("limit", encoding="utf-8")

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(STOP_FILE, str(stop))
        patched.setattr(environment, "reads_at_once", lambda device: reads_at_once)
        if ask == "signal":
            signal_at(made, patched)
        if ask == "time":
            patched.setenv(END_TIME, str(time.time()))
        with pytest.raises(Stopped) as caught:
            train_run(SPEC, tensors, run, LAUNCH, at_update_two)
    assert caught.value.code == 143
    assert not (run / "training.json").exists()
    (attempt,) = read_json(run / "attempts.json")["attempts"]
    assert (attempt["ended_as"], attempt["to_update"]) == (why, made)
    assert state(run)["update"] == made
    saved = read_state(run)
    assert (saved.state, saved.reason, saved.update) == ("saved", why, made)
    resume(tensors, run)
    require_same_training(whole, run)
    assert read_state(run).state == "finished"


@pytest.mark.slow
def test_a_full_disk_at_a_checkpoint_leaves_the_newest_state_whole(
    tensors, tmp_path, whole, record_property
):
    """It ended in torch's own error, as a bug."""
    with small_disk(tmp_path / "disk") as disk:
        record_property("what makes the disk small", disk.means)
        run = disk.folder / "run"
        train_and_be_killed(SPEC, tensors, run, 3, LAUNCH)
        disk.fill(leave=20_000)
        with pytest.raises(OSError, match="checkpoints") as caught:
            resume(tensors, run)
        disk.free()
        assert caught.value.errno in (errno.ENOSPC, errno.EFBIG)
        assert state(run)["update"] == 3
        assert not list(run.rglob("*.part"))
        resume(tensors, run)
        require_same_training(whole, run)


# Damage before the end


@pytest.mark.parametrize(
    "damages",
    [
        {"metrics.tsv": b"9\tx\n"},
        {"metrics.tsv": b"\0" * 99 + b"\n", "times.tsv": b"\0\n"},
        {"metrics.tsv": b"\xff\xfe", RATIO: b"\x1f\x8b"},
    ],
)
def test_a_damaged_series_is_said_and_the_run_ends_as_if_it_had_not_been(
    tensors, broken, whole, damages
):
    for name, damage in damages.items():
        with open(broken / name, "ab") as stream:
            stream.write(damage)
    lines = resume(tensors, broken)
    for name in damages:
        says("damaged rows are dropped", where=name.split("/")[-1]).check(lines)
    require_same_training(whole, broken)
    assert [row["update"] for row in read(broken / "times.tsv")] == [2, 3, 4, 6]


def test_a_training_that_an_earlier_version_began_resumes_and_keeps_its_times(
    tensors, broken, whole
):
    """Its times.tsv has a share of the device's peak, and its state.json a remark on the speed."""
    heading, *rows = (broken / "times.tsv").read_text().splitlines()
    old = [f"{heading}\tshare_of_peak", *(f"{row}\t0.25" for row in rows)]
    write_lines(broken / "times.tsv", old)
    remark = "at 11% of the planned speed (cores: 1, GPUs: 4)"
    content = read_json(broken / "state.json")
    write_json(broken / "state.json", content | {"remark": remark})
    assert read_state(broken).update == content["update"] > 0
    assert "damaged" not in "\n".join(resume(tensors, broken))
    assert len(read_json(broken / "training.json")["attempts"]) == 2
    require_same_training(whole, broken)
    assert (broken / "times.tsv").read_text().startswith("\n".join([heading, *rows[:2]]))
    assert [row["update"] for row in read(broken / "times.tsv")] == [2, 3, 4, 6]


def test_the_first_speed_after_a_resume_counts_no_tokens_of_before(tensors, broken, monkeypatch):
    """On a clock by which each update takes a second."""
    clock = SimpleNamespace(perf_counter=count().__next__, monotonic=time.monotonic)
    monkeypatch.setattr(loop, "time", clock)
    resume(tensors, broken)
    tokens = {row["update"]: row["tokens"] for row in read(broken / "metrics.tsv")}
    speeds = {row["update"]: row["tokens_per_second"] for row in read(broken / "times.tsv")}
    assert speeds[4] == tokens[4] - tokens[3]
    assert speeds[6] == (tokens[6] - tokens[4]) / 2


# Damage after the end


def exchange(path):
    """Put a state of the same training there that is sealed, and of another update."""
    shutil.copy(path.with_name(BEFORE), path)


def lose_every_state(path):
    flip(path)
    path.with_name(BEFORE).unlink()


def make_it_the_one_before(path):
    path.replace(path.with_name(BEFORE))


def empty(path):
    path.write_bytes(b"")


def without_entries(path):
    path.write_bytes(b"{}")


# The file, what happens to it, and the update after which the training resumes, if any.
LAST, UPDATE_3, UPDATE_6 = (f"checkpoints/{name}.pt" for name in ("last", "update_3", "update_6"))
DAMAGES = {
    "a flipped bit in the last state": (LAST, flip, 3),
    "an earlier state in the place of the last": (LAST, exchange, 3),
    "no state": (LAST, lose_every_state, None),
    "the last state is the one before": (LAST, make_it_the_one_before, 6),
    "the last weights are gone": (UPDATE_6, os.unlink, 3),
    "a state in the place of the last weights": (UPDATE_6, exchange, 3),
    "a flipped bit in the first weights": (UPDATE_3, flip, None),
    "an empty record": ("training.json", empty, 6),
    "a record without entries": ("training.json", without_entries, 6),
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "damage", "resumed"), DAMAGES.values(), ids=DAMAGES)
def test_what_a_finished_training_lost_is_made_again_to_the_bit(
    tensors, run, whole, name, damage, resumed
):
    damage(run / name)
    there = (run / name).exists()
    lines = resume(tensors, run)
    assert (run / name).with_suffix(".damaged").exists() == there
    says(where=name, remedy="resuming").check(lines)
    resuming = says("resuming after update")
    if resumed:
        says(f"resuming after update {resumed}").check(lines)
    else:
        assert not [line for line in lines if resuming.matches(line)]
    require_same_training(whole, run)
    recorded = read_record(run / "training.json")["files"]
    assert recorded[LAST] == sha256(run / LAST)
    says("already finished").check(resume(tensors, run))


def test_a_finished_training_is_left_as_it_is(tensors, run):
    def written():
        """Return the time of the last change of every file but those of the lock."""
        files = (path for path in run.rglob("*") if path.is_file())
        return {path: path.stat().st_mtime_ns for path in files if path.stem != "lock"}

    before = written()
    [line] = resume(tensors, run)
    says("already finished").check(line)
    assert written() == before


def test_a_series_that_changed_too_cannot_be_made_again_from_a_state(tensors, run):
    os.unlink(run / LAST)
    path = run / "metrics.tsv"
    path.write_bytes(path.read_bytes()[:-20])
    before = sorted(run.rglob("*"))
    with refused("not the file that was recorded", where=path, remedy=f"move {run} away"):
        resume(tensors, run)
    assert sorted(run.rglob("*")) == before


@pytest.mark.slow
def test_a_kill_before_the_end_of_the_second_training_loses_nothing(tensors, run, whole):
    os.unlink(run / UPDATE_3)

    def stop(line):
        if "update 3 of" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_run(SPEC, tensors, run, LAUNCH, stop)
    resume(tensors, run)
    require_same_training(whole, run)


def test_damaged_attempts_are_set_aside_and_the_run_resumes(tensors, run):
    (run / "training.json").unlink()
    (run / "attempts.json").write_text("{}", encoding="utf-8")
    lines = resume(tensors, run)
    says("damaged; renamed to", where="attempts.json").check(lines)
    says("resuming after update 6").check(lines)
    assert len(read_json(run / "training.json")["attempts"]) == 1


def test_a_training_that_diverged_has_no_weights_to_lose(tensors, tmp_path):
    spec = specification(changes={"outcome": {"exploded_above": 0.1, "exploded_for": 4}})
    train_run(spec, tensors, tmp_path)
    ended = read_record(tmp_path / "training.json")
    assert ended["outcome"]["kind"] == "diverged"
    assert sorted(ended["files"]) == ["metrics.tsv", "spec.yaml"]
    (tmp_path / LAST).unlink()
    lines = []
    train_run(spec, tensors, tmp_path, report=lines.append)
    says("already ended: diverged").check(lines)
