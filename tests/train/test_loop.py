"""A training that is killed, stopped or damaged ends with the bits of one that is not."""

import errno
import os
import random
import shutil
import signal
import time
from dataclasses import replace

import pytest
import torch

from fathom.io.files import read_json
from fathom.io.metrics import read
from fathom.io.signals import Stopped
from fathom.nn.weights import load_weights
from fathom.results.run_state import read_state
from fathom.train import environment
from fathom.train.loop import TrainPaths
from fathom.train.outcomes import validate
from fathom.train.stopping import END_TIME, STOP_FILE
from fathom.train.train import train
from fathom.train.two_level import TwoLevel
from tests.support.processes import train_and_be_killed
from tests.support.refused import says
from tests.support.small_corpus import silent, small_data
from tests.support.small_disk import small_disk
from tests.support.small_runs import (
    OPTIONS,
    Run,
    encoded,
    latent,
    masked,
    specification,
    update_batches,
)
from tests.support.states import differences, state


def metrics(folder):
    return (folder / "metrics.tsv").read_bytes()


@pytest.mark.slow
def test_a_run_killed_three_times_ends_bit_identical_also_in_a_second_pass(tensors, tmp_path):
    """Field fault 1."""
    # 60 tokens a task: update 90 lies in the second pass of the largest task (asserted below).
    spec, kills = latent({"training": {"updates": 96}}), (random.randrange(4, 48), 50, 91)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train(spec, 1, TrainPaths(tensors, whole), OPTIONS, silent)
    for kill_at in kills:
        train_and_be_killed(spec, tensors, killed, kill_at)
    lines = []
    train(spec, 1, TrainPaths(tensors, killed), OPTIONS, lines.append)
    assert lines[0].endswith("resuming after update 90")
    assert list(differences(state(whole), state(killed))) == []
    assert metrics(whole) == metrics(killed)
    attempts = read_json(killed / "training.json")["attempts"]
    assert [each["from_update"] for each in attempts] == [0, kills[0] - kills[0] % 3, 48, 90]
    assert [each["ended_as"] for each in attempts][:-1] == ["killed"] * 3
    assert update_batches(latent(), tensors).epoch(kills[-1]) > 1


@pytest.mark.slow
def test_a_masked_language_model_killed_twice_ends_bit_identical(tensors, tmp_path):
    spec = masked("latent_layers", ("encoder",), {"training": {"updates": 12}}, target_depth=1)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train(spec, 1, TrainPaths(tensors, whole), OPTIONS, silent)
    for kill_at in (5, 10):
        train_and_be_killed(spec, tensors, killed, kill_at)
    train(spec, 1, TrainPaths(tensors, killed), OPTIONS, silent)
    attempts = read_json(killed / "training.json")["attempts"]
    assert [each["from_update"] for each in attempts] == [0, 3, 9]
    assert list(differences(state(whole), state(killed))) == []
    assert metrics(whole) == metrics(killed)
    one, other = (read_json(folder / "training.json") for folder in (whole, killed))
    assert one["validation"] == other["validation"]
    assert one["outcome"] == other["outcome"]


def killed_once(spec, tensors, folder, update):
    """Check that a run that is killed at an update ends as one that is not, to the bit."""
    whole, killed = folder / "whole", folder / "killed"
    train(spec, 1, TrainPaths(tensors, whole), OPTIONS, silent)
    train_and_be_killed(spec, tensors, killed, update)
    train(spec, 1, TrainPaths(tensors, killed), OPTIONS, silent)
    assert list(differences(state(whole), state(killed))) == []
    assert metrics(whole) == metrics(killed)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["source", "decoder"])
def test_one_to_many_training_killed_once_ends_bit_identical(tmp_path, place):
    data = small_data(direction="one_to_many", target_token=place)
    tensors, spec = encoded(tmp_path / "text", data), replace(latent(), data=data)
    killed_once(spec, tensors, tmp_path, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["group_dropout", "adapters"])
def test_a_run_of_one_task_an_update_ends_bit_identical_after_a_kill(tensors, tmp_path, name):
    own = {"groups": 4, "active": 3} if name == "group_dropout" else {"bottleneck": 8}
    training = {"one_task_per_batch": True, "shares": "proportional", "updates": 12}
    spec = specification(name, ("encoder", "decoder"), {"training": training}, **own)
    killed_once(spec, tensors, tmp_path, 8)


