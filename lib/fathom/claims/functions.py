"""The functions of claims: each is a few lines here.

A function gets the values of its arguments. One that gives a number works with cells and with
curves; one that is true or false also gets the judge, which compares. Curves are summarised in each
seed.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from fathom.claims.quantities import (
    VALUE,
    Curve,
    Number,
    Quantity,
    Slice,
    Sum,
    Term,
    Unfit,
    items_of,
    largest,
    smallest,
)

if TYPE_CHECKING:
    from pandas import DataFrame

    from fathom.claims.truths import Judge, Truth

CHOSEN = 0.5  # a gate or a sample from here on takes its layer


@dataclass(frozen=True)
class Function:
    """A function of the language.

    Attributes:
        arguments: how many it takes.
        truth: whether it is true or false, and not a number.
        compute: from its arguments to its value; a truth gets the judge first.
    """

    arguments: int
    truth: bool
    compute: Callable[..., Any]


FUNCTIONS: dict[str, Function] = {}


def _number(arguments: int = 1) -> Callable:
    """Add a function that gives a number, cells or a curve."""
    return lambda compute: _add(Function(arguments, False, compute))


def _truth(arguments: int = 1) -> Callable:
    """Add a function that is true or false."""
    return lambda compute: _add(Function(arguments, True, compute))


def _add(function: Function) -> Callable:
    FUNCTIONS[function.compute.__name__.removesuffix("_")] = function
    return function.compute


@_number()
def max_(values: Quantity) -> Number:
    """Return the largest number."""
    if isinstance(values, Curve):
        return values.number("maximum", lambda points: points[VALUE].max())
    return largest(items_of(values))


@_number()
def min_(values: Quantity) -> Number:
    """Return the smallest number."""
    if isinstance(values, Curve):
        return values.number("minimum", lambda points: points[VALUE].min())
    return smallest(items_of(values))


@_number()
def mean(values: Quantity) -> Number:
    """Return the mean."""
    if isinstance(values, Curve):
        return values.number("mean", lambda points: points[VALUE].mean())
    items = items_of(values)
    return _sum(items).times(1 / len(items))


@_number()
def median(values: Quantity) -> Number:
    """Return the median."""
    if isinstance(values, Curve):
        return values.number("median", lambda points: points[VALUE].median())
    items = sorted(items_of(values), key=lambda item: item.value)
    middle = items[(len(items) - 1) // 2 : len(items) // 2 + 1]
    return _sum(middle).times(1 / len(middle))


@_number()
def spread(values: Quantity) -> Number:
    """Return the largest number less the smallest."""
    if isinstance(values, Curve):
        return values.number("spread", lambda points: points[VALUE].max() - points[VALUE].min())
    items = items_of(values)
    return largest(items).plus(smallest(items).times(-1))


@_number()
def abs_(values: Quantity) -> Quantity:
    """Return sizes without sign."""
    if isinstance(values, Curve):
        return values.each(f"|{values.name}|", lambda value: value.abs())
    if isinstance(values, Slice):
        return values.each(_size)
    return _size(values)


@_number(2)
def first(curve: Curve, share: Sum) -> Curve:
    """Return the first share of a curve's points, at least one."""
    name = f"the first {share.value:.0%} of {_curve(curve).name}"
    return curve.chosen(name, lambda points: points.head(_part(points, share)))


@_number(2)
def last(curve: Curve, share: Sum) -> Curve:
    """Return the last share of a curve's points, at least one."""
    name = f"the last {share.value:.0%} of {_curve(curve).name}"
    return curve.chosen(name, lambda points: points.tail(_part(points, share)))


@_number()
def end(curve: Curve) -> Sum:
    """Return the last value of a curve."""
    return _curve(curve).number("end", lambda points: points[VALUE].iloc[-1])


