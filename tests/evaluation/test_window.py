"""The window of checkpoints that the development set chooses."""

import math
import random
from statistics import fmean, stdev

import pytest

from fathom.errors import FathomError
from fathom.evaluation.window import Window, chosen, judged

EVERY = 1_000


def curve(scores):
    """Return scores by update, a checkpoint each thousand."""
    return {EVERY * number: score for number, score in enumerate(scores, 1)}


def by_search(development, size):
    """Return the window by looking at the mean of each."""
    updates = sorted(development)
    windows = [updates[start : start + size] for start in range(len(updates) - size + 1)]
    means = [fmean(development[update] for update in window) for window in windows]
    best = max(range(len(windows)), key=lambda place: (means[place], place))
    return tuple(windows[best])


@pytest.mark.parametrize("size", [1, 2, 21, 59, 60])
@pytest.mark.parametrize("seed", range(5))
def test_the_window_is_the_one_that_a_search_finds(seed, size):
    dice = random.Random(seed)
    # Rises, has its top at about two thirds, and falls a little, as a run that overfits.
    development = curve(27 - ((n - 40) / 20) ** 2 + dice.gauss(0, 0.3) for n in range(60))
    assert chosen(development, size) == by_search(development, size)


def test_the_window_stands_around_the_top_of_a_smooth_curve():
    development = curve(30 - abs(n - 40) / 10 for n in range(1, 61))
    assert chosen(development, 21) == tuple(EVERY * n for n in range(30, 51))


def test_one_lucky_checkpoint_does_not_choose_the_window():
    scores = [20.0] * 30 + [25.0] * 30
    scores[10] = 26.0
    assert min(chosen(curve(scores), 21)) > 30 * EVERY
    assert chosen(curve(scores), 1) == (11 * EVERY,)


def test_of_equal_means_the_latest_is_taken():
    assert chosen(curve([25.0] * 40), 21) == tuple(EVERY * n for n in range(20, 41))
    assert chosen(curve([2.0, 1.0, 2.0, 0.0]), 2) == (2 * EVERY, 3 * EVERY)


def test_scores_tie_as_they_are_written_and_not_as_they_are_rounded():
    # In binary 25.0 + 25.1 is more than 24.9 + 25.2, rounded or not.
    assert chosen(curve([25.0, 25.1, 20.0, 24.9, 25.2]), 2) == (4 * EVERY, 5 * EVERY)


def test_where_there_are_fewer_checkpoints_all_are_taken_and_the_report_says_so():
    updates = chosen(curve([24.0, 25.0, 23.0]), 21)
    assert updates == (1_000, 2_000, 3_000)
    found = judged(curve([20.0, 22.0, 21.0]), updates, 21)
    assert found == Window(updates, 21, 21.0, 1.0)
    assert len(found.updates) < found.wanted


def test_the_order_in_which_checkpoints_were_scored_does_not_matter():
    development = curve([1.0, 5.0, 4.0, 2.0])
    turned = dict(reversed(development.items()))
    assert chosen(turned, 2) == chosen(development, 2) == (2_000, 3_000)


def test_the_mean_is_of_the_windows_test_scores_alone():
    test = curve([10.0, 26.0, 27.0, 25.0, 99.0])
    found = judged(test, (2_000, 3_000, 4_000), 3)
    assert found.mean == pytest.approx(26.0)
    assert found.window_sd == pytest.approx(stdev([26.0, 27.0, 25.0]))
    assert found.window_sd == pytest.approx(1.0)


def test_a_window_of_one_has_no_spread():
    assert judged({7: 26.5}, (7,), 1) == Window((7,), 1, 26.5, None)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused_with_its_update(score):
    with pytest.raises(FathomError, match=r"development scores: .* at update 2000"):
        chosen(curve([25.0, score, 26.0]), 2)
    with pytest.raises(FathomError, match=r"test scores: .* at update 2000"):
        judged(curve([25.0, score]), (1_000, 2_000), 2)


def test_a_bad_test_score_outside_the_window_does_not_matter():
    assert judged(curve([math.nan, 25.0]), (2_000,), 1).mean == 25.0


def test_no_scores_and_no_size_are_refused():
    with pytest.raises(FathomError, match="development scores: there are none"):
        chosen({}, 21)
    with pytest.raises(FathomError, match="a window of 0 checkpoints"):
        chosen({1: 25.0}, 0)
    with pytest.raises(FathomError, match="test scores: there are none"):
        judged({}, (), 21)


def test_a_checkpoint_of_the_window_without_a_test_score_is_named():
    with pytest.raises(FathomError, match="no test score of update 2000, 3000"):
        judged({1_000: 25.0}, (1_000, 2_000, 3_000), 3)