def test_exploding_updates_are_counted_on_after_a_kill(tensors, tmp_path):
    exploding = specification(changes={"outcome": {"exploded_above": 1e-9, "exploded_for": 5}})
    train_and_be_killed(exploding, tensors, tmp_path, 4)
    train(exploding, 1, TrainPaths(tensors, tmp_path), OPTIONS, silent)
    outcome = read_json(tmp_path / "training.json")["outcome"]
    assert (outcome["kind"], outcome["update"]) == ("diverged", 5)


def diverging(updates=12):
    changes = {"exploded_above": 1e-9, "exploded_for": 5}
    training = {"updates": updates, "validate_every": 12}
    return latent({"outcome": changes, "training": training})


def test_a_host_that_runs_ahead_of_its_device_writes_what_one_that_reads_at_once_writes(
    tensors, tmp_path, monkeypatch
):
    launch = replace(OPTIONS, log_every=4, diagnose_every=1)
    for name, at_once in (("once", True), ("ahead", False)):
        monkeypatch.setattr(environment, "reads_at_once", lambda device, way=at_once: way)
        train(diverging(), 1, TrainPaths(tensors, tmp_path / name / "run"), launch, silent)
        train(latent(), 1, TrainPaths(tensors, tmp_path / name / "finished"), launch, silent)
    once, ahead = (sorted((tmp_path / name).rglob("*.*")) for name in ("once", "ahead"))
    assert [path.name for path in once] == [path.name for path in ahead]
    for one, other in zip(once, ahead, strict=True):
        if one.suffix in (".tsv", ".gz") and one.name != "times.tsv":
            assert one.read_bytes() == other.read_bytes(), one
    ended = read_json(tmp_path / "ahead" / "run" / "training.json")
    assert (ended["outcome"]["kind"], ended["outcome"]["update"]) == ("diverged", 5)
    assert ended["totals"]["updates"] == 5
    whole = read_json(tmp_path / "once" / "run" / "training.json")
    assert ended["totals"]["target_tokens"] == whole["totals"]["target_tokens"]
    states = (state(tmp_path / name / "finished") for name in ("once", "ahead"))
    assert list(differences(*states)) == []


def test_a_signal_to_a_host_that_runs_ahead_saves_the_update_that_was_made(
    tensors, tmp_path, monkeypatch
):
    monkeypatch.setattr(environment, "reads_at_once", lambda device: False)
    one_update = TwoLevel.update

    def then_signal(self, number, batches):
        if number == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return one_update(self, number, batches)

    monkeypatch.setattr(TwoLevel, "update", then_signal)
    launch = replace(OPTIONS, log_every=100)
    with pytest.raises(Stopped):
        train(specification(), 1, TrainPaths(tensors, tmp_path / "run"), launch, silent)
    assert state(tmp_path / "run")["update"] == 2
    monkeypatch.undo()
    train(specification(), 1, TrainPaths(tensors, tmp_path / "run"), launch, silent)
    train(specification(), 1, TrainPaths(tensors, tmp_path / "whole"), launch, silent)
    states = (state(tmp_path / name) for name in ("run", "whole"))
    assert list(differences(*states)) == []
    assert metrics(tmp_path / "run") == metrics(tmp_path / "whole")


def test_gated_runs_are_validated_with_soft_gates(tensors, tmp_path):
    train(latent(), 1, TrainPaths(tensors, tmp_path), OPTIONS, silent)
    run = Run(latent(), tensors)
    load_weights(run.network, tmp_path / "checkpoints" / "last.pt")
    batches = update_batches(latent(), tensors).validation
    soft, hard = (
        validate(run.network.use_gates(gates), batches, 3).nll for gates in ("soft", "hard")
    )
    assert read_json(tmp_path / "training.json")["validation"]["nll"] == soft
    assert abs(soft - hard) > 1e-3


