"""Values that differ, and how they read."""

import math

import pytest

from fathom.results.trees.values import both, changed, flat, near, only_in


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
    assert bool(changed({"a": first}, {"a": second}, tolerance=tolerance)) == differ


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


def test_long_texts_are_shown_where_they_differ():
    same = "a 20.5 - b 19.25 = 1.25 [0.4, 2.1] > 0; " * 5
    line = both("numbers", f"{same}c 1 > 0", f"{same}c 2 > 0")
    assert "c 1 > 0 in A" in line
    assert "c 2 > 0 in B" in line
    assert len(line) < 200
    # One text may end where the other continues.
    assert both("numbers", same, f"{same}c 2 > 0").endswith("c 2 > 0 in B")


@pytest.mark.parametrize(
    ("first", "second", "tolerance", "expected"),
    [
        ("a 20.5 > 0", "a 20.5 > 0", 0.0, True),
        ("a 20.5 > 0", "a 20.51 > 0", 0.0, False),
        ("a 20.5 > 0", "a 20.51 > 0", 0.01, True),
        ("a 20.5 > 0", "a 20.8 > 0", 0.01, False),
        # 12.249 and 12.251 with three digits.
        ("[0, 12.2]", "[0, 12.3]", 0.01, True),
        ("[0, 12.2]", "[0, 12.4]", 0.01, False),
        ("20 > 0", "21 > 0", 0.01, False),
        ("-0.001 > 0", "0.001 > 0", 0.01, True),
        ("-2 > 0", "2 > 0", 0.01, False),
        ("1.23e+04 > 0", "1.24e+04 > 0", 0.01, True),
        ("1.23e+04 > 0", "1.26e+04 > 0", 0.01, False),
        ("a 1 > 0", "b 1 > 0", 9.0, False),
        ("a 1 > 0", "a 1 > 0; b 2 > 0", 9.0, False),
        ("a diverged > 0", "a 1 > 0", 9.0, False),
        (None, "1 > 0", 9.0, False),
        ("", "", 9.0, True),
    ],
)
def test_numbers_inside_texts_are_as_far_apart_as_they_may_be(first, second, tolerance, expected):
    assert near(first, second, tolerance) == near(second, first, tolerance) == expected
