import pytest
import torch

from fathom.training.ranks import Ranks
from tests.support.small_runs import latent, update_batches


def members(micro_batches):
    return sorted(
        (int(task), int(sentence))
        for batch in micro_batches.batches
        for task, sentence in zip(batch.tasks, batch.sentences, strict=True)
    )


def test_micro_batches_follow_from_the_tokens_that_a_device_holds(tensors):
    whole = update_batches(latent(), tensors).micro_batches(3)
    cut = update_batches(latent(), tensors, tokens_per_device=60).micro_batches(3)
    assert len(whole.batches) == 1
    assert len(cut.batches) == -(-whole.tokens // 60)
    assert members(whole) == members(cut)
    assert (cut.tokens, cut.tasks.tolist()) == (whole.tokens, [0, 1, 2])


@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_an_update_without_overlap(tensors, world):
    whole = update_batches(latent(), tensors).micro_batches(5)
    shares = [
        update_batches(latent(), tensors, Ranks(rank, world)).micro_batches(5)
        for rank in range(world)
    ]
    assert sorted(pair for share in shares for pair in members(share)) == members(whole)
    assert {share.tokens for share in shares} == {whole.tokens}
    assert sum(batch.tokens for share in shares for batch in share.batches) == whole.tokens
    cut = update_batches(latent(), tensors, Ranks(0, world), tokens_per_device=60).micro_batches(5)
    assert len(cut.batches) == -(-whole.tokens // (60 * world))


def test_a_batch_depends_on_seed_and_update_alone(tensors):
    first, again = update_batches(latent(), tensors), update_batches(latent(), tensors)
    first.micro_batches(1)
    pairs = zip(first.micro_batches(40).batches, again.micro_batches(40).batches, strict=True)
    for one, other in pairs:
        assert torch.equal(one.source, other.source)
        assert torch.equal(one.target, other.target)
    assert members(update_batches(latent(), tensors, seed=2).micro_batches(40)) != members(
        again.micro_batches(40)
    )


def test_a_run_in_epochs_has_the_updates_of_its_text(tensors):
    epochs = latent({"training": {"updates": "2 epochs"}})
    batches = update_batches(epochs, tensors)
    assert batches.epoch(batches.updates) >= 2 > batches.epoch(batches.updates - 1)
    assert update_batches(latent(), tensors).updates == 6
