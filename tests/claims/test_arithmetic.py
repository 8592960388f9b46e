"""Sums, differences and products."""

import pytest
from pandas import DataFrame

from fathom.artefacts.claims.arithmetic import computed, of_numbers, together
from fathom.artefacts.claims.quantities import Curve, Slice, Sum, Term, Unfit, constant

A, B = (Sum({Term(name, value): 1.0}) for name, value in (("a", 3.0), ("b", 1.0)))
CURVE = Curve("c", "p/run", {1: DataFrame({"update": [1, 2], "value": [4.0, 6.0]})})


@pytest.mark.parametrize(("operator", "expected"), [("+", 4.0), ("-", 2.0)])
def test_numbers_are_added(operator, expected):
    assert of_numbers(operator, A, B).value == expected


def test_a_product_needs_a_written_number():
    assert of_numbers("*", constant(2), A).value == of_numbers("*", A, constant(2)).value == 6.0
    with pytest.raises(Unfit):
        of_numbers("*", A, B)


def test_slices_go_pair_by_pair_or_with_one_number():
    both = Slice((A, B))
    assert [item.value for item in computed("-", both, B)] == [2.0, 0.0]
    assert [item.value for item in computed("+", both, both)] == [6.0, 2.0]
    assert together(both, A) == ((A, B), (A, A))
    with pytest.raises(Unfit):
        together(both, Slice((A, B, A)))


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("-", CURVE, constant(1), [3.0, 5.0]),
        ("-", constant(1), CURVE, [-3.0, -5.0]),
        ("+", CURVE, constant(1), [5.0, 7.0]),
        ("*", constant(0.5), CURVE, [2.0, 3.0]),
    ],
)
def test_a_curve_is_shifted_or_scaled(operator, left, right, expected):
    assert list(computed(operator, left, right).by_seed[1]["value"]) == expected


def test_a_curve_is_not_computed_with_a_measured_number():
    for other in (A, Slice((A, B)), CURVE):
        with pytest.raises(Unfit):
            computed("-", CURVE, other)
