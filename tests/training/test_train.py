from dataclasses import replace

import pytest
import torch
import yaml

from fathom.batches.tensors import load
from fathom.errors import FathomError
from fathom.io.files import read_json
from fathom.io.locks import only_writer
from fathom.io.metrics import read
from fathom.runs.spec import Outcome, Schedule
from fathom.training.loop import Places
from fathom.training.masked_feed import MaskedFeed
from fathom.training.ranks import Ranks
from fathom.training.train import train
from tests.training.small_runs import LAUNCH, latent, masked, specification


def silent(line):
    """Say nothing."""


def feed_of(spec, tensors):
    """Return what a masked language model's run is fed with."""
    settings = spec.training
    return MaskedFeed(
        load(tensors),
        settings.batches,
        settings.masking,
        spec.model.learned_positions,
        1,
        Ranks(0, 1),
        torch.device("cpu"),
        LAUNCH.tokens_per_device,
    )


def rate(learning_rate, warmup):
    """Return a schedule of the default shape."""
    return Schedule("inverse_sqrt", {"learning_rate": learning_rate, "warmup": warmup})


def test_a_run_ends_with_what_it_is_and_how_it_ended(tensors, tmp_path):
    spec = latent(updates=30)
    train(spec, 1, Places(tensors, tmp_path), LAUNCH, silent)
    ended = read_json(tmp_path / "training.json")
    assert ended["outcome"]["kind"] in ("finished", "failed_to_train")
    assert ended["outcome"]["update"] == 30
    assert set(ended["validation"]["by_task"]) == {"bos", "bel", "kor"}
    assert set(ended["depth"]) == {"encoder", "decoder"}
    assert ended["parameters"]["total"] > 0
    assert "fathom.methods.latent_layers" in ended["code"]["modules"]
    written = yaml.safe_load((tmp_path / "spec.yaml").read_text(encoding="utf-8"))
    assert written["method"]["settings"] == spec.method.settings
    rows = read(tmp_path / "metrics.tsv")
    assert rows[-1]["valid_nll"] == pytest.approx(ended["validation"]["nll"], rel=1e-5)
    assert {"encoder_kl", "decoder_kl", "decoder_depth"} <= set(rows[0])


def test_a_masked_language_model_is_fed_with_hidden_pieces_and_learns_them(tensors, tmp_path):
    spec = masked(updates=60)
    train(spec, 1, Places(tensors, tmp_path), LAUNCH, silent)
    ended = read_json(tmp_path / "training.json")
    fed = feed_of(spec, tensors)
    # What was predicted is what the feed hides: a seventh of what is read, and no target sentence.
    hidden = sum(fed.parts(update).tokens for update in range(1, 61))
    assert ended["totals"] | {"seconds": 0} == {
        "updates": 60,
        "target_tokens": hidden,
        "seconds": 0,
    }
    assert set(ended["validation"]["by_task"]) == {"bos", "bel", "kor"}
    assert ended["outcome"]["kind"] == "finished"
    assert ended["parameters"]["decoder"] == 0
    assert "fathom.models.masked_lm" in ended["code"]["modules"]
    rows = read(tmp_path / "metrics.tsv")
    assert rows[-1]["valid_nll"] == pytest.approx(ended["validation"]["nll"], rel=1e-5)
    assert rows[-1]["nll"] < rows[0]["nll"] - 0.5


def test_a_masked_language_model_is_judged_by_the_frequencies_of_hidden_pieces(tensors, tmp_path):
    whole, judged = tmp_path / "whole", tmp_path / "judged"
    train(masked(updates=9), 1, Places(tensors, whole), LAUNCH, silent)
    ended = read_json(whole / "training.json")
    own, pairs = feed_of(masked(), tensors).unigram_nll, load(tensors).unigram_nll
    assert ended["unigram_nll"] == own
    assert abs(own - pairs) > 0.1
    # A margin by which one of the two yardsticks is met and the other is not.
    margin = (own + pairs) / 2 - ended["validation"]["nll"]
    train(masked(updates=9, outcome=Outcome(20.0, 3, margin)), 1, Places(tensors, judged), LAUNCH,
          silent)  # fmt: skip
    expected = "finished" if own > pairs else "failed_to_train"
    outcome = read_json(judged / "training.json")["outcome"]
    assert outcome["kind"] == expected
    assert f"{own:.3f}" in outcome["reason"]


def test_an_ended_run_is_not_trained_again(tensors, tmp_path):
    train(specification(updates=3), 1, Places(tensors, tmp_path), LAUNCH, silent)
    before = (tmp_path / "training.json").read_bytes()
    said = []
    train(specification(updates=3), 1, Places(tensors, tmp_path), LAUNCH, said.append)
    assert (tmp_path / "training.json").read_bytes() == before
    assert "has ended before" in said[0]


def test_a_learning_rate_without_measure_ends_as_diverged_with_its_update(tensors, tmp_path):
    spec = specification(updates=40, outcome=Outcome(8.0, 2, 0.0))
    wild = replace(spec, training=replace(spec.training, schedule=rate(1.0e4, 0), clip=0.0))
    train(wild, 1, Places(tensors, tmp_path), LAUNCH, silent)
    outcome = read_json(tmp_path / "training.json")["outcome"]
    assert outcome["kind"] == "diverged"
    assert 1 <= outcome["update"] < 40
    assert outcome["reason"]


def test_a_run_that_learns_nothing_ends_as_failed_to_train(tensors, tmp_path):
    spec = specification(updates=3)
    lame = replace(spec, training=replace(spec.training, schedule=rate(1.0e-9, 4)))
    train(lame, 1, Places(tensors, tmp_path), LAUNCH, silent)
    assert read_json(tmp_path / "training.json")["outcome"]["kind"] == "failed_to_train"


def test_a_second_trainer_of_a_run_is_refused_and_writes_nothing(tensors, tmp_path):
    said = []
    with only_writer(tmp_path / "lock"), pytest.raises(FathomError, match="is at work here"):
        train(specification(), 1, Places(tensors, tmp_path), LAUNCH, said.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock"]
    assert said == []


def test_the_log_keeps_the_lines_of_every_attempt(tensors, tmp_path):
    for updates in (3, 6):
        (tmp_path / "training.json").unlink(missing_ok=True)
        train(specification(updates=updates), 1, Places(tensors, tmp_path), LAUNCH, silent)
    lines = (tmp_path / "train.log").read_text(encoding="utf-8").split("\n")
    assert sum("at update" in line for line in lines) == 2
    assert any("goes on after update 3" in line for line in lines)
