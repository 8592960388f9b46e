"""Peers are treated fairly: our loss, gradients and updates, batches, shape and learning rates."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks.peer import hugging_face
from benchmarks.peer.contenders import Job
from benchmarks.peer.hugging_face import HuggingFace, exchanged
from benchmarks.peer.latent_example import LatentExample
from benchmarks.peer.stock import CUTS, Stock, cut_all, languages, transformer
from benchmarks.peer.workload import Workload
from fathom.data.tensors import PAD, load
from fathom.train.batches.collate import collate
from fathom.train.loop import Training, TrainPaths
from tests.support.small_runs import SWITCHES, reporter, specification

# fairseq's layers and loss

# The layers add in another order than fairseq's.
RELATIVE, GRADIENT = 1e-5, 1e-6


@pytest.fixture
def spec():
    """A static run without dropout, whose draws differ."""
    spec = specification()
    return replace(spec, model=spec.model.model_copy(update={"dropout": 0.0}))


@pytest.fixture
def training(spec, tensors, tmp_path):
    """Our training of it."""
    paths = TrainPaths(tensors, tmp_path)
    return Training(spec, 1, load(tensors), paths, SWITCHES, reporter(tmp_path))


@pytest.fixture
def peer(spec, training):
    """fairseq's layers with the weights of our network."""
    return Stock(transformer(spec.model, training.tensors, training.network.state_dict()), spec)


def rows(batch):
    """Return the sentences of a batch as pairs of lists, sorted."""
    sides = (batch.source, batch.target)
    return sorted(
        tuple(tuple(piece for piece in row if piece != PAD) for row in pair)
        for pair in zip(*(side.tolist() for side in sides), strict=True)
    )


@pytest.mark.parametrize("cut", CUTS)
def test_a_cut_has_every_sentence_once_and_no_padding_that_none_needs(cut, training):
    (batch,) = training.batches.micro_batches(1).batches
    parts = CUTS[cut](batch)
    assert sorted(row for part in parts for row in rows(part)) == rows(batch)
    assert sum(part.tokens for part in parts) == batch.tokens
    for part in parts:
        assert all(side.ne(PAD).any(dim=0).all() for side in (part.source, part.target))
        assert torch.equal(part.previous_target.ne(PAD), part.target.ne(PAD))


def test_halves_are_sorted_by_length_and_languages_are_not_mixed(training):
    (batch,) = training.batches.micro_batches(1).batches
    short, long = (
        part.source.ne(PAD).sum(dim=1) + part.target.ne(PAD).sum(dim=1)
        for part in CUTS["halves"](batch)
    )
    assert max(short) <= min(long)
    assert abs(len(short) - len(long)) <= 1
    assert [len(part.tasks.unique()) for part in CUTS["languages"](batch)] == [1, 1, 1]


@pytest.mark.parametrize("cut", CUTS)
def test_it_has_our_loss_and_gradients(cut, training, peer):
    micro_batches = training.batches.micro_batches(1)
    passes = cut_all(micro_batches, CUTS[cut])
    with torch.no_grad():
        loss = float(sum(peer.loss(part) for part in passes))
    # The update without clipping and optimisers, which would move a weight by rounding alone.
    sums, _ = training.two_level._gradients(micro_batches, 1)
    peer.gradients(passes)
    peer.divide(micro_batches.tokens)
    assert float(sums[1]) == pytest.approx(loss, rel=RELATIVE)
    own = {name: value.grad for name, value in training.network.named_parameters()}
    for name, value in peer.network.named_parameters():
        torch.testing.assert_close(value.grad, own[name], atol=GRADIENT, rtol=0, msg=name)


def test_an_update_moves_the_weights_by_fairseqs_adam_and_the_runs_learning_rate(training, peer):
    micro_batches = training.batches.micro_batches(1)
    before = peer.network.state_dict()["encoder.layers.0.fc1.weight"].clone()
    peer.update(1, cut_all(micro_batches, CUTS["halves"]), micro_batches.tokens)
    moved = peer.network.state_dict()["encoder.layers.0.fc1.weight"] - before
    # Adam's first step is the learning rate.
    assert float(moved.abs().max()) == pytest.approx(training.two_level.schedule(1), rel=1e-2)
    assert all(parameter.grad is None for parameter in peer.parameters)


# fairseq's example of latent depth


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_languages_of_an_update_move_their_own_gates_and_no_others(tensors, stack):
    text = load(tensors)
    spec = specification("latent_layers", (stack,))
    peer = LatentExample(spec, text, torch.device("cpu"))
    batch = collate(text.splits("train"), [(0, 0), (0, 1), (2, 0)])
    before = peer.latent.layer_select.layer_logits.detach().clone()
    peer.update(1, languages(batch), batch.tokens)
    moved = (peer.latent.layer_select.layer_logits != before).all(dim=1)
    assert moved.tolist() == [True, False, True]


# MarianMT


@pytest.fixture
def job(tensors, training):
    workload = Workload(Path("results"), torch.device("cpu"))
    # Read already, so that it is not read from the folder of results.
    vars(workload)["tensors"] = load(tensors)
    batches = [training.batches.micro_batches(number) for number in (1, 2)]
    return Job(workload, training.spec, batches)


def test_halves_hold_every_token_and_rates_are_those_of_the_run(job, training):
    given = exchanged(job)
    assert [tokens for _, tokens in given["updates"]] == job.tokens
    for passes, tokens in given["updates"]:
        assert len(passes) == 2
        assert sum(int(target.ne(PAD).sum()) for _, _, target in passes) == tokens
    assert given["rates"] == [training.two_level.schedule(number) for number in (1, 2)]
    assert given["shape"]["source_entries"] == len(training.tensors.source_dictionary)


def test_without_transformers_it_takes_no_part(job, monkeypatch):
    monkeypatch.setattr(hugging_face, "find_spec", lambda name: None)
    with HuggingFace.started(job) as other:
        assert not other.present
