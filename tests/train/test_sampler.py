"""Which tasks and sentences an update holds, and how processes and micro-batches share them."""

import threading
from collections import Counter

import numpy as np
import pytest
import torch
from torch.autograd.graph import saved_tensors_hooks

from fathom.config.schema.run import BatchSettings, Masking, Temperature
from fathom.data.tensors import PAD, load
from fathom.train.batches.masking import mask
from fathom.train.batches.sampler import (
    Sampler,
    Stream,
    permutation,
    task_tokens,
    tasks_of_updates,
    temperature_shares,
)
from fathom.train.environment import bytes_per_token, tokens_that_fit
from fathom.train.ranks import Ranks
from fathom.train.update_batches import Prefetcher, pieces
from tests.support.refused import refused
from tests.support.small_runs import Run, latent, masked, specification, update_batches

# Eight tasks with a factor 16 between the largest and the smallest, lengths as in messages.
LINES = (900, 1500, 3300, 1200, 244, 2000, 400, 4000)
TOKENS, POOL, SEED = 128, 16, 3


def made_lengths():
    """Return target and source lengths: mostly short, some long, both sides similar."""
    dice = np.random.default_rng(0)
    target = [np.clip(dice.lognormal(1.7, 0.7, n).astype(int), 1, 80) + 1 for n in LINES]
    source = [np.maximum(2, (t * dice.lognormal(0.1, 0.3, len(t))).astype(int)) for t in target]
    return target, source


TARGET, SOURCE = made_lengths()


def batch(tokens=TOKENS, per="task", pool=POOL):
    return BatchSettings(tokens=tokens, per=per, pool=pool)


def sampler(seed=SEED, shares="equal", per_update="all", **differences):
    return Sampler(TARGET, SOURCE, batch(**differences), shares, seed, per_update)


def tokens_by_task(members):
    """Return the target tokens of each task in an update."""
    tokens = [0] * len(TARGET)
    for task, sentence in members:
        tokens[task] += int(TARGET[task][sentence])
    return tokens


POOLS = pytest.mark.parametrize("pool", [POOL, 1])
DRAWS = pytest.mark.parametrize("per_update", ["all", 1, 5])


@POOLS
@DRAWS
@pytest.mark.parametrize("n", [1, 16, 17, 137, 5000])
def test_an_update_is_the_same_however_it_is_reached(pool, per_update, n):
    fresh = sampler(pool=pool, per_update=per_update).update(n)
    used = sampler(pool=pool, per_update=per_update)
    for other in (n + 40, max(1, n - 30), n + 1):
        used.update(other)
    assert used.update(n) == used.update(n) == fresh


def test_other_seeds_and_updates_hold_other_sentences_and_tasks():
    first = sampler().update(1)
    assert first != sampler(seed=SEED + 1).update(1)
    assert first != sampler().update(2)
    one, other = drawn(), drawn(seed=SEED + 1)
    assert [one.at(n) for n in range(1, 50)] != [other.at(n) for n in range(1, 50)]


@POOLS
def test_every_sentence_comes_once_a_pass(pool):
    one = sampler(pool=pool)
    drawn = [[] for _ in LINES]
    # All blocks of a pool are complete, and every task has ended two passes.
    updates = POOL * int(np.ceil(2.1 * max(t.sum() for t in TARGET) / TOKENS / POOL))
    for n in range(1, updates + 1):
        for task, sentence in one.update(n):
            drawn[task].append(sentence)
    for task, lengths in enumerate(TARGET):
        times = np.bincount(drawn[task], minlength=len(lengths))
        # Only the pass that is under way tells sentences apart.
        assert times.max() - times.min() <= 1
        assert times.min() >= 2


@POOLS
def test_each_task_has_its_share_in_every_update(pool):
    one = sampler(pool=pool)
    for n in range(1, 200):
        for tokens, lengths in zip(tokens_by_task(one.update(n)), TARGET, strict=True):
            # As the module says: chunks end between sentences, and so do blocks.
            assert abs(tokens - TOKENS) <= lengths.max() * (1 + 1 / pool) + 0.5


