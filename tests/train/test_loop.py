"""A training that is killed, stopped or damaged ends with the bits of one that is not."""

import errno
import os
import random
import shutil
import signal
import time
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from fathom.io.files import read_json, write_json, write_lines
from fathom.io.metrics import read
from fathom.io.signals import Stopped
from fathom.nn.weights import load_weights
from fathom.results.run_state import read_state
from fathom.train import environment
from fathom.train.optimisers import LossScale
from fathom.train.outcomes import validate
from fathom.train.ranks import Ranks
from fathom.train.stopping import END_TIME, STOP_FILE
from fathom.train.two_level import TwoLevel
from tests.support.processes import train_and_be_killed
from tests.support.refused import says
from tests.support.small_corpus import small_data
from tests.support.small_disk import small_disk
from tests.support.small_runs import (
    Run,
    encoded,
    latent,
    masked,
    specification,
    switched,
    train_run,
    update_batches,
)
from tests.support.states import require_same_training, state


def require_exact_resume(spec, tensors, folder, *kills):
    """Check that a run that is killed ends as one that is not; return its attempts."""
    whole, killed = folder / "whole", folder / "killed"
    expected = train_run(spec, tensors, whole)
    for kill_at in kills:
        train_and_be_killed(spec, tensors, killed, kill_at)
    ended = train_run(spec, tensors, killed)
    require_same_training(whole, killed)
    assert all(ended[key] == expected[key] for key in ("outcome", "validation"))
    assert [each["ended_as"] for each in ended["attempts"]][:-1] == ["killed"] * len(kills)
    return ended["attempts"]


@pytest.mark.slow
def test_a_run_killed_three_times_ends_bit_identical_also_in_a_second_pass(tensors, tmp_path):
    # 60 tokens a task: update 90 lies in the second pass of the largest task (asserted below).
    spec, kills = latent({"training": {"updates": 96}}), (random.randrange(4, 48), 50, 91)
    attempts = require_exact_resume(spec, tensors, tmp_path, *kills)
    assert [each["from_update"] for each in attempts] == [0, kills[0] - kills[0] % 3, 48, 90]
    assert update_batches(latent(), tensors).sampler.passes(kills[-1]) > 1


@pytest.mark.slow
def test_a_masked_language_model_killed_twice_ends_bit_identical(tensors, tmp_path):
    spec = masked("latent_layers", ("encoder",), {"training": {"updates": 12}}, target_depth=1)
    attempts = require_exact_resume(spec, tensors, tmp_path, 5, 10)
    assert [each["from_update"] for each in attempts] == [0, 3, 9]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["source", "decoder"])
def test_one_to_many_training_killed_once_ends_bit_identical(tmp_path, place):
    data = small_data(direction="one_to_many", target_token=place)
    tensors, spec = encoded(tmp_path / "text", data), replace(latent(), data=data)
    require_exact_resume(spec, tensors, tmp_path, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["group_dropout", "adapters"])
def test_a_run_of_one_task_an_update_ends_bit_identical_after_a_kill(tensors, tmp_path, name):
    own = {"groups": 4, "active": 3} if name == "group_dropout" else {"bottleneck": 8}
    training = {"tasks_per_update": 1, "shares": "proportional", "updates": 12}
    spec = specification(name, ("encoder", "decoder"), {"training": training}, **own)
    require_exact_resume(spec, tensors, tmp_path, 8)


def test_a_run_with_a_loss_scale_is_killed_twice_and_its_scale_goes_on(
    tensors, tmp_path, monkeypatch, loss_scale
):
    monkeypatch.setattr(LossScale, "WINDOW", 3)
    spec = latent({"training": {"updates": 18, "validate_every": 3}})
    require_exact_resume(spec, tensors, tmp_path, 5, 11)
    scales = [row["loss_scale"] for row in read(tmp_path / "killed" / "metrics.tsv")]
    steps = {after / before for before, after in pairwise(scales)}
    assert min(steps) < 1 < max(steps), scales


def test_exploding_updates_are_counted_on_after_a_kill(tensors, tmp_path):
    exploding = specification(changes={"outcome": {"exploded_above": 1e-9, "exploded_for": 5}})
    train_and_be_killed(exploding, tensors, tmp_path, 4)
    outcome = train_run(exploding, tensors, tmp_path)["outcome"]
    assert (outcome["kind"], outcome["update"]) == ("diverged", 5)


