"""Bounds of the types that settings share."""

import pytest
from pydantic import TypeAdapter, ValidationError

from fathom.config.schema import types


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("Count", [1, 2**53], [0, 2**53 + 1]),
        ("Whole", [0, 2**53], [-1, 2**53 + 1]),
        ("Share", [0.0, 1.0], [-0.1, 1.1]),
        ("BelowOne", [0.0, 0.99], [1.0]),
        ("Positive", [1e-9], [0.0]),
        ("NotNegative", [0.0], [-1e-9]),
        ("Text", ["a"], [""]),
        ("Name", ["a_1"], ["", "A", "a\nb", "a\n"]),
        ("Seed", [0, 2**31 - 1], [-1, 2**31]),
        ("Seeds", [1, 100, (2, 5)], [0, 101, (), (2**31,), tuple(range(101))]),
    ],
)
def test_a_type_takes_its_bounds_and_nothing_beyond(name, inside, outside):
    adapter = TypeAdapter(getattr(types, name))
    for value in inside:
        adapter.validate_python(value)
    for value in outside:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)
