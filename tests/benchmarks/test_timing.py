"""Contenders take turns in reversed order, and ratios come from rounds that belong together."""

import pytest

from benchmarks.peer.timing import alternate, faster, turns


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


def test_how_much_faster_is_the_median_of_the_rounds_ratios_not_the_ratio_of_medians():
    assert faster([2.0, 30.0, 8.0], [1.0, 10.0, 8.0]).middle == 2.0


def test_rounds_of_different_number_are_refused():
    with pytest.raises(ValueError, match="argument"):
        faster([1.0, 2.0], [1.0])