def test_a_signal_stops_after_the_update_and_keeps_its_state(tensors, tmp_path):
    def stop_at_update_two(line):
        if "update 2 of" in line:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Stopped) as caught:
        train(specification(), 1, TrainPaths(tensors, tmp_path), OPTIONS, stop_at_update_two)
    assert caught.value.number == signal.SIGTERM
    assert not (tmp_path / "training.json").exists()
    assert state(tmp_path)["update"] in (2, 3)
    (attempt,) = read_json(tmp_path / "attempts.json")["attempts"]
    assert (attempt["ended_as"], attempt["to_update"]) == ("cancelled", state(tmp_path)["update"])
    saved = read_state(tmp_path)
    assert (saved.state, saved.update) == ("saved", state(tmp_path)["update"])
    train(specification(), 1, TrainPaths(tensors, tmp_path), OPTIONS, silent)
    assert read_json(tmp_path / "training.json")["totals"]["updates"] == 6


@pytest.mark.parametrize("ask", ["file", "time"])
def test_what_a_job_says_of_its_end_stops_after_the_update_and_keeps_its_state(
    tensors, tmp_path, monkeypatch, ask
):
    """Field faults 2 and 3: the reason is the limit, which no signal says."""
    run, stop = tmp_path / "run", tmp_path / "stop"

    def at_update_two(line):
        if "update 2 of" in line and ask == "file":
            stop.write_text("limit", encoding="utf-8")

    monkeypatch.setenv(STOP_FILE, str(stop))
    if ask == "time":
        monkeypatch.setenv(END_TIME, str(time.time()))
    with pytest.raises(Stopped) as caught:
        train(specification(), 1, TrainPaths(tensors, run), OPTIONS, at_update_two)
    assert caught.value.code == 143
    (attempt,) = read_json(run / "attempts.json")["attempts"]
    made = state(run)["update"]
    assert made == (1 if ask == "time" else 3)
    assert (attempt["ended_as"], attempt["to_update"]) == ("limit", made)
    assert (read_state(run).state, read_state(run).reason) == ("saved", "limit")
    monkeypatch.delenv(STOP_FILE)
    monkeypatch.delenv(END_TIME, raising=False)
    train(specification(), 1, TrainPaths(tensors, run), OPTIONS, silent)
    train(specification(), 1, TrainPaths(tensors, tmp_path / "whole"), OPTIONS, silent)
    assert list(differences(state(run), state(tmp_path / "whole"))) == []
    ended = read_json(run / "training.json")["outcome"]["kind"]
    assert read_state(run).state == ended


def test_a_stop_at_the_last_update_costs_no_second_wait_in_a_queue(tensors, tmp_path):
    def at_the_end(line):
        if "update 5 of" in line or "update 6 of" in line:
            os.kill(os.getpid(), signal.SIGTERM)

    each_update = replace(OPTIONS, log_every=1)
    train(specification(), 1, TrainPaths(tensors, tmp_path), each_update, at_the_end)
    assert read_json(tmp_path / "training.json")["totals"]["updates"] == 6
    assert read_state(tmp_path).state == read_json(tmp_path / "training.json")["outcome"]["kind"]


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
    """Field faults 11 and 16: torchrun passes on no exit code."""

    def raises(*_):
        raise error

    monkeypatch.setattr(TwoLevel, "update", raises)
    with pytest.raises(type(error)):
        train(specification(), 1, TrainPaths(tensors, tmp_path), OPTIONS, silent)
    assert read_json(tmp_path / "attempts.json")["attempts"][0]["ended_as"] == kind
    assert (read_state(tmp_path).state, read_state(tmp_path).update) == (kind, 0)


def test_a_stop_saves_before_anything_is_printed(tensors, tmp_path, monkeypatch):
    """A line to a closed pipe ended the training before its state was saved."""
    printed = []

    def gone(line):
        if "update 3 of" in line:
            printed.append(state(tmp_path)["update"])
            raise BrokenPipeError

    one_update = TwoLevel.update

    def then_signal(self, number, batches):
        if number == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return one_update(self, number, batches)

    every = replace(OPTIONS, log_every=1)
    spec = specification(changes={"training": {"validate_every": 5}})
    monkeypatch.setattr(TwoLevel, "update", then_signal)
    with pytest.raises(BrokenPipeError):
        train(spec, 1, TrainPaths(tensors, tmp_path), every, gone)
    assert printed == [3]


