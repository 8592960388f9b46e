from collections import Counter

import numpy as np
import pytest

from fathom.batches.sampler import Sampler, equal_mass, shares
from fathom.errors import FathomError
from fathom.runs.spec import Batches

# Eight tasks with a factor 16 between the largest and the smallest, lengths as in messages.
LINES = (900, 1500, 3300, 1200, 244, 2000, 400, 4000)
TOKENS, POOL, SEED = 128, 16, 3


def made_lengths(lines=LINES):
    """Return target and source lengths: mostly short, some long, the sides alike."""
    dice = np.random.default_rng(0)
    target = [np.clip(dice.lognormal(1.7, 0.7, n).astype(int), 1, 80) + 1 for n in lines]
    source = [np.maximum(2, (t * dice.lognormal(0.1, 0.3, len(t))).astype(int)) for t in target]
    return target, source


TARGET, SOURCE = made_lengths()


def settings(**differences):
    given = {
        "tokens": TOKENS,
        "tokens_are": "task",
        "shares": "equal",
        "scheme": "pool",
        "pool_updates": POOL,
    }
    return Batches(**given | differences)


def sampler(seed=SEED, **differences):
    return Sampler(TARGET, SOURCE, settings(**differences), seed)


def tokens_by_task(members):
    """Return the target tokens of each task in an update."""
    tokens = [0] * len(TARGET)
    for task, sentence in members:
        tokens[task] += int(TARGET[task][sentence])
    return tokens


SCHEMES = pytest.mark.parametrize("scheme", ["pool", "independent"])


@SCHEMES
@pytest.mark.parametrize("n", [1, 16, 17, 137, 5000])
def test_an_update_is_the_same_however_it_is_reached(scheme, n):
    fresh = sampler(scheme=scheme).update(n)
    used = sampler(scheme=scheme)
    for other in (n + 40, max(1, n - 30), n + 1):
        used.update(other)
    assert used.update(n) == used.update(n) == fresh


def test_an_update_is_the_same_after_every_task_has_begun_its_second_pass():
    replayed = sampler()
    n = next(n for n in range(1, 10_000) if replayed.passes(n) > 1.5)
    for update in range(1, n + 1):
        latest = replayed.update(update)
    assert sampler().update(n) == latest


def test_updates_can_be_changed_by_a_caller_without_harm():
    one = sampler()
    one.update(5)[0].clear()
    assert one.update(5) == sampler().update(5)


def test_other_seeds_and_other_updates_hold_other_sentences():
    first = sampler().update(1)
    assert first != sampler(seed=SEED + 1).update(1)
    assert first != sampler().update(2)


@SCHEMES
def test_every_sentence_comes_once_a_pass(scheme):
    one = sampler(scheme=scheme)
    drawn = [[] for _ in LINES]
    # Blocks of a pool are whole here, and every task has ended two passes.
    updates = POOL * int(np.ceil(2.1 * max(t.sum() for t in TARGET) / TOKENS / POOL))
    for n in range(1, updates + 1):
        for task, sentence in one.update(n)[0]:
            drawn[task].append(sentence)
    for task, lengths in enumerate(TARGET):
        times = np.bincount(drawn[task], minlength=len(lengths))
        # Only the pass that is under way tells sentences apart.
        assert times.max() - times.min() <= 1
        assert times.min() >= 2


def test_no_sentence_comes_twice_within_a_pass():
    one = sampler()
    largest = len(LINES) - 1
    within = int(TARGET[largest].sum()) // TOKENS // POOL * POOL
    drawn = [s for n in range(1, within + 1) for t, s in one.update(n)[0] if t == largest]
    assert len(drawn) == len(set(drawn)) > 3500


@SCHEMES
def test_each_task_has_its_share_in_every_update(scheme):
    one = sampler(scheme=scheme)
    for n in range(1, 200):
        for tokens, lengths in zip(tokens_by_task(one.update(n)[0]), TARGET, strict=True):
            # As the module says: chunks end between sentences, and so do blocks.
            assert abs(tokens - TOKENS) <= lengths.max() * (1 + 1 / one.pool) + 0.5


@SCHEMES
def test_shares_are_exact_over_many_updates(scheme):
    one = sampler(scheme=scheme)
    updates = 20 * POOL
    total = np.sum([tokens_by_task(one.update(n)[0]) for n in range(1, updates + 1)], axis=0)
    for tokens, lengths in zip(total, TARGET, strict=True):
        assert abs(tokens - updates * TOKENS) <= lengths.max()


def test_shares_by_lines_and_tokens_of_the_whole_update():
    assert shares([100, 300], settings(shares="proportional")) == [64, 192]
    assert shares([100, 300], settings(tokens_are="update")) == [64, 64]
    assert shares([100, 300], settings(tokens_are="update", shares="proportional")) == [32, 96]


