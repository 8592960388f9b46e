import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml
from tests.training.small_runs import LAUNCH, latent, specification

from fathom.batches.sampler import Sampler
from fathom.catalog.spec import Outcome
from fathom.records.files import read_json
from fathom.records.metrics import read
from fathom.training.train import Stopped, train

ROOT = Path(__file__).parents[2]


def in_a_process(name, updates, tensors, folder, kill_at=0):
    command = [sys.executable, str(ROOT / "tests/training/train_in_a_process.py"), name]
    paths = os.pathsep.join([str(ROOT / "lib"), str(ROOT)])
    return subprocess.run(
        [*command, str(updates), str(tensors), str(folder), str(kill_at)],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


def state(folder):
    return torch.load(folder / "checkpoints" / "last.pt", weights_only=True)


def differences(first, second, path="state"):
    """Yield the places at which two states differ, to the bit; the clock does not count."""
    if isinstance(first, dict):
        assert first.keys() == second.keys(), path
        for key in first:
            if key != "seconds":
                yield from differences(first[key], second[key], f"{path}.{key}")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), path
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from differences(one, other, f"{path}.{place}")
    elif isinstance(first, torch.Tensor):
        if not torch.equal(first, second):
            yield path
    elif first != second:
        yield path


def rows_without_clock(folder):
    return [
        {key: value for key, value in row.items() if key != "seconds"}
        for row in read(folder / "metrics.tsv")
    ]


def test_a_run_killed_twice_ends_bit_identical_also_in_every_tasks_second_pass(tensors, tmp_path):
    # 60 tokens a task: update 90 lies in the second pass of the largest task (asserted below).
    updates, kills = 96, (50, 91)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    train(latent(updates=updates), 1, tensors, whole, LAUNCH, lambda line: None)
    for kill_at in kills:
        assert in_a_process("latent", updates, tensors, killed, kill_at).returncode == -signal.SIGKILL
    ended = in_a_process("latent", updates, tensors, killed)
    assert ended.returncode == 0, ended.stderr
    assert f"goes on after update {kills[1] - kills[1] % 3}" in ended.stdout
    assert list(differences(state(whole), state(killed))) == []
    assert rows_without_clock(whole) == rows_without_clock(killed)
    assert len(read_json(killed / "training.json")["attempts"]) == 3
    from fathom.batches.tensors import load

    pairs = load(tensors).splits("train")
    sampler = Sampler(
        [each.target_lengths for each in pairs],
        [each.source_lengths for each in pairs],
        latent().training.batches,
        1,
    )
    assert sampler.passes(kills[1]) > 1


def test_a_run_ends_with_what_it_is_and_how_it_ended(tensors, tmp_path):
    spec = latent(updates=30)
    train(spec, 1, tensors, tmp_path, LAUNCH, lambda line: None)
    ended = read_json(tmp_path / "training.json")
    assert ended["outcome"]["kind"] in ("finished", "failed_to_train")
    assert ended["outcome"]["update"] == 30
    assert set(ended["validation"]["by_task"]) == {"bos", "bel", "kor"}
    assert set(ended["depth"]) == {"encoder", "decoder"}
    assert ended["parameters"]["total"] > 0
    written = yaml.safe_load((tmp_path / "spec.yaml").read_text())
    assert written["method"]["settings"]["kl_weight"] == spec.method.settings["kl_weight"]
    rows = read(tmp_path / "metrics.tsv")
    assert rows[-1]["valid_nll"] == pytest.approx(ended["validation"]["nll"], rel=1e-5)
    assert {"encoder_kl", "decoder_kl", "decoder_depth"} <= set(rows[0])


def test_an_ended_run_is_not_trained_again(tensors, tmp_path):
    train(specification(updates=3), 1, tensors, tmp_path, LAUNCH, lambda line: None)
    before = (tmp_path / "training.json").read_bytes()
    said = []
    train(specification(updates=3), 1, tensors, tmp_path, LAUNCH, said.append)
    assert (tmp_path / "training.json").read_bytes() == before
    assert "has ended before" in said[0]


def test_a_learning_rate_without_measure_ends_as_diverged_with_its_update(tensors, tmp_path):
    spec = specification(updates=40, outcome=Outcome(8.0, 2, 0.0))
    wild = replace(spec, training=replace(spec.training, learning_rate=1.0e4, clip=0.0, warmup=0))
    train(wild, 1, tensors, tmp_path, LAUNCH, lambda line: None)
    outcome = read_json(tmp_path / "training.json")["outcome"]
    assert outcome["kind"] == "diverged"
    assert 1 <= outcome["update"] < 40
    assert outcome["reason"]


def test_a_run_that_learns_nothing_ends_as_failed_to_train(tensors, tmp_path):
    spec = specification(updates=3)
    lame = replace(spec, training=replace(spec.training, learning_rate=1.0e-9))
    train(lame, 1, tensors, tmp_path, LAUNCH, lambda line: None)
    assert read_json(tmp_path / "training.json")["outcome"]["kind"] == "failed_to_train"


def test_a_signal_stops_after_the_update_and_keeps_its_state(tensors, tmp_path):
    def stop_at_update_two(line):
        if "update 2 of" in line:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Stopped) as caught:
        train(specification(), 1, tensors, tmp_path, LAUNCH, stop_at_update_two)
    assert caught.value.number == signal.SIGTERM
    assert not (tmp_path / "training.json").exists()
    assert state(tmp_path)["update"] in (2, 3)
    train(specification(), 1, tensors, tmp_path, LAUNCH, lambda line: None)
    assert read_json(tmp_path / "training.json")["totals"]["updates"] == 6


def test_the_size_of_micro_batches_is_no_part_of_the_result(tensors, tmp_path):
    # Without dropout, whose draws follow the shape of a batch.
    spec = specification(updates=6)
    spec = replace(spec, model=replace(spec.model, dropout=0.0))
    for name, tokens in (("one", 10_000), ("many", 60)):
        launch = replace(LAUNCH, tokens_per_device=tokens)
        train(spec, 1, tensors, tmp_path / name, launch, lambda line: None)
    one, many = (rows_without_clock(tmp_path / name) for name in ("one", "many"))
    for first, second in zip(one, many, strict=True):
        assert first["tokens"] == second["tokens"]
        # Rounding, amplified by six updates.
        assert first["nll"] == pytest.approx(second["nll"], abs=1e-3)
