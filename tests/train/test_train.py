"""How a training ends, and what a second trainer of a run does."""

import os
import signal
from contextlib import suppress

import pytest
import torch
import yaml

from fathom.io import locks
from fathom.io.files import read_json
from fathom.io.locks import HOLDER, Holder, only_writer, write_holder
from fathom.io.metrics import read
from fathom.io.signals import Stopped
from fathom.nn.network import ENTRIES_MULTIPLE
from fathom.results import training_record
from fathom.results.run_state import read_state
from fathom.train import loop
from tests.support.processes import FORK
from tests.support.refused import refused, says
from tests.support.small_corpus import silent
from tests.support.small_runs import latent, specification, switched, train_run


def test_a_run_ends_with_what_it_is_and_how_it_ended(tensors, tmp_path):
    spec = latent()
    ended = train_run(spec, tensors, tmp_path)
    assert ended["outcome"]["kind"] in ("finished", "failed_to_train")
    assert ended["outcome"]["update"] == 6
    assert set(ended["validation"]["by_task"]) == {"bos", "bel", "kor"}
    assert ended["parameters"]["total"] > 0
    assert ended["device"]["products"]["precision"] in ("highest", "medium")
    assert set(ended["device"]["products"]["errors"]) <= {"highest", "medium"}
    written = yaml.safe_load((tmp_path / "spec.yaml").read_text(encoding="utf-8"))
    assert written["method"]["target_depth"] == spec.method.settings["target_depth"]
    rows = read(tmp_path / "metrics.tsv")
    assert rows[-1]["valid_nll"] == pytest.approx(ended["validation"]["nll"], rel=1e-5)
    assert 0 < rows[-1]["train_nll"] != rows[-1]["valid_nll"]
    assert all((row["train_nll"] is None) == (row["valid_nll"] is None) for row in rows)
    assert {"encoder_kl", "decoder_kl", "decoder_depth"} <= set(rows[0])


def test_a_learning_rate_without_measure_ends_as_diverged_with_its_update(tensors, tmp_path):
    schedule = {"name": "inverse_sqrt", "learning_rate": 1.0e4, "warmup": 0}
    wild = specification(
        changes={
            "training": {"updates": 40, "schedule": schedule, "clip": 0.0},
            "outcome": {"exploded_above": 8.0, "exploded_for": 2},
        }
    )
    outcome = train_run(wild, tensors, tmp_path)["outcome"]
    assert outcome["kind"] == "diverged"
    assert 1 <= outcome["update"] < 40
    assert outcome["reason"]


def test_a_run_that_learns_nothing_ends_as_failed_to_train(tensors, tmp_path):
    schedule = {"name": "inverse_sqrt", "learning_rate": 1.0e-9, "warmup": 4}
    lame = specification(changes={"training": {"updates": 3, "schedule": schedule}})
    assert train_run(lame, tensors, tmp_path)["outcome"]["kind"] == "failed_to_train"


@pytest.mark.parametrize(
    ("matmul", "changes", "precision"),
    [
        ("tf32", {}, "high"),
        ("exact", {}, "highest"),
        ("tf32", {"precision": "bf16"}, "highest"),
        ("tf32", {"matmul": "exact"}, "highest"),
    ],
)
def test_updates_alone_are_in_tf32_and_training_json_says_so(
    tensors, tmp_path, monkeypatch, matmul, changes, precision
):
    """The choice is CUDA's; on a CPU torch's flag can be read and has no effect."""
    seen = []

    def spy(place, name, what):
        call = getattr(place, name)

        def noted(*args):
            seen.append((what, torch.backends.cuda.matmul.allow_tf32))
            return call(*args)

        monkeypatch.setattr(place, name, noted)

    cuda = torch.device("cuda")
    choose = loop.choose_matmul_precision
    monkeypatch.setattr(loop, "choose_matmul_precision", lambda _, tf32: choose(cuda, tf32))
    spy(loop.TwoLevel, "_gradients", "update")
    spy(loop, "validate", "validation")
    spec = specification(changes={"training": changes})
    ended = train_run(spec, tensors, tmp_path, switched(matmul=matmul))
    assert set(seen) == {("update", precision == "high"), ("validation", False)}
    assert ended["device"]["products"]["precision"] == precision
    assert not torch.backends.cuda.matmul.allow_tf32


