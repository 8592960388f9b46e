"""The batches of each update, as processes and micro-batches share them."""

import threading

import numpy as np
import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from fathom.config.schema.run import Masking
from fathom.data.tensors import PAD, load
from fathom.train.environment import bytes_per_token, tokens_that_fit
from fathom.train.ranks import Ranks
from fathom.train.update_batches import Prefetcher, pieces
from tests.support.refused import refused
from tests.support.small_runs import Run, latent, masked, specification, update_batches


def made_of(tensors, ranks=None, tokens_per_device=100_000, seed=1, shares=None, per_update="all"):
    """Return the batches of a masked language model."""
    changes = {"batch": {"tokens": 2000}, "tasks_per_update": per_update}
    changes["shares"] = shares or {"temperature": 0.3}
    spec = masked(changes={"training": changes})
    return update_batches(spec, tensors, ranks, tokens_per_device, seed)


def pairs_of(tensors, ranks=None, **settings):
    """Return the batches of a translation."""
    return update_batches(latent(), tensors, ranks, **settings)


# How batches are made, and tokens of a device that cut them.
KINDS = pytest.mark.parametrize(("kind", "few"), [(pairs_of, 60), (made_of, 500)])


def rows(micro_batches):
    """Return what an update holds, in an order: task, sentence or block, its input and target."""
    return sorted(
        (int(task), int(number), source[source != PAD].tolist(), target[target != PAD].tolist())
        for batch in micro_batches.batches
        for task, number, source, target in zip(
            batch.tasks, batch.sentences, batch.source, batch.target, strict=True
        )
    )