def test_proportional_shares_are_drawn():
    one = sampler(tokens=1024, tokens_are="update", shares="proportional")
    updates = 20 * POOL
    total = np.sum([tokens_by_task(one.update(n)[0]) for n in range(1, updates + 1)], axis=0)
    expected = updates * 1024 * np.array(LINES) / sum(LINES)
    # A block's tokens are whole (half a token each), and the last sentence may stand over.
    assert np.all(np.abs(total - expected) <= [10 + t.max() for t in TARGET])


def test_a_small_task_passes_several_times_within_one_block():
    target, source = made_lengths((244, 4000))
    one = Sampler(target, source, settings(tokens=1024), SEED)
    drawn = Counter(s for n in range(1, POOL + 1) for t, s in one.update(n)[0] if t == 0)
    passes = POOL * 1024 / target[0].sum()
    assert passes > 5
    assert set(drawn.values()) <= {int(passes), int(passes) + 1}
    assert len(drawn) == 244


@pytest.mark.parametrize("parts", [2, 3, 8, 32])
def test_parts_hold_the_whole_update_and_nothing_else(parts):
    one = sampler()
    for n in (1, 20, 137):
        (whole,) = one.update(n)
        split = one.update(n, parts)
        assert len(split) == parts
        assert all(split)
        assert sorted(member for part in split for member in part) == sorted(whole)


@pytest.mark.parametrize("parts", [2, 8])
def test_parts_have_about_the_same_tokens(parts):
    one = sampler()
    for n in range(1, 50):
        split = [sum(tokens_by_task(part)) for part in one.update(n, parts)]
        # A part begins and ends between sentences.
        assert max(abs(tokens - sum(split) / parts) for tokens in split) <= 81


def test_fewer_sentences_than_parts_leave_the_last_parts_empty():
    one = Sampler([np.array([9, 9])], [np.array([9, 9])], settings(tokens=18, pool_updates=1), SEED)
    split = one.update(1, parts=4)
    assert [len(part) for part in split] == [1, 1, 0, 0]


def test_a_very_long_sentence_leaves_no_part_empty():
    lengths = [np.array([1000, 2, 2, 2, 2])]
    one = Sampler(lengths, lengths, settings(tokens=1008, scheme="independent"), SEED)
    assert all(one.update(1, parts=5))


def padded_share(parts, lengths):
    """Return the real tokens of parts as a share of the padded ones, on one side."""
    of_parts = [[int(lengths[task][sentence]) for task, sentence in part] for part in parts]
    return sum(map(sum, of_parts)) / sum(len(part) * max(part) for part in of_parts)


def test_a_pool_fills_both_sides_and_micro_batches_fill_them_more():
    one, plain = sampler(), sampler(scheme="independent")
    for lengths in (SOURCE, TARGET):
        mean = {
            (which, parts): np.mean(
                [padded_share(drawn.update(n, parts), lengths) for n in range(1, 65)]
            )
            for which, drawn in (("pool", one), ("independent", plain))
            for parts in (1, 4)
        }
        # Far under what is measured here, so that only a broken order falls below.
        assert mean["pool", 1] > 2 * mean["independent", 1]
        assert mean["pool", 4] > mean["pool", 1]
        assert mean["independent", 4] > mean["independent", 1] + 0.2


def test_passes_count_the_task_with_the_most_lines():
    one = sampler()
    assert one.passes(0) == 0
    assert one.passes(10) == pytest.approx(10 * TOKENS / TARGET[-1].sum())
    assert one.passes(20) == pytest.approx(2 * one.passes(10))


def test_equal_mass_cuts_a_list_at_the_middles_of_its_sentences():
    assert equal_mass(np.array([1, 1, 1, 1]), 2).tolist() == [0, 0, 1, 1]
    assert equal_mass(np.array([1, 1, 6]), 2).tolist() == [0, 0, 1]
    assert equal_mass(np.array([], dtype=np.int64), 2).tolist() == []


def test_a_task_without_sentences_is_refused():
    with pytest.raises(FathomError, match="task 1 has no training pairs"):
        Sampler([np.array([3]), np.array([])], [np.array([3]), np.array([])], settings(), SEED)


@pytest.mark.parametrize("key", ["tokens_are", "shares", "scheme"])
def test_an_unknown_setting_is_refused_by_its_key(key):
    with pytest.raises(FathomError, match=rf"training\.batches\.{key}: no {key} 'poool'"):
        sampler(**{key: "poool"})


def test_updates_and_parts_count_from_one():
    for n, parts in ((0, 1), (1, 0)):
        with pytest.raises(IndexError, match="count from 1"):
            sampler().update(n, parts)


def test_an_update_too_small_for_any_sentence_is_refused():
    few = settings(tokens=10, scheme="independent")
    one = Sampler([np.array([50, 50])], [np.array([5, 5])], few, SEED)
    with pytest.raises(FathomError, match=r"the longest sentence has 50 tokens"):
        one.update(2)