@pytest.mark.slow
def test_a_host_that_runs_ahead_of_its_device_writes_what_one_that_reads_at_once_writes(
    tensors, tmp_path, monkeypatch
):
    launch = switched(log_every=4, diagnose_every=1)
    outcome = {"exploded_above": 1e-9, "exploded_for": 5}
    diverging = latent({"outcome": outcome, "training": {"updates": 12, "validate_every": 12}})
    ended = {}
    for name, at_once in (("once", True), ("ahead", False)):
        monkeypatch.setattr(environment, "reads_at_once", lambda device, way=at_once: way)
        ended[name] = train_run(diverging, tensors, tmp_path / name / "run", launch)
        train_run(latent(), tensors, tmp_path / name / "finished", launch)
    once, ahead = (sorted((tmp_path / name).rglob("*.*")) for name in ("once", "ahead"))
    assert [path.name for path in once] == [path.name for path in ahead]
    for one, other in zip(once, ahead, strict=True):
        if one.suffix in (".tsv", ".gz") and one.name != "times.tsv":
            assert one.read_bytes() == other.read_bytes(), one
    outcome, totals = ended["ahead"]["outcome"], ended["ahead"]["totals"]
    assert (outcome["kind"], outcome["update"], totals["updates"]) == ("diverged", 5, 5)
    assert totals["target_tokens"] == ended["once"]["totals"]["target_tokens"]
    require_same_training(tmp_path / "once" / "finished", tmp_path / "ahead" / "finished")


@pytest.fixture
def signal_at(monkeypatch):
    """A function that lets a signal come before an update."""

    def arrange(at):
        one_update = TwoLevel.update

        def signal_first(self, number, batches):
            if number == at:
                os.kill(os.getpid(), signal.SIGTERM)
            return one_update(self, number, batches)

        monkeypatch.setattr(TwoLevel, "update", signal_first)

    return arrange


@pytest.mark.slow
def test_a_signal_to_a_host_that_runs_ahead_saves_the_update_that_was_made(
    tensors, tmp_path, monkeypatch, signal_at
):
    monkeypatch.setattr(environment, "reads_at_once", lambda device: False)
    signal_at(2)
    launch = switched(log_every=100)
    with pytest.raises(Stopped):
        train_run(specification(), tensors, tmp_path / "run", launch)
    assert state(tmp_path / "run")["update"] == 2
    monkeypatch.undo()
    for name in ("run", "whole"):
        train_run(specification(), tensors, tmp_path / name, launch)
    require_same_training(tmp_path / "run", tmp_path / "whole")


def test_gated_runs_are_validated_with_soft_gates(tensors, tmp_path):
    ended = train_run(latent(), tensors, tmp_path)
    run = Run(latent(), tensors)
    load_weights(run.network, tmp_path / "checkpoints" / "last.pt")
    batches = update_batches(latent(), tensors).validation
    soft, hard = (
        validate(run.network.use_gates(gates), batches, 3, Ranks(0, 1)).nll
        for gates in ("soft", "hard")
    )
    assert ended["validation"]["nll"] == soft
    assert abs(soft - hard) > 1e-3


@pytest.mark.parametrize(
    ("ask", "why", "made"), [("signal", "cancelled", 3), ("file", "limit", 3), ("time", "limit", 1)]
)
def test_a_stop_comes_after_the_update_and_keeps_its_state(
    tensors, tmp_path, whole, monkeypatch, signal_at, ask, why, made
):
    """Where a job says of its end, the reason is its limit."""
    stop = tmp_path / "stop"

    def at_update_two(line):
        if "update 2 of" in line and ask == "file":
            stop.write_text("limit", encoding="utf-8")

    monkeypatch.setenv(STOP_FILE, str(stop))
    if ask == "signal":
        signal_at(made)
    if ask == "time":
        monkeypatch.setenv(END_TIME, str(time.time()))
    run = tmp_path / "run"
    with pytest.raises(Stopped) as caught:
        train_run(specification(), tensors, run, report=at_update_two)
    assert caught.value.code == 143
    assert not (run / "training.json").exists()
    (attempt,) = read_json(run / "attempts.json")["attempts"]
    assert (attempt["ended_as"], attempt["to_update"]) == (why, made)
    assert state(run)["update"] == made
    saved = read_state(run)
    assert (saved.state, saved.reason, saved.update) == ("saved", why, made)
    monkeypatch.undo()
    ended = train_run(specification(), tensors, run)
    require_same_training(whole, run)
    assert read_state(run).state == ended["outcome"]["kind"]


