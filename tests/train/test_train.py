"""How a training ends, what it writes, and what a second trainer of a run does."""

import math
import os
import shutil
import signal
from contextlib import suppress

import pytest
import torch
import yaml

from fathom.config.schema.run import Outcome
from fathom.io import locks
from fathom.io.files import read_json
from fathom.io.locks import HOLDER, Holder, only_writer, write_holder
from fathom.io.metrics import read
from fathom.io.signals import Stopped
from fathom.nn.network import ENTRIES_MULTIPLE
from fathom.nn.weights import load_weights
from fathom.results import training_record
from fathom.results.run_state import read_state
from fathom.train import environment, loop
from fathom.train.batches.held_out import ordered
from fathom.train.outcomes import PendingMetrics, judge, validate
from fathom.train.ranks import Ranks
from fathom.train.two_level import StepResult
from tests.support.processes import FORK
from tests.support.refused import refused, says
from tests.support.small_corpus import silent
from tests.support.small_runs import (
    Run,
    latent,
    specification,
    switched,
    train_run,
    update_batches,
)
from tests.support.states import require_same_training, state


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


def test_a_stop_at_the_last_update_costs_no_second_wait_in_a_queue(tensors, tmp_path, signal_at):
    signal_at(6)
    ended = train_run(specification(), tensors, tmp_path)
    assert ended["totals"]["updates"] == 6
    assert read_state(tmp_path).state == ended["outcome"]["kind"]


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


def test_a_folder_that_is_deleted_while_the_run_trains_is_named(tensors, tmp_path):
    def delete(line):
        if "update 2 of" in line:
            shutil.rmtree(tmp_path / "run")

    with pytest.raises(FileNotFoundError) as caught:
        train_run(specification(), tensors, tmp_path / "run", report=delete)
    assert caught.value.filename == str(tmp_path / "run" / "metrics.tsv")


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


LIMITS = Outcome(exploded_above=20.0, exploded_for=3, failed_margin=0.0)


@pytest.mark.parametrize(
    ("margin", "nll", "kind"),
    [
        (0.0, 5.99, "finished"),
        (0.0, 6.0, "failed_to_train"),
        (0.0, 7.0, "failed_to_train"),
        (0.0, math.nan, "diverged"),
        (0.5, 5.6, "failed_to_train"),
    ],
)
def test_a_run_no_better_than_the_unigram_by_the_margin_has_failed_to_train(margin, nll, kind):
    limits = LIMITS.model_copy(update={"failed_margin": margin})
    assert judge(300, nll, 6.0, limits).kind == kind


# NLL and gradient norm of each update, and the update that diverges.
SERIES = {
    "finite": ([(4.0, 1.0)] * 8, None),
    "NaN": ([(4.0, 1.0)] * 5 + [(math.nan, 1.0), (4.0, 1.0), (math.inf, 1.0)], 6),
    "infinite": ([(math.inf, 1.0)] * 8, 1),
    "gradient": ([(4.0, 1.0)] * 2 + [(4.0, math.inf)] * 6, 3),
    "three in a row": ([(25.0, 1.0)] * 2 + [(3.0, 1.0)] + [(25.0, 1.0)] * 5, 6),
    "at the end": ([(4.0, 1.0)] * 7 + [(math.nan, math.nan)], 8),
    # With a loss scale an overflow is skipped, and only the scale's minimum ends the run.
    "overflows": ([(math.nan, math.inf, 128.0)] * 5 + [(4.0, 1.0, 1.3e-4)] * 3, None),
    "minimum": ([(4.0, math.nan, 1.3e-4)] * 5 + [(4.0, math.inf, 7e-5)] * 3, 6),
    "scaled and exploding": ([(25.0, 1.0, 128.0)] * 8, 3),
}


def step(number, nll, norm, scale=None):
    nll, norm = torch.tensor(nll, dtype=torch.float64), torch.tensor(norm)
    scale = scale and torch.tensor(scale)
    return StepResult(number, 100, nll, 1e-3, norm, nll, None, {}, scale)


@pytest.mark.parametrize(("updates", "diverged"), SERIES.values(), ids=SERIES)
@pytest.mark.parametrize("every", [1, 2, 4, 8])
def test_a_run_diverges_at_the_same_update_however_rarely_it_is_read(updates, diverged, every):
    """The loss or the gradient is not finite, or the loss is too high for three updates."""
    pending, ended = PendingMetrics(LIMITS), None
    for number, values in enumerate(updates, start=1):
        pending.add(step(number, *values))
        if number % every == 0 and ended is None:
            last, ended = pending.read()
    assert (ended and (ended.kind, ended.update)) == (diverged and ("diverged", diverged))
    assert last.update == (diverged or 8)
    assert pending.tokens == 100 * last.update
    assert pending.nll == pytest.approx(updates[last.update - 1][0], nan_ok=True)


def test_validation_is_a_mean_over_tokens_and_does_not_depend_on_batches(tensors):
    run = Run(latent(), tensors)
    run.network.use_gates("soft")
    valid = run.tensors.splits("valid")
    small, large = (
        validate(run.network, ordered(valid, tokens), 3, Ranks(0, 1)) for tokens in (50, 5000)
    )
    # float32 sums in another order.
    assert small.nll == pytest.approx(large.nll, abs=1e-5)
    assert small.by_task == pytest.approx(large.by_task, abs=1e-5)
    tokens = [int(each.target_lengths.sum()) for each in valid]
    mean = sum(n * nll for n, nll in zip(tokens, small.by_task, strict=True)) / sum(tokens)
    assert small.nll == pytest.approx(mean)