@POOLS
def test_shares_are_exact_over_many_updates(pool):
    one = sampler(pool=pool)
    updates = 20 * POOL
    total = np.sum([tokens_by_task(one.update(n)) for n in range(1, updates + 1)], axis=0)
    for tokens, lengths in zip(total, TARGET, strict=True):
        assert abs(tokens - updates * TOKENS) <= lengths.max()


@POOLS
@DRAWS
def test_epochs_become_the_updates_that_read_the_largest_task_as_often(pool, per_update):
    one = sampler(pool=pool, per_update=per_update)
    assert one.updates_until(70) == 70
    updates = one.updates_until("3 epochs")
    assert one.updates_until("1 epoch") == one.updates_until("1 epochs")
    assert one.passes(updates) >= 3 > one.passes(updates - 1)


def test_epochs_follow_the_shares():
    lengths = [np.full(100, 9), np.full(300, 10)]
    of_all = Sampler(lengths, lengths, batch(), "proportional", SEED)
    # The largest task has three quarters of the tokens of the update: 2 · 128 · ¾.
    assert of_all.updates_until("64 epochs") == 64 * 3000 / 192
    one = Sampler(lengths, lengths, batch(), "proportional", SEED, 1)
    # It has all 128 tokens of three updates in four.
    assert one.updates_until("64 epochs") == pytest.approx(64 * 3000 / 128 * 4 / 3, rel=0.05)


def test_an_update_of_one_task_is_cut_from_that_tasks_text():
    one = sampler(tokens=1024, per="update", shares="proportional", per_update=1)
    held = Counter()
    for n in range(1, 200):
        members = one.update(n)
        [task] = {task for task, _ in members}
        held[task] += 1
        tokens = tokens_by_task(members)[task]
        assert abs(tokens - 1024) <= 2 * TARGET[task].max() + 0.5
    assert sorted(held) == list(range(len(LINES)))
    assert held[7] > held[3] > held[4]


def test_the_only_task_gives_the_same_updates_in_both_ways():
    lengths = [TARGET[0]], [SOURCE[0]]
    every, one = (
        Sampler(*lengths, batch(), "equal", 2**40, per_update) for per_update in ("all", 1)
    )
    assert [every.update(n) for n in range(1, 40)] == [one.update(n) for n in range(1, 40)]


@pytest.mark.parametrize("parts", [2, 3, 8, 32])
def test_parts_hold_the_whole_update_and_nothing_else(parts):
    one = sampler()
    for n in (1, 20, 137):
        whole = one.update(n)
        split = one.split(whole, parts)
        assert len(split) == parts
        assert all(split)
        assert sorted(member for part in split for member in part) == sorted(whole)


@pytest.mark.parametrize(
    ("lengths", "parts", "sizes"),
    [([9, 9], 4, [1, 1, 0, 0]), ([1000, 2, 2, 2, 2], 5, [1, 1, 1, 1, 1])],
    ids=["few sentences", "a very long sentence"],
)
def test_only_parts_beyond_the_number_of_sentences_are_empty(lengths, parts, sizes):
    tokens, lengths = sum(lengths), [np.array(lengths)]
    one = Sampler(lengths, lengths, batch(tokens=tokens, pool=1), "equal", SEED)
    assert [len(part) for part in one.split(one.update(1), parts)] == sizes


def padded_share(parts, lengths):
    """Return the real tokens of parts as a share of the padded ones, on one side."""
    of_parts = [[int(lengths[task][sentence]) for task, sentence in part] for part in parts]
    return sum(map(sum, of_parts)) / sum(len(part) * max(part) for part in of_parts)