def test_a_stop_at_the_last_update_costs_no_second_wait_in_a_queue(tensors, tmp_path, signal_at):
    signal_at(6)
    ended = train_run(specification(), tensors, tmp_path)
    assert ended["totals"]["updates"] == 6
    assert read_state(tmp_path).state == ended["outcome"]["kind"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "out_of_memory"),
        (OSError(errno.ENOSPC, "full"), "failed"),
    ],
)
def test_an_error_that_ends_a_training_is_recorded_by_its_kind(
    tensors, tmp_path, monkeypatch, error, kind
):
    """torchrun passes on no exit code."""

    def raises(*_):
        raise error

    monkeypatch.setattr(TwoLevel, "update", raises)
    with pytest.raises(type(error)):
        train_run(specification(), tensors, tmp_path)
    assert read_json(tmp_path / "attempts.json")["attempts"][0]["ended_as"] == kind
    assert (read_state(tmp_path).state, read_state(tmp_path).update) == (kind, 0)


def test_a_stop_saves_before_anything_is_printed(tensors, tmp_path, signal_at):
    """A line to a closed pipe ended the training before its state was saved."""
    printed = []

    def gone(line):
        if "update 3 of" in line:
            printed.append(state(tmp_path)["update"])
            raise BrokenPipeError

    signal_at(3)
    spec = specification(changes={"training": {"validate_every": 5}})
    with pytest.raises(BrokenPipeError):
        train_run(spec, tensors, tmp_path, switched(log_every=1), gone)
    assert printed == [3]


@pytest.mark.slow
def test_a_full_disk_at_a_checkpoint_leaves_the_newest_state_whole(
    tensors, tmp_path, whole, record_property
):
    """It ended in torch's own error, as a bug."""
    with small_disk(tmp_path / "disk") as disk:
        record_property("what makes the disk small", disk.means)
        run = disk.folder / "run"
        train_and_be_killed(specification(), tensors, run, 3)
        disk.fill(leave=20_000)
        with pytest.raises(OSError, match="checkpoints") as caught:
            train_run(specification(), tensors, run)
        disk.free()
        assert caught.value.errno in (errno.ENOSPC, errno.EFBIG)
        assert state(run)["update"] == 3
        assert not list(run.rglob("*.part"))
        train_run(specification(), tensors, run)
        require_same_training(whole, run)


def test_a_folder_that_is_deleted_while_the_run_trains_is_named(tensors, tmp_path):
    def delete(line):
        if "update 2 of" in line:
            shutil.rmtree(tmp_path / "run")

    with pytest.raises(FileNotFoundError) as caught:
        train_run(specification(), tensors, tmp_path / "run", report=delete)
    assert caught.value.filename == str(tmp_path / "run" / "metrics.tsv")


@pytest.mark.slow
def test_a_state_is_saved_after_some_minutes_and_changes_no_number(tensors, tmp_path):
    spec = specification(changes={"training": {"validate_every": 6}})
    for minutes in (0, 1e-9):
        folder, launch = tmp_path / str(minutes), switched(save_minutes=minutes)
        train_and_be_killed(spec, tensors, folder, 5, launch)
        assert (folder / "checkpoints" / "last.pt").exists() == bool(minutes)
        ended = train_run(spec, tensors, folder)
        assert ended["attempts"][-1]["from_update"] == (5 if minutes else 0)
    # The run without a state has begun again, so it is one that was not killed.
    require_same_training(tmp_path / "0", tmp_path / "1e-09")


