"""The identity of a value."""

import hashlib
import math

import pytest

from fathom.io.hashes import identity, short


def test_it_is_the_hash_of_the_shortest_json_with_sorted_keys():
    """The names of all folders would change if this moved."""
    value = {"b": {"č": "x"}, "a": [1, 2.5, None, True]}
    text = rb'{"a":[1,2.5,null,true],"b":{"\u010d":"x"}}'
    assert identity(value) == hashlib.sha256(text).hexdigest()


def test_the_order_of_keys_does_not_count():
    assert identity({"a": 1, "b": {"c": 2, "d": 3}}) == identity({"b": {"d": 3, "c": 2}, "a": 1})


def test_the_order_of_a_list_counts():
    assert identity(["bos", "kor"]) != identity(["kor", "bos"])


@pytest.mark.parametrize(("one", "other"), [(3, 3.0), (1, True), ("1", 1), (None, ""), ([], {})])
def test_values_that_are_written_otherwise_differ(one, other):
    assert identity(one) != identity(other)


def test_a_tuple_is_a_list():
    assert identity((0.9, 0.98)) == identity([0.9, 0.98])


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_has_not_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        identity({"a": value})


def test_a_folder_carries_eight_digits():
    digits = identity("value")
    assert len(digits) == 64
    assert set(digits) <= set("0123456789abcdef")
    assert short(digits) == digits[:8]