def test_a_pool_fills_both_sides_and_micro_batches_fill_them_more():
    one, plain = sampler(), sampler(pool=1)
    for lengths in (SOURCE, TARGET):
        mean = {
            (which, parts): np.mean(
                [padded_share(drawn.split(drawn.update(n), parts), lengths) for n in range(1, 65)]
            )
            for which, drawn in (("pool", one), ("independent", plain))
            for parts in (1, 4)
        }
        # Far under what is measured here, so that only a broken order falls below.
        assert mean["pool", 1] > 2 * mean["independent", 1]
        assert mean["pool", 4] > mean["pool", 1]
        assert mean["independent", 4] > mean["independent", 1] + 0.2


def test_text_that_cannot_fill_an_update_is_refused():
    lengths = [np.array([3]), np.array([])]
    with refused("task 1 has no training pairs"):
        Sampler(lengths, lengths, batch(), "equal", SEED)
    few = batch(tokens=10, pool=1)
    one = Sampler([np.array([50, 50])], [np.array([5, 5])], few, "equal", SEED)
    with refused(remedy="the longest sentence has 50 tokens"):
        one.update(2)


LENGTHS = np.random.default_rng(0).integers(1, 30, size=200)


def test_the_order_is_the_same_in_every_version_of_numpy():
    # Frozen: another order here is another order of data in every run.
    assert permutation(8, 1, 0, 2).tolist() == [2, 0, 7, 4, 6, 3, 5, 1]


def test_a_stretch_over_several_passes_repeats_sentences_once_a_pass():
    stream = Stream(LENGTHS, 1)
    found = stream.between(0, 3 * stream.tokens)
    assert np.bincount(found).tolist() == [3] * 200
    passes = found.reshape(3, 200)
    assert not np.array_equal(passes[0], passes[1])


def test_a_stretch_found_alone_equals_the_stretch_found_in_turn():
    replayed = Stream(LENGTHS, 1)
    for begin in range(0, 7 * replayed.tokens, 500):
        latest = replayed.between(begin, begin + 500)
    alone = Stream(LENGTHS, 1).between(begin, begin + 500)
    assert alone.tolist() == latest.tolist()


PAIRS = (100, 300, 40)


def drawn(shares="proportional", seed=SEED, parts=1):
    return tasks_of_updates(PAIRS, batch(pool=1), shares, seed, parts)


def test_shares_are_by_lines_or_equal_and_tokens_for_each_task_or_in_all():
    assert task_tokens([100, 300], batch(pool=1), "proportional") == [64, 192]
    assert task_tokens([100, 300], batch(per="update", pool=1), "equal") == [64, 64]
    assert task_tokens([100, 300], batch(per="update", pool=1), "proportional") == [32, 96]


def test_a_temperature_smooths_the_shares():
    lines = [41_900_000, 1_800_000, 100_000]
    shares = temperature_shares(lines, 0.3)
    assert shares.sum() == pytest.approx(1)
    # A language with 419 times the lines is drawn 419^0.3 = 6.1 times as often.
    assert shares[0] / shares[2] == pytest.approx(419**0.3)
    assert temperature_shares(lines, 1.0) == pytest.approx(np.array(lines) / sum(lines))
    tokens = task_tokens(lines, batch(per="update", pool=1), Temperature(temperature=0.3))
    assert tokens == pytest.approx(TOKENS * shares)


# [lamgd Alg. 1]
@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ("equal", np.ones(3) / 3),
        ("proportional", np.array(PAIRS) / sum(PAIRS)),
        (Temperature(temperature=0.5), np.sqrt(PAIRS) / np.sqrt(PAIRS).sum()),
    ],
)
def test_tasks_are_drawn_with_the_probabilities_of_their_shares(shares, expected):
    updates, one = 20_000, drawn(shares)
    counts = np.array([one.times(task, updates) for task in range(3)])
    assert counts.sum() == updates
    deviation = np.sqrt(updates * expected * (1 - expected))
    assert np.all(np.abs(counts - updates * expected) < 4 * deviation)


