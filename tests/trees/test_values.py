"""Values that differ, and how they read."""

import math

import pytest

from fathom.trees.values import both, changed, flat, only_in


@pytest.mark.parametrize(
    ("first", "second", "tolerance", "differ"),
    [
        ("0.5", "0.50", 0.0, False),
        (1, 1.0, 0.0, False),
        ("0.5", "0.51", 0.0, True),
        ("0.5", "0.51", 0.02, False),
        ("diverged", "finished", 9.0, True),
        ("", "0.5", 9.0, True),
        (None, 0.5, 9.0, True),
        (True, 1.5, 9.0, True),
        (math.nan, math.nan, 0.0, False),
        (math.nan, 1.0, 9.0, True),
        (math.inf, math.inf, 0.0, False),
        (math.inf, -math.inf, 9.0, True),
    ],
)
def test_numbers_differ_by_more_than_the_tolerance_and_words_by_their_letters(
    first, second, tolerance, differ
):
    assert bool(changed({"a": first}, {"a": second}, tolerance)) == differ


def test_a_key_of_one_side_differs():
    assert changed({"a": 1}, {"b": 2}) == [("a", 1, None), ("b", None, 2)]


def test_nested_values_have_the_place_of_each():
    assert dict(flat({"a": {"b": [1, 2]}, "c": None})) == {
        ("a", "b", "1"): 1,
        ("a", "b", "2"): 2,
        ("c",): None,
    }


def test_a_line_names_both_values_and_cuts_long_ones():
    assert both("value", 0.1, "") == "value 0.1 in A, nothing in B"
    assert len(both("text", "x" * 500, "y")) < 100
    assert only_in("runs", "a", False).line == "a: only in B"