@KINDS
def test_micro_batches_follow_from_the_tokens_that_a_device_holds(tensors, kind, few):
    whole = kind(tensors).micro_batches(3)
    cut = kind(tensors, tokens_per_device=few).micro_batches(3)
    side = "target" if kind is pairs_of else "source"
    tokens = sum(int((getattr(batch, side) != PAD).sum()) for batch in whole.batches)
    assert len(whole.batches) == 1
    assert len(cut.batches) == -(-tokens // few)
    assert rows(whole) == rows(cut)
    assert cut.tokens == whole.tokens == sum(batch.tokens for batch in cut.batches)
    assert cut.tasks.tolist() == whole.tasks.tolist() == sorted({row[0] for row in rows(whole)})


@KINDS
@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_an_update_without_overlap(tensors, world, kind, few):
    whole = kind(tensors).micro_batches(5)
    shares = [kind(tensors, Ranks(rank, world)).micro_batches(5) for rank in range(world)]
    assert sorted(row for share in shares for row in rows(share)) == rows(whole)
    assert {share.tokens for share in shares} == {whole.tokens}
    assert all(share.batches for share in shares)
    assert sum(batch.tokens for share in shares for batch in share.batches) == whole.tokens
    if kind is pairs_of:
        cut = kind(tensors, Ranks(0, world), tokens_per_device=few).micro_batches(5)
        assert len(cut.batches) == -(-whole.tokens // (few * world))


@KINDS
def test_a_batch_depends_on_seed_and_update_alone(tensors, kind, few):
    first, again = kind(tensors), kind(tensors)
    first.micro_batches(1)
    assert rows(first.micro_batches(40)) == rows(again.micro_batches(40))
    assert rows(kind(tensors, seed=2).micro_batches(40)) != rows(again.micro_batches(40))


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


@pytest.mark.parametrize("shares", ["equal", "proportional"])
@pytest.mark.parametrize("per", ["task", "update"])
@pytest.mark.parametrize("parts", [1, 2])
def test_micro_batches_of_an_update_share_its_drawn_tasks(tensors, shares, per, parts):
    training = {"tasks_per_update": parts, "shares": shares}
    spec = latent({"training": training | {"batch": {"tokens": 150, "per": per}}})
    whole, cut = update_batches(spec, tensors), update_batches(spec, tensors, tokens_per_device=40)
    drawn = set()
    for update in range(1, 30):
        one, many = whole.micro_batches(update), cut.micro_batches(update)
        assert one.tokens == many.tokens == pytest.approx(150, abs=60)
        assert len(many.batches) == min(-(-one.tokens // 40), len(rows(one)))
        assert rows(one) == rows(many)
        assert one.tasks.tolist() == many.tasks.tolist() == sorted({row[0] for row in rows(one)})
        drawn.add(tuple(one.tasks.tolist()))
    assert {len(tasks) for tasks in drawn} == {*range(1, parts + 1)}
    assert {task for tasks in drawn for task in tasks} == {0, 1, 2}


def test_another_update_hides_other_pieces_of_the_same_block(tensors):
    made, by_block = made_of(tensors), {}
    for update in range(1, 30):
        for task, block, source, _ in rows(made.micro_batches(update)):
            by_block.setdefault((task, block), set()).add(tuple(source))
    assert max(len(found) for found in by_block.values()) > 5


def test_languages_have_their_smoothed_shares(tensors):
    for shares, alpha in (("equal", 0.0), ({"temperature": 0.5}, 0.5), ("proportional", 1.0)):
        counts = np.zeros(3)
        made = made_of(tensors, shares=shares)
        for update in range(1, 121):
            for batch in made.micro_batches(update).batches:
                tokens = (batch.source != PAD).sum(dim=1).double()
                counts += np.bincount(batch.tasks, weights=tokens, minlength=3)
        lines = np.array([len(pairs) for pairs in load(tensors).splits("train")])
        assert counts / counts.sum() == pytest.approx(lines**alpha / (lines**alpha).sum(), rel=0.02)
        assert counts.sum() / 120 == pytest.approx(2000, rel=0.01)


def test_every_seed_is_validated_on_the_same_hidden_pieces(tensors):
    first, other = made_of(tensors, seed=1).validation, made_of(tensors, seed=2).validation
    for one, two in zip(first, other, strict=True):
        assert torch.equal(one.source, two.source)
        assert torch.equal(one.target, two.target)


def test_the_unigram_baseline_knows_frequencies_of_pieces_alone(tensors):
    made = made_of(tensors)
    data = load(tensors)
    training = np.concatenate([pieces(text, n) for text in made.texts for n in range(len(text))])
    assert training.min() >= 4
    size = len(data.source_dictionary)
    counts = np.bincount(training, minlength=size) + 1
    cost = -np.log(counts / counts.sum())
    targets = np.concatenate([batch.target[batch.target != PAD] for batch in made.validation])
    assert made.unigram_nll == pytest.approx(cost[targets].mean())
    assert 1 < made.unigram_nll < np.log(size)


def test_an_update_that_predicts_nothing_is_an_error(tensors):
    made = made_of(tensors)
    made.masking = Masking(chosen=0.0)
    with refused("nothing is predicted in update 2"):
        made.micro_batches(2)


def test_an_update_may_hold_one_task_that_is_drawn_by_its_share(tensors):
    made = made_of(tensors, per_update=1)
    counts = np.zeros(3)
    for update in range(1, 60):
        parts = made.micro_batches(update)
        [task] = parts.tasks.tolist()
        assert {row[0] for row in rows(parts)} == {task}
        counts[task] += 1
    assert counts.min() > 5
    cut = made_of(tensors, tokens_per_device=500, per_update=1).micro_batches(7)
    assert rows(cut) == rows(made.micro_batches(7))
    assert len(cut.batches) > 1


def test_the_next_batches_are_made_while_one_is_used():
    made = {number: threading.Event() for number in range(1, 6)}

    def make(number):
        made[number].set()

    with Prefetcher(make, last=5, depth=2) as ahead:
        ahead.take(1)
        assert made[2].wait(10)
        assert made[3].wait(10)
        assert not made[4].is_set()


def test_an_error_is_raised_where_its_batch_is_taken():
    def make(number):
        return 1 / (3 - number)

    with Prefetcher(make, last=5) as ahead:
        assert ahead.take(1) == 0.5
        assert ahead.take(2) == 1.0
        with pytest.raises(ZeroDivisionError):
            ahead.take(3)


def taken_and_interrupted(make):
    with Prefetcher(make, last=100) as ahead:
        ahead.take(1)
        raise KeyboardInterrupt


def test_no_thread_is_left_and_nothing_is_made_after_the_end():
    made, before = [], threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        taken_and_interrupted(made.append)
    assert threading.active_count() == before
    assert set(made) <= {1, 2, 3}


@pytest.mark.parametrize(("encoder", "decoder", "ffn"), [(3, 3, 256), (8, 1, 128), (1, 8, 64)])
def test_the_estimate_of_memory_is_near_what_the_backward_pass_keeps(
    tensors, encoder, decoder, ffn
):
    shape = {"encoder_layers": encoder, "decoder_layers": decoder, "width": 128, "ffn": ffn}
    # With one head a CPU keeps few attention weights; a GPU keeps none.
    changes = {"model": shape | {"heads": 1}, "training": {"batch": {"tokens": 600}}}
    spec = specification(changes=changes)
    run = Run(spec, tensors)
    weights = {weight.untyped_storage().data_ptr() for weight in run.network.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes(), tensor
        return tensor

    update = run.micro_batches(1)
    with saved_tensors_hooks(keep, lambda tensor: tensor):
        run.two_level.update(1, update)
    measured = sum(size for size, _ in kept.values()) / update.tokens
    estimate = bytes_per_token(spec.model, len(run.tensors.target_dictionary))
    assert measured * 0.9 < estimate < measured * 1.4


def test_more_memory_holds_more_tokens_and_a_deeper_network_fewer():
    small, deep = (specification(changes={"model": {"encoder_layers": n}}).model for n in (3, 30))
    fits = [tokens_that_fit(memory, 10**6, small, 50_000) for memory in (2 * 10**9, 10**10)]
    assert 1024 < fits[0] < fits[1]
    assert all(number % 1024 == 0 for number in fits)
    assert tokens_that_fit(10**10, 10**6, deep, 50_000) < fits[1]
    assert tokens_that_fit(10**6, 10**6, small, 50_000) == 1024
