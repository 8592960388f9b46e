"""Which tasks an update holds: a function of the seed and the update's number."""

import numpy as np
import pytest

from fathom.config.schema.run import BatchSettings, Temperature
from fathom.train.batches.update_tasks import (
    AllTasks,
    OneTask,
    task_tokens,
    tasks_of_updates,
    temperature_shares,
)

TOKENS, SEED = 128, 3
LINES = (100, 300, 40)


def batch(per="task"):
    return BatchSettings(tokens=TOKENS, per=per, pool=1)


def drawn(shares="proportional", seed=SEED, lines=LINES, per="task"):
    return tasks_of_updates(lines, batch(per), shares, seed, one_task=True)


def test_shares_are_by_lines_or_equal_and_tokens_for_each_task_or_in_all():
    assert task_tokens([100, 300], batch(), "proportional") == [64, 192]
    assert task_tokens([100, 300], batch("update"), "equal") == [64, 64]
    assert task_tokens([100, 300], batch("update"), "proportional") == [32, 96]


def test_a_temperature_smooths_the_shares():
    lines = [41_900_000, 1_800_000, 100_000]
    shares = temperature_shares(lines, 0.3)
    assert shares.sum() == pytest.approx(1)
    # A language with 419 times the lines is drawn 419^0.3 = 6.1 times as often.
    assert shares[0] / shares[2] == pytest.approx(419**0.3)
    assert temperature_shares(lines, 1.0) == pytest.approx(np.array(lines) / sum(lines))
    tokens = task_tokens(lines, batch("update"), Temperature(temperature=0.3))
    assert tokens == pytest.approx(TOKENS * shares)


def test_without_a_draw_every_update_holds_every_task():
    every = tasks_of_updates([100, 300], batch("update"), "proportional", SEED, one_task=False)
    assert not every.single
    assert every.tokens == [32, 96]
    assert [every.at(n) for n in (1, 2, 90)] == [((0, 1), 0), ((0, 1), 1), ((0, 1), 89)]
    assert every.times(1, 90) == every.update_of(1, 90) == 90


@pytest.mark.parametrize("per", ["task", "update"])
def test_an_update_of_one_task_has_all_its_tokens(per):
    """Whatever the task's share, which says how often it is drawn."""
    assert drawn(per=per).single
    assert drawn(per=per).tokens == [TOKENS] * 3


# [lamgd Alg. 1]
@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ("equal", np.ones(3) / 3),
        ("proportional", np.array(LINES) / sum(LINES)),
        (Temperature(temperature=0.5), np.sqrt(LINES) / np.sqrt(LINES).sum()),
    ],
)
def test_tasks_are_drawn_with_the_probabilities_of_their_shares(shares, expected):
    updates, one = 20_000, drawn(shares)
    counts = np.array([one.times(task, updates) for task in range(3)])
    assert counts.sum() == updates
    deviation = np.sqrt(updates * expected * (1 - expected))
    assert np.all(np.abs(counts - updates * expected) < 4 * deviation)


def test_a_draw_does_not_depend_on_the_draw_before():
    one, updates = drawn("equal"), 9_001
    tasks = np.array([one.at(n)[0][0] for n in range(1, updates + 1)])
    pairs = np.bincount(3 * tasks[:-1] + tasks[1:], minlength=9)
    # 1,000 of each of nine pairs are expected, with a deviation of 30.
    assert np.all(np.abs(pairs - 1000) < 120)


@pytest.mark.parametrize("n", [1, 2, 17, 1000])
def test_an_update_holds_the_same_task_however_it_is_reached(n):
    fresh, used = drawn().at(n), drawn()
    for other in (n + 4000, max(1, n - 30), n + 1):
        used.at(other)
    assert used.at(n) == used.at(n) == fresh


def test_another_seed_draws_other_tasks():
    one, other = drawn(), drawn(seed=SEED + 1)
    assert [one.at(n) for n in range(1, 50)] != [other.at(n) for n in range(1, 50)]


def test_the_updates_before_with_the_same_task_are_counted():
    one, counts = drawn(), [0, 0, 0]
    for n in range(1, 300):
        (task,), before = one.at(n)
        assert before == counts[task] == one.times(task, n - 1)
        counts[task] += 1
        assert one.update_of(task, counts[task]) == n


def test_one_task_of_one_is_every_task():
    one, every = OneTask(TOKENS, [0.3], SEED), AllTasks([TOKENS])
    assert [one.at(n) for n in (1, 2, 30)] == [every.at(n) for n in (1, 2, 30)]
    assert one.tokens == every.tokens


def test_epochs_end_with_the_update_that_ends_the_last_pass():
    for tasks in (drawn(), AllTasks([64, 192, 25.6])):
        assert tasks.updates_until(70, 1, 1000, TOKENS) == 70
        # 3 · 1000 · 4 / (4 · 128) = 23.4
        updates = tasks.updates_until("3 epochs", 1, 1000, 4 * TOKENS, pool=4)
        assert tasks.times(1, updates) == 24
        assert tasks.times(1, updates - 1) == 23


def test_an_exact_number_of_updates_is_not_rounded_up():
    assert AllTasks([TOKENS]).updates_until("75 epochs", 0, TOKENS * 7, TOKENS) == 75 * 7