@_number(2)
def sd(curve: Curve, axis: str) -> Curve:
    """Return the standard deviation (n - 1) along an axis, for each place on the other axes."""

    def along(points: "DataFrame") -> "DataFrame":
        if axis not in points:
            raise Unfit(f"{curve.name} has no axis {axis}")
        others = [name for name in points if name not in (axis, VALUE)]
        if not others:
            return points.head(1).assign(**{VALUE: points[VALUE].std()})
        return points.groupby(others, sort=False, as_index=False).agg({VALUE: "std"})

    return _curve(curve).chosen(f"deviations over {axis} of {curve.name}", along)


@_number()
def agreement(picture: Curve) -> Sum:
    """Return the share of columns in which all rows choose alike."""

    def share(points: "DataFrame") -> float:
        row, column, _ = _grid(picture, points)
        grid = points.pivot(index=row, columns=column, values=VALUE) >= CHOSEN
        return float((grid.all() | ~grid.any()).mean())

    return _curve(picture).number("agreement", share)


@_number(2)
def others(picture: Curve, row: str) -> Curve:
    """Return a row of a picture without the diagonal."""

    def without(points: "DataFrame") -> "DataFrame":
        rows, columns, _ = _grid(picture, points)
        return points.loc[(points[rows] == row) & (points[columns] != row)]

    return _curve(picture).chosen(f"the rest of row {row} of {picture.name}", without)


@_truth(3)
def near(judge: "Judge", value: Quantity, target: Quantity, by: Sum) -> "Truth":
    """Return whether two numbers differ by at most an amount."""
    return judge.compare(abs_(judge.computed("-", value, target)), "<=", by)


@_truth()
def rising(judge: "Judge", values: Slice) -> "Truth":
    """Return whether each number is above the one before."""
    return judge.all(judge.compare(one, "<", other) for one, other in pairwise(items_of(values)))


@_truth()
def falling(judge: "Judge", values: Slice) -> "Truth":
    """Return whether each number is below the one before."""
    return judge.all(judge.compare(one, ">", other) for one, other in pairwise(items_of(values)))


@_truth()
def trained(judge: "Judge", cells: Slice) -> "Truth":
    """Return whether each cell has a result."""
    return judge.all(judge.has_result(term) for term in _runs(cells))


@_truth()
def failed(judge: "Judge", cells: Slice) -> "Truth":
    """Return whether no cell has a result."""
    return judge.all(judge.no(judge.has_result(term)) for term in _runs(cells))


@_truth()
def significant(judge: "Judge", cells: Slice) -> "Truth":
    """Return whether each cell has the mark of a significant gain."""
    return judge.all(judge.gains(term) for term in _terms(cells))


def _runs(cells: Quantity) -> Iterable[Term]:
    """Return the first cell of each run, and of each reason to have no number."""
    firsts: dict[tuple[str, str], Term] = {}
    for term in _terms(cells):
        firsts.setdefault((term.source, term.words), term)
    return firsts.values()


def _terms(cells: Quantity) -> Iterator[Term]:
    """Yield the term of each cell."""
    for item in items_of(cells):
        if not isinstance(item, Sum) or [*item.weights.values()] != [1.0] or item.constant:
            raise Unfit("cells are needed, without arithmetic")
        yield from item.weights


def _sum(items: tuple[Number, ...] | list[Number]) -> Number:
    total: Number = Sum()
    for item in items:
        total = item.plus(total)
    return total


def _size(value: Number) -> Number:
    return largest((value, value.times(-1)))


def _curve(curve: Quantity) -> Curve:
    if not isinstance(curve, Curve):
        raise Unfit("a curve or a picture is needed")
    return curve


def _part(points: "DataFrame", share: Sum) -> int:
    """Return how many points are a share of all; what rounding adds to 0.2 of 5 is no point."""
    return max(1, math.ceil(round(len(points) * share.value, 9)))


def _grid(picture: Curve, points: "DataFrame") -> list[str]:
    if len(points.columns) != 3:
        raise Unfit(f"{picture.name} has no rows and columns")
    return list(points.columns)
