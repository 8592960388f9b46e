"""Which tasks and sentences an update holds: a function of the seed and its number."""

from collections import Counter

import numpy as np
import pytest

from fathom.config.schema.run import BatchSettings, Temperature
from fathom.train.batches.sampler import (
    Sampler,
    Stream,
    permutation,
    task_tokens,
    tasks_of_updates,
    temperature_shares,
)
from tests.support.refused import refused

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


def test_other_seeds_and_other_updates_hold_other_sentences():
    first = sampler().update(1)
    assert first != sampler(seed=SEED + 1).update(1)
    assert first != sampler().update(2)


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


def test_fewer_sentences_than_parts_leave_the_last_parts_empty():
    lengths = [np.array([9, 9])]
    one = Sampler(lengths, lengths, batch(tokens=18, pool=1), "equal", SEED)
    split = one.split(one.update(1), 4)
    assert [len(part) for part in split] == [1, 1, 0, 0]


def test_a_very_long_sentence_leaves_no_part_empty():
    lengths = [np.array([1000, 2, 2, 2, 2])]
    one = Sampler(lengths, lengths, batch(tokens=1008, pool=1), "equal", SEED)
    assert all(one.split(one.update(1), 5))


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


def test_a_task_without_sentences_is_refused():
    lengths = [np.array([3]), np.array([])]
    with refused("task 1 has no training pairs"):
        Sampler(lengths, lengths, batch(), "equal", SEED)


def test_an_update_too_small_for_any_sentence_is_refused():
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


def test_another_seed_draws_other_tasks():
    one, other = drawn(), drawn(seed=SEED + 1)
    assert [one.at(n) for n in range(1, 50)] != [other.at(n) for n in range(1, 50)]


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
