"""The peer is treated fairly: from equal weights it has our loss and makes our update."""

from dataclasses import replace

import pytest
import torch

from benchmarks.peer.stock import CUTS, Stock, cut_all, transformer
from fathom.batches.tensors import PAD, load
from fathom.training.loop import Training, TrainPaths
from fathom.training.validation import validate
from tests.support.small_runs import OPTIONS, reporter, specification

# The layers add in another order than fairseq's. A step of Adam is up to 1.25e-3; with this eps a
# gradient that is rounding alone moves nothing.
LOSS, WEIGHT, EPS = 1e-5, 1e-5, 1e-3


@pytest.fixture
def spec():
    """A static run without dropout, whose draws differ."""
    spec = specification(changes={"training": {"adam": {"betas": [0.9, 0.98], "eps": EPS}}})
    return replace(spec, model=spec.model.model_copy(update={"dropout": 0.0}))


@pytest.fixture
def training(spec, tensors, tmp_path):
    """Our training of it."""
    paths = TrainPaths(tensors, tmp_path)
    return Training(spec, 1, load(tensors), paths, OPTIONS, reporter(tmp_path))


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
def test_an_update_has_our_loss_and_moves_the_weights_as_ours_does(cut, training, peer):
    micro_batches = training.batches.micro_batches(1)
    passes = cut_all(micro_batches, CUTS[cut])
    with torch.no_grad():
        loss = float(sum(peer.loss(part) for part in passes)) / micro_batches.tokens
    ours = training.two_level.update(1, micro_batches)
    peer.update(1, passes, micro_batches.tokens)
    assert float(ours.smoothed) == pytest.approx(loss, abs=LOSS)
    own = training.network.state_dict()
    for name, value in peer.network.state_dict().items():
        if name in own:
            torch.testing.assert_close(value, own[name], atol=WEIGHT, rtol=0, msg=name)


def test_its_validation_is_ours(training, peer):
    batches = training.batches.validation
    nll = validate(training.network, batches, len(training.tensors.tasks)).nll
    assert peer.validate(batches) == pytest.approx(nll, abs=LOSS)