@pytest.fixture(scope="module")
def broken(tensors, tmp_path_factory):
    """A run with diagnostics that was killed, and one that was not."""
    folder, launch = tmp_path_factory.mktemp("broken"), switched(diagnose_every=1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fathom.train.diagnostics.MEMBER", 2)
        train_run(specification(), tensors, folder / "whole", launch)
        train_and_be_killed(specification(), tensors, folder / "killed", 4, launch)
    return folder


RATIO = "diagnostics/encoder_gradient_ratio.tsv.gz"


@pytest.mark.parametrize(
    "damages",
    [
        {"metrics.tsv": b"9\tx\n"},
        {"metrics.tsv": b"\0" * 99 + b"\n", "times.tsv": b"\0\n"},
        {"metrics.tsv": b"\xff\xfe", RATIO: b"\x1f\x8b"},
    ],
)
def test_a_damaged_series_is_said_and_the_run_ends_as_if_it_had_not_been(
    tensors, tmp_path, broken, monkeypatch, damages
):
    monkeypatch.setattr("fathom.train.diagnostics.MEMBER", 2)
    run = shutil.copytree(broken / "killed", tmp_path / "run")
    for name, damage in damages.items():
        with open(run / name, "ab") as stream:
            stream.write(damage)
    lines = []
    train_run(specification(), tensors, run, switched(diagnose_every=1), lines.append)
    for name in damages:
        says("damaged rows are dropped", where=name.split("/")[-1]).check(lines)
    for name in ("metrics.tsv", RATIO):
        assert (run / name).read_bytes() == (broken / "whole" / name).read_bytes()
    assert [row["update"] for row in read(run / "times.tsv")] == [2, 3, 4, 6]


def test_a_training_that_an_earlier_version_began_resumes_and_keeps_its_times(
    tensors, tmp_path, broken, monkeypatch
):
    """Its times.tsv has a share of the device's peak, and its state.json a remark on the speed."""
    monkeypatch.setattr("fathom.train.diagnostics.MEMBER", 2)
    run = shutil.copytree(broken / "killed", tmp_path / "run")
    heading, *rows = (run / "times.tsv").read_text().splitlines()
    old = [f"{heading}\tshare_of_peak", *(f"{row}\t0.25" for row in rows)]
    write_lines(run / "times.tsv", old)
    remark = "at 11% of the planned speed (cores: 1, GPUs: 4)"
    content = read_json(run / "state.json")
    write_json(run / "state.json", content | {"remark": remark})
    assert read_state(run).update == content["update"] > 0
    lines = []
    ended = train_run(specification(), tensors, run, switched(diagnose_every=1), lines.append)
    assert "damaged" not in "\n".join(lines)
    assert len(ended["attempts"]) == 2
    require_same_training(broken / "whole", run)
    assert (run / "times.tsv").read_text().startswith("\n".join([heading, *rows[:2]]))
    assert [row["update"] for row in read(run / "times.tsv")] == [2, 3, 4, 6]


@pytest.mark.slow
def test_the_size_of_micro_batches_is_no_part_of_the_result(tensors, tmp_path):
    # Without dropout, whose draws follow the shape of a batch.
    spec = specification(changes={"model": {"dropout": 0.0}})
    for name, tokens in (("one", 10_000), ("many", 60)):
        options = switched(tokens_per_device=tokens)
        train_run(spec, tensors, tmp_path / name, options)
    one, many = (read(tmp_path / name / "metrics.tsv") for name in ("one", "many"))
    for first, second in zip(one, many, strict=True):
        assert first["tokens"] == second["tokens"]
        # Rounding, amplified by six updates.
        assert first["nll"] == pytest.approx(second["nll"], abs=1e-3)


def test_the_speed_is_target_tokens_per_second_of_the_updates_since_the_last_row(tensors, tmp_path):
    train_run(latent(), tensors, tmp_path / "run", switched(log_every=2))
    tokens = [row["tokens"] for row in read(tmp_path / "run" / "metrics.tsv")]
    times = read(tmp_path / "run" / "times.tsv")
    assert len(times) > 2
    for before, after, had, has in zip(times, times[1:], tokens, tokens[1:], strict=False):
        # These seconds have validations, too.
        seconds = after["seconds"] - before["seconds"]
        assert after["tokens_per_second"] >= 0.99 * (has - had) / seconds
    assert " target tokens/s\n" in (tmp_path / "run" / "train.log").read_text()
