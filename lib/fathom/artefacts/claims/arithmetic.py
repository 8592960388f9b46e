"""Sums, differences and products of numbers, slices and curves."""

from fathom.artefacts.claims.quantities import Curve, Number, Quantity, Slice, Sum, Unfit, items_of

PRODUCT = "two measured numbers cannot be multiplied"
SHIFT = "a curve is computed with a written number alone"


def computed(operator: str, left: Quantity, right: Quantity) -> Quantity:
    """Return a sum, difference or product; of slices pair by pair.

    Args:
        operator: `+`, `-` or `*`.
        left: what is computed with.
        right: the same, after the operator.

    Raises:
        Unfit: slices of different lengths, a product of measured numbers, or a curve with more than
            a written number.
    """
    if isinstance(left, Curve) or isinstance(right, Curve):
        return _of_curve(operator, left, right)
    if isinstance(left, Slice) or isinstance(right, Slice):
        pairs = zip(*together(left, right), strict=True)
        return Slice(tuple(of_numbers(operator, *pair) for pair in pairs))
    return of_numbers(operator, left, right)


def of_numbers(operator: str, left: Number, right: Number) -> Number:
    """Return a sum, difference or product of two numbers.

    Raises:
        Unfit: a product of measured numbers.
    """
    if operator == "*":
        for factor, other in ((left, right), (right, left)):
            if isinstance(factor, Sum) and not factor.weights:
                return other.times(factor.constant)
        raise Unfit(PRODUCT)
    return left.plus(right.times(-1) if operator == "-" else right)


def together(left: Quantity, right: Quantity) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """Return two slices of one length; a number goes with each of a slice.

    Raises:
        Unfit: slices of different lengths, or a curve.
    """
    first, second = items_of(left), items_of(right)
    length = max(len(first), len(second))
    if not first or not second or {len(first), len(second)} - {1, length}:
        raise Unfit(f"{len(first)} and {len(second)} cells cannot be compared")
    return first * (length // len(first)), second * (length // len(second))


def _of_curve(operator: str, left: Quantity, right: Quantity) -> Curve:
    """Return a curve that is shifted or scaled by a number."""
    curve, other = (left, right) if isinstance(left, Curve) else (right, left)
    if not isinstance(curve, Curve) or not isinstance(other, Sum) or other.weights:
        raise Unfit(SHIFT)
    number = other.constant
    if operator == "*":
        return curve.mapped(f"{number:g} × {curve.name}", lambda values: values * number)
    if operator == "+":
        return curve.mapped(f"{curve.name} + {number:g}", lambda values: values + number)
    if curve is left:
        return curve.mapped(f"{curve.name} - {number:g}", lambda values: values - number)
    return curve.mapped(f"{number:g} - {curve.name}", lambda values: number - values)
