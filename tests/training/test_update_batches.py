import pytest
import torch

from fathom.train.ranks import Ranks
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


@pytest.mark.parametrize("world", [2, 8, 32])
def test_a_process_has_the_micro_batches_that_it_would_have_among_fewer(tensors, world):
    alone = update_batches(latent(), tensors, micro_batches=32).micro_batches(5)
    assert list(alone.numbers) == [*range(32)]
    by_number = {}
    for rank in range(world):
        share = update_batches(latent(), tensors, Ranks(rank, world), micro_batches=32)
        own = share.micro_batches(5)
        assert (own.tokens, len(own.numbers)) == (alone.tokens, 32 // world)
        by_number |= dict(zip(own.numbers, own.batches, strict=False))
    assert sorted(by_number) == [*range(len(alone.batches))]
    for number, batch in enumerate(alone.batches):
        assert torch.equal(batch.target, by_number[number].target)


def test_a_process_that_shares_nothing_draws_dropout_in_one_stream(tensors):
    """Its numbers are those of before several processes drew the same."""
    assert update_batches(latent(), tensors, tokens_per_device=60).micro_batches(3).numbers == ()


ONE_TASK = {"training": {"one_task_per_batch": True}}


@pytest.mark.parametrize("shares", ["equal", "proportional"])
@pytest.mark.parametrize("per", ["task", "update"])
def test_all_micro_batches_of_an_update_hold_its_one_task(tensors, shares, per):
    batch = {"tokens": 150, "per": per}
    spec = latent({"training": ONE_TASK["training"] | {"shares": shares, "batch": batch}})
    whole, cut = update_batches(spec, tensors), update_batches(spec, tensors, tokens_per_device=40)
    drawn = set()
    for update in range(1, 30):
        one, many = whole.micro_batches(update), cut.micro_batches(update)
        assert one.tokens == many.tokens == pytest.approx(150, abs=60)
        assert len(many.batches) == min(-(-one.tokens // 40), len(members(one)))
        assert members(one) == members(many)
        [task] = one.tasks.tolist()
        assert {task for task, _ in members(one)} == {task}
        drawn.add(task)
    assert drawn == {0, 1, 2}


@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_an_update_of_one_task(tensors, world):
    spec = latent(ONE_TASK)
    for update in (1, 2, 3, 40):
        whole = update_batches(spec, tensors).micro_batches(update)
        shares = [
            update_batches(spec, tensors, Ranks(rank, world)).micro_batches(update)
            for rank in range(world)
        ]
        assert sorted(pair for share in shares for pair in members(share)) == members(whole)
        assert all(share.tasks.tolist() == whole.tasks.tolist() for share in shares)
        assert {share.tokens for share in shares} == {whole.tokens}


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
    for one_task in (False, True):
        changes = {"updates": "2 epochs", "one_task_per_batch": one_task}
        batches = update_batches(latent({"training": changes}), tensors)
        assert batches.epoch(batches.updates) >= 2 > batches.epoch(batches.updates - 1)
    assert update_batches(latent(), tensors).updates == 6
