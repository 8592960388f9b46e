"""Contenders take turns in reversed order, and ratios come from rounds that belong together."""

import pytest
import torch

from benchmarks.peer.timing import alternate, clock, faster, spread, timed, turns


def test_the_order_of_the_contenders_is_reversed_in_every_second_round():
    assert list(turns(["a", "b"], 3)) == [
        (1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b"),
    ]  # fmt: skip


def test_rounds_that_warm_up_do_not_count_and_every_contender_makes_the_same_rounds():
    made = {"a": [], "b": []}
    contenders = {
        name: lambda number, own=own: own.append(number) or number for name, own in made.items()
    }
    assert alternate(contenders, rounds=2, warm_up=1) == {"a": [2, 3], "b": [2, 3]}
    assert made == {"a": [1, 2, 3], "b": [1, 2, 3]}


def test_median_and_quartiles():
    assert vars(spread([4.0, 1.0, 3.0, 2.0, 5.0])) == {"middle": 3.0, "low": 2.0, "high": 4.0}
    assert vars(spread([7.0])) == {"middle": 7.0, "low": 7.0, "high": 7.0}


def test_how_much_faster_is_the_median_of_the_rounds_ratios_not_the_ratio_of_medians():
    assert faster([2.0, 30.0, 8.0], [1.0, 10.0, 8.0]).middle == 2.0


def test_a_contender_returns_the_seconds_of_its_work_by_the_clock_that_it_is_given():
    times = iter([10.0, 12.5])
    worked = []
    assert timed(lambda: next(times), worked.append)(4) == 2.5
    assert worked == [4]


def test_the_clock_of_a_cpu_runs_only_while_this_process_computes():
    now = clock(torch.device("cpu"))
    start = now()
    sum(range(10**5))
    assert now() > start


def test_rounds_of_different_number_are_refused():
    with pytest.raises(ValueError, match="argument"):
        faster([1.0, 2.0], [1.0])