def test_a_full_disk_at_a_checkpoint_leaves_the_newest_state_whole(
    tensors, tmp_path, record_property
):
    """Field fault 11: it ended in torch's own error, as a bug."""
    whole = tmp_path / "whole"
    train(specification(), 1, TrainPaths(tensors, whole), OPTIONS, silent)
    with small_disk(tmp_path / "disk") as disk:
        record_property("what makes the disk small", disk.means)
        folders = TrainPaths(tensors, disk.folder / "run")
        train_and_be_killed(specification(), tensors, folders.run, 3)
        disk.fill(leave=20_000)
        with pytest.raises(OSError, match="checkpoints") as caught:
            train(specification(), 1, folders, OPTIONS, silent)
        disk.free()
        assert caught.value.errno in (errno.ENOSPC, errno.EFBIG)
        assert state(folders.run)["update"] == 3
        assert not list(folders.run.rglob("*.part"))
        train(specification(), 1, folders, OPTIONS, silent)
        assert list(differences(state(whole), state(folders.run))) == []
        assert metrics(whole) == metrics(folders.run)


def test_a_folder_that_is_deleted_while_the_run_trains_is_named(tensors, tmp_path):
    def delete(line):
        if "update 2 of" in line:
            shutil.rmtree(tmp_path / "run")

    with pytest.raises(FileNotFoundError) as caught:
        train(specification(), 1, TrainPaths(tensors, tmp_path / "run"), OPTIONS, delete)
    assert caught.value.filename == str(tmp_path / "run" / "metrics.tsv")


@pytest.mark.parametrize("minutes", [0, 1e-9])
def test_a_state_is_saved_after_some_minutes_and_changes_no_number(tensors, tmp_path, minutes):
    spec = specification(changes={"training": {"validate_every": 6}})
    launch = replace(OPTIONS, save_minutes=minutes)
    train_and_be_killed(spec, tensors, tmp_path, 5, launch)
    assert (tmp_path / "checkpoints" / "last.pt").exists() == bool(minutes)
    train(spec, 1, TrainPaths(tensors, tmp_path), launch, silent)
    whole = tmp_path / "whole"
    train(spec, 1, TrainPaths(tensors, whole), OPTIONS, silent)
    assert list(differences(state(whole), state(tmp_path))) == []
    assert metrics(whole) == metrics(tmp_path)
    attempts = read_json(tmp_path / "training.json")["attempts"]
    assert attempts[-1]["from_update"] == (5 if minutes else 0)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("metrics.tsv", b"9\tx\n"),
        ("metrics.tsv", b"\0" * 99 + b"\n"),
        ("metrics.tsv", b"\xff\xfe"),
        ("times.tsv", b"\0\n"),
        ("diagnostics/encoder_gradient_ratio.tsv.gz", b"\x1f\x8b"),
    ],
)
def test_a_damaged_series_is_said_and_the_run_ends_as_if_it_had_not_been(
    tensors, tmp_path, monkeypatch, name, damage
):
    monkeypatch.setattr("fathom.train.diagnostics.MEMBER", 2)
    launch = replace(OPTIONS, diagnose_every=1)
    whole, damaged = tmp_path / "whole", tmp_path / "damaged"
    train(specification(), 1, TrainPaths(tensors, whole), launch, silent)
    train_and_be_killed(specification(), tensors, damaged, 4, launch)
    with open(damaged / name, "ab") as stream:
        stream.write(damage)
    lines = []
    train(specification(), 1, TrainPaths(tensors, damaged), launch, lines.append)
    says("damaged rows are dropped", where=name.split("/")[-1]).check(lines)
    if name != "times.tsv":
        assert (damaged / name).read_bytes() == (whole / name).read_bytes()
    assert [row["update"] for row in read(damaged / "times.tsv")] == [2, 3, 4, 6]


@pytest.mark.slow
def test_the_size_of_micro_batches_is_no_part_of_the_result(tensors, tmp_path):
    # Without dropout, whose draws follow the shape of a batch.
    spec = specification(changes={"model": {"dropout": 0.0}})
    for name, tokens in (("one", 10_000), ("many", 60)):
        options = replace(OPTIONS, tokens_per_device=tokens)
        train(spec, 1, TrainPaths(tensors, tmp_path / name), options, silent)
    one, many = (read(tmp_path / name / "metrics.tsv") for name in ("one", "many"))
    for first, second in zip(one, many, strict=True):
        assert first["tokens"] == second["tokens"]
        # Rounding, amplified by six updates.
        assert first["nll"] == pytest.approx(second["nll"], abs=1e-3)
