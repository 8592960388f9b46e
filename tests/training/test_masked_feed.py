"""What a masked language model is fed with."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fathom.batches.masking import Masking, mask_symbol
from fathom.batches.tensors import PAD, load
from fathom.errors import FathomError
from fathom.runs import spec
from fathom.training.masked_feed import MaskedFeed, pieces
from fathom.training.ranks import Ranks

MASKING = Masking(chosen=0.15, masked=0.8, random=0.1, language_exponent=0.3)
BLOCK = 128


def feed(
    tensors,
    ranks=None,
    tokens_per_device=100_000,
    seed=1,
    tokens=2000,
    alpha=0.3,
    masking=MASKING,
):
    batches = spec.Batches(tokens, "update", "proportional", "independent", 1)
    return MaskedFeed(
        load(tensors),
        batches,
        replace(masking, language_exponent=alpha),
        BLOCK,
        seed,
        ranks or Ranks(0, 1),
        torch.device("cpu"),
        tokens_per_device,
    )


def rows(parts):
    """Return what an update holds: task, block, and the masked input, in one order."""
    return sorted(
        (int(task), int(block), source[source != PAD].tolist(), target[target != PAD].tolist())
        for batch in parts.mine
        for task, block, source, target in zip(
            batch.tasks, batch.sentences, batch.source, batch.target, strict=True
        )
    )


def test_losses_are_divided_by_what_the_whole_update_predicts(tensors):
    parts = feed(tensors).parts(3)
    assert parts.tokens == sum(int((batch.target != PAD).sum()) for batch in parts.mine)
    assert parts.tokens == sum(batch.tokens for batch in parts.mine)
    read = sum(batch.source_tokens for batch in parts.mine)
    assert parts.tokens == pytest.approx(0.14 * read, rel=0.15)
    assert parts.tasks.tolist() == sorted({row[0] for row in rows(parts)})


def test_micro_batches_hold_the_same_blocks_masked_alike(tensors):
    whole = feed(tensors).parts(3)
    cut = feed(tensors, tokens_per_device=500).parts(3)
    read = sum(batch.source_tokens for batch in whole.mine)
    assert len(whole.mine) == 1
    assert len(cut.mine) == -(-read // 500)
    assert rows(cut) == rows(whole)
    assert cut.tokens == whole.tokens


@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_an_update_without_overlap(tensors, world):
    whole = feed(tensors).parts(5)
    shares = [feed(tensors, Ranks(rank, world)).parts(5) for rank in range(world)]
    assert sorted(row for share in shares for row in rows(share)) == rows(whole)
    assert {share.tokens for share in shares} == {whole.tokens}
    assert all(share.mine for share in shares)


def test_another_update_or_seed_hides_other_pieces_of_the_same_block(tensors):
    first, again = feed(tensors), feed(tensors)
    first.parts(1)
    assert rows(first.parts(40)) == rows(again.parts(40))
    by_block: dict = {}
    for update in range(1, 30):
        for task, block, source, _ in rows(first.parts(update)):
            by_block.setdefault((task, block), set()).add(tuple(source))
    repeated = [len(found) for found in by_block.values()]
    assert max(repeated) > 5
    assert rows(feed(tensors, seed=2).parts(40)) != rows(again.parts(40))


def test_inputs_hide_what_targets_name(tensors):
    data = load(tensors)
    made = feed(tensors)
    (batch,) = made.parts(7).mine
    masked = batch.source == mask_symbol(len(data.source_dictionary))
    assert masked.any()
    assert (batch.target[masked] != PAD).all()
    for task, block, source, target in zip(
        batch.tasks, batch.sentences, batch.source, batch.target, strict=True
    ):
        truth = torch.from_numpy(made.texts[task].block(int(block)))
        length = len(truth)
        assert torch.equal(torch.where(target == PAD, source, target)[:length], truth)


def test_languages_have_their_smoothed_shares(tensors):
    for alpha in (0.0, 1.0):
        counts = np.zeros(3)
        made = feed(tensors, alpha=alpha)
        for update in range(1, 121):
            for batch in made.parts(update).mine:
                tokens = (batch.source != PAD).sum(dim=1).double()
                counts += np.bincount(batch.tasks, weights=tokens, minlength=3)
        lines = np.array([len(pairs) for pairs in load(tensors).splits("train")])
        assert counts / counts.sum() == pytest.approx(lines**alpha / (lines**alpha).sum(), rel=0.02)
        assert counts.sum() / 120 == pytest.approx(2000, rel=0.01)


def test_every_seed_is_validated_on_the_same_hidden_pieces(tensors):
    first, other = feed(tensors, seed=1).validation, feed(tensors, seed=2).validation
    for one, two in zip(first, other, strict=True):
        assert torch.equal(one.source, two.source)
        assert torch.equal(one.target, two.target)


def test_the_yardstick_knows_frequencies_of_pieces_alone(tensors):
    made = feed(tensors)
    data = load(tensors)
    training = np.concatenate([pieces(text, n) for text in made.texts for n in range(len(text))])
    assert training.min() >= 4
    size = len(data.source_dictionary)
    counts = np.bincount(training, minlength=size) + 1
    cost = -np.log(counts / counts.sum())
    targets = np.concatenate([batch.target[batch.target != PAD] for batch in made.validation])
    assert made.unigram_nll == pytest.approx(cost[targets].mean())
    assert 1 < made.unigram_nll < np.log(size)


def test_the_epoch_counts_passes_over_the_largest_task(tensors):
    made = feed(tensors, alpha=1.0)
    read = sum(int(text.lengths.sum()) for text in made.texts)
    assert made.epoch(10) == pytest.approx(10 * 2000 / read, rel=0.1)


def test_an_update_that_predicts_nothing_is_an_error(tensors):
    made = feed(tensors)
    made.masking = replace(MASKING, chosen=0.0)
    with pytest.raises(FathomError, match="update 2 predicts nothing"):
        made.parts(2)