def test_logits_that_are_filled_up_as_on_cuda_train_the_same_network(
    tensors, tmp_path, monkeypatch
):
    plain = train_run(latent(), tensors, tmp_path / "plain")
    monkeypatch.setitem(ENTRIES_MULTIPLE, "cpu", 64)
    filled = train_run(latent(), tensors, tmp_path / "filled")
    assert filled["parameters"] == plain["parameters"]
    assert filled["validation"]["nll"] == pytest.approx(plain["validation"]["nll"], rel=1e-5)
    losses = [
        [row["loss"] for row in read(tmp_path / name / "metrics.tsv")]
        for name in ("plain", "filled")
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)


def test_the_state_says_how_a_training_ended_only_after_training_json(
    tensors, tmp_path, monkeypatch
):
    def full(*_):
        assert read_state(tmp_path).state == "training"
        raise OSError("full")

    monkeypatch.setattr(training_record, "write_ended", full)
    with pytest.raises(OSError, match="full"):
        train_run(specification(), tensors, tmp_path)
    assert read_state(tmp_path).state == "failed"
    [attempt] = read_json(tmp_path / "attempts.json")["attempts"]
    assert (attempt["ended_as"], attempt["to_update"]) == ("failed_to_train", 6)


def test_nothing_is_saved_after_another_process_has_taken_the_lock(tensors, tmp_path):
    other = Holder.here()

    def take_over(line):
        if "update 2 of" in line:
            write_holder(tmp_path / HOLDER, other, new=False)

    with refused(f"{other} has taken the lock over"):
        train_run(specification(), tensors, tmp_path, report=take_over)
    assert not (tmp_path / "checkpoints").exists()


class Seen(Exception):
    """A line that a test waits for."""


def locked(line):
    """Raise Seen at the line that says that another process trains the run."""
    if says("locked by").matches(line):
        raise Seen


def test_a_second_trainer_waits_and_writes_nothing_before_it_reads_anything(tmp_path):
    """Another process was seen only after the seconds that building a network takes."""
    run = tmp_path / "run"
    with only_writer(run, silent), pytest.raises(Seen):
        train_run(specification(), tmp_path / "no tensors", run, report=locked)
    assert sorted(path.name for path in run.iterdir()) == ["lock"]


@pytest.mark.slow
@pytest.mark.parametrize("ends", ["finished", "stopped"])
def test_a_second_trainer_ends_from_the_first_ones_result_or_trains_on(
    tensors, tmp_path, monkeypatch, ends
):
    """A job was started twice, and declared failed while the first one trained."""
    monkeypatch.setattr(locks, "POLL", 0.05)
    begun, go_on = FORK.Event(), FORK.Event()

    def first():
        def wait(line):
            if "update 2 of" in line:
                begun.set()
                go_on.wait(60)
                if ends == "stopped":
                    os.kill(os.getpid(), signal.SIGTERM)

        with suppress(Stopped):
            train_run(specification(), tensors, tmp_path, report=wait)

    process = FORK.Process(target=first)
    process.start()
    assert begun.wait(60)
    lines = []

    def then_go_on(line):
        lines.append(line)
        go_on.set()

    attempts = train_run(specification(), tensors, tmp_path, report=then_go_on)["attempts"]
    process.join()
    says(f"locked by process {process.pid} on ").check(lines[:1])
    if ends == "finished":
        assert "already finished" in lines[-1] or "already ended: " in lines[-1]
        assert len(attempts) == 1
    else:
        assert attempts[0]["ended_as"] == "cancelled"
        assert attempts[1]["from_update"] == attempts[0]["to_update"]


def test_damaged_attempts_are_set_aside_and_the_run_resumes(tensors, tmp_path):
    train_run(specification(), tensors, tmp_path)
    (tmp_path / "training.json").unlink()
    (tmp_path / "attempts.json").write_text("{}", encoding="utf-8")
    lines = []
    ended = train_run(specification(), tensors, tmp_path, report=lines.append)
    says("damaged; renamed to", where="attempts.json").check(lines)
    says("resuming after update 6").check(lines)
    assert len(ended["attempts"]) == 1