def test_the_updates_before_with_the_same_task_are_counted():
    one, counts = drawn(), [0, 0, 0]
    for n in range(1, 300):
        [((task,), before)] = one.at(n)
        assert before == counts[task] == one.times(task, n - 1)
        counts[task] += 1
        assert one.update_of(task, counts[task]) == n


def test_the_tasks_of_one_part_are_drawn_as_ever():
    # Frozen: another draw here is another order of data in every run of one task an update.
    tasks = [task for n in range(1, 21) for (task,), _ in drawn().at(n)]
    assert tasks == [1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 2, 1, 1, 1, 0, 2]


# [lamgd Alg. 1]
def test_parts_are_drawn_by_their_shares_one_after_another():
    """4 updates of 5 parts have the tasks, and the counts before them, of 20 updates of one."""
    one, five = drawn(), drawn(parts=5)
    assert [part for n in range(1, 5) for part in five.at(n)] == [
        part for n in range(1, 21) for part in one.at(n)
    ]
    assert five.tokens == [TOKENS / 5] * 3
    counts = np.array([drawn(parts=16).times(task, 1000) for task in range(3)])
    expected = 16_000 * np.array(PAIRS) / sum(PAIRS)
    # χ² with two degrees of freedom is above 18.4 with probability 1e-4.
    assert ((counts - expected) ** 2 / expected).sum() < 18.4
    assert counts.sum() == 16_000
    assert five.update_of(1, five.times(1, 7) + 1) > 7 >= five.update_of(1, five.times(1, 7))


def test_an_update_of_several_parts_is_the_parts_of_as_many_updates():
    settings = {"per": "update", "shares": "proportional"}
    many = sampler(tokens=2048, per_update=8, **settings)
    one = sampler(tokens=256, per_update=1, **settings)
    for n in (1, 2, 40):
        parts = [one.update(number) for number in range(8 * n - 7, 8 * n + 1)]
        assert many.update(n) == [member for part in parts for member in part]
        assert len({task for task, _ in many.update(n)}) > 2
    assert many.passes(25) == one.passes(200)


def made_of(tensors, ranks=None, shares=None, per_update="all", **settings):
    """Return the batches of a masked language model."""
    changes = {"batch": {"tokens": 2000}, "tasks_per_update": per_update}
    changes["shares"] = shares or {"temperature": 0.3}
    spec = masked(changes={"training": changes})
    return update_batches(spec, tensors, ranks, **({"tokens_per_device": 100_000} | settings))


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
@pytest.mark.parametrize("kind", [pairs_of, made_of])
def test_a_process_has_the_micro_batches_that_it_would_have_among_fewer(tensors, kind, world):
    alone = kind(tensors, micro_batches=32).micro_batches(5)
    assert list(alone.numbers) == [*range(32)]
    by_number = {}
    for rank in range(world):
        own = kind(tensors, Ranks(rank, world), micro_batches=32).micro_batches(5)
        assert (own.tokens, len(own.numbers)) == (alone.tokens, 32 // world)
        by_number |= dict(zip(own.numbers, own.batches, strict=False))
    assert sorted(by_number) == [*range(len(alone.batches))]
    for number, batch in enumerate(alone.batches):
        assert torch.equal(batch.target, by_number[number].target)
        assert torch.equal(batch.source, by_number[number].source)


def test_a_process_hides_pieces_of_its_own_blocks_alone(tensors, monkeypatch):
    """Losses need the number of tokens of all processes, and nothing else of theirs."""
    hidden = []
    monkeypatch.setattr(
        "fathom.train.update_batches.mask",
        lambda *given: hidden.append(given[-2:]) or mask(*given),
    )
    shares = [made_of(tensors, Ranks(rank, 2)).micro_batches(5) for rank in (0, 1)]
    assert sorted(hidden) == sorted(row[:2] for share in shares for row in rows(share))


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
