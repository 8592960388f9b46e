import pytest
import torch

from fathom.training.ranks import Ranks
from tests.training.small_runs import feed, latent


def members(parts):
    return sorted(
        (int(task), int(sentence))
        for batch in parts.mine
        for task, sentence in zip(batch.tasks, batch.sentences, strict=True)
    )


def test_micro_batches_follow_from_the_tokens_that_a_device_holds(tensors):
    whole = feed(latent(), tensors).parts(3)
    cut = feed(latent(), tensors, tokens_per_device=60).parts(3)
    assert len(whole.mine) == 1
    assert len(cut.mine) == -(-whole.tokens // 60)
    assert members(whole) == members(cut)
    assert (cut.tokens, cut.tasks.tolist()) == (whole.tokens, [0, 1, 2])


@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_an_update_without_overlap(tensors, world):
    whole = feed(latent(), tensors).parts(5)
    shares = [feed(latent(), tensors, Ranks(rank, world)).parts(5) for rank in range(world)]
    assert sorted(pair for share in shares for pair in members(share)) == members(whole)
    assert {share.tokens for share in shares} == {whole.tokens}
    assert sum(batch.tokens for share in shares for batch in share.mine) == whole.tokens
    cut = feed(latent(), tensors, Ranks(0, world), tokens_per_device=60).parts(5)
    assert len(cut.mine) == -(-whole.tokens // (60 * world))


def test_a_batch_depends_on_seed_and_update_alone(tensors):
    first, again = feed(latent(), tensors), feed(latent(), tensors)
    first.parts(1)
    for one, other in zip(first.parts(40).mine, again.parts(40).mine, strict=True):
        assert torch.equal(one.source, other.source)
        assert torch.equal(one.target, other.target)
    assert members(feed(latent(), tensors, seed=2).parts(40)) != members(again.parts(40))
