"""The functions of claims: each is a few lines here.

A function gets the values of its arguments. One that gives a number works with cells and with
curves; one that is true or false also gets the judge, which compares. Curves are summarised in each
seed.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fathom.claims.arithmetic import computed
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
    terms_of,
)
from fathom.claims.truths import Logic, Truth

if TYPE_CHECKING:
    from pandas import DataFrame

CHOSEN = 0.5  # a gate or a sample from here on takes its layer

Kind = Literal["value", "word", "share"]
Share = Annotated[Sum, "a number that is written in the claim, above 0 and at most 1"]


@dataclass(frozen=True)
class Function:
    """A function of the language.

    Attributes:
        arguments: what it takes: values, words or shares.
        truth: whether it is true or false, and not a number.
        curve: whether it is a curve.
        compute: from its arguments to its value; a truth gets the logic first.
    """

    arguments: tuple[Kind, ...]
    truth: bool
    curve: bool
    compute: Callable[..., Any]

    @classmethod
    def of(cls, compute: Callable[..., Any]) -> "Function":
        """Return a function with what the types of its arguments say."""
        types = dict(compute.__annotations__)
        given, own = types.pop("return"), [one for one in types.values() if one is not Logic]
        kinds: dict[Any, Kind] = {str: "word", Share: "share"}
        arguments: tuple[Kind, ...] = tuple(kinds.get(one, "value") for one in own)
        return cls(arguments, given is Truth, given is Curve, compute)


def max_(values: Quantity) -> Number:
    """Return the largest number."""
    if isinstance(values, Curve):
        return values.number("maximum", lambda points: points[VALUE].max())
    return largest(items_of(values))


def min_(values: Quantity) -> Number:
    """Return the smallest number."""
    if isinstance(values, Curve):
        return values.number("minimum", lambda points: points[VALUE].min())
    return smallest(items_of(values))


def mean(values: Quantity) -> Number:
    """Return the mean."""
    if isinstance(values, Curve):
        return values.number("mean", lambda points: points[VALUE].mean())
    items = items_of(values)
    return _sum(items).times(1 / len(items))


def median(values: Quantity) -> Number:
    """Return the median."""
    if isinstance(values, Curve):
        return values.number("median", lambda points: points[VALUE].median())
    items = items_of(values)
    unknown = [item for item in items if item.missing or math.isnan(item.value)]
    if unknown:
        return _sum(unknown)  # any of the others may be the middle one
    lost = [term for item in items for term in terms_of(item) if term.lost]
    if lost:
        # With the worst value another one may be the middle one.
        named = (replace(term, value=math.nan, words=term.lost, lost="") for term in lost)
        return _sum([Sum({term: 1.0}) for term in named])
    ordered = sorted(items, key=lambda item: item.value)
    middle = ordered[(len(items) - 1) // 2 : len(items) // 2 + 1]
    return _sum(middle).times(1 / len(middle))


def spread(values: Quantity) -> Number:
    """Return the largest number less the smallest."""
    if isinstance(values, Curve):
        return values.number("spread", _spread)
    items = items_of(values)
    return largest(items).plus(smallest(items).times(-1))


def abs_(values: Quantity) -> Quantity:
    """Return sizes without sign."""
    if isinstance(values, Curve):
        return values.mapped(f"|{values.name}|", lambda value: value.abs())
    if isinstance(values, Slice):
        return values.mapped(_size)
    return _size(values)


def first(curve: Curve, share: Share) -> Curve:
    """Return the first share of a curve's points, at least one."""
    name = f"the first {share.value:.0%} of {_curve(curve).name}"
    return curve.chosen(name, lambda points: points.head(_part(points, share)))


def last(curve: Curve, share: Share) -> Curve:
    """Return the last share of a curve's points, at least one."""
    name = f"the last {share.value:.0%} of {_curve(curve).name}"
    return curve.chosen(name, lambda points: points.tail(_part(points, share)))


def end(curve: Curve) -> Sum:
    """Return the last value of a curve."""
    return _curve(curve).number("end", lambda points: points[VALUE].iloc[-1])


def sd(curve: Curve, axis: str) -> Curve:
    """Return the standard deviation (n - 1) along an axis, for each place on the other axes."""

    def along(points: "DataFrame") -> "DataFrame":
        if axis not in points:
            raise Unfit(f"{curve.name} has no axis {axis}")
        others = [name for name in points if name not in (axis, VALUE)]
        if not others:
            return points.head(1).assign(**{VALUE: points[VALUE].std()})
        return points.groupby(others, sort=False, as_index=False).agg({VALUE: "std"})

    name = f"deviations over {axis} of {_curve(curve).name}"
    return replace(curve.chosen(name, along), worst=math.nan)


def agreement(picture: Curve) -> Sum:
    """Return the share of columns in which all rows choose the same."""

    def share(points: "DataFrame") -> float:
        row, column, _ = _grid(picture, points)
        grid = points.pivot(index=row, columns=column, values=VALUE) >= CHOSEN
        return float((grid.all() | ~grid.any()).mean())

    return _curve(picture).number("agreement", share)


def others(picture: Curve, row: str) -> Curve:
    """Return a row of a picture without the diagonal."""

    def without(points: "DataFrame") -> "DataFrame":
        rows, columns, _ = _grid(picture, points)
        return points.loc[(points[rows] == row) & (points[columns] != row)]

    return _curve(picture).chosen(f"the rest of row {row} of {picture.name}", without)


def near(logic: Logic, value: Quantity, target: Quantity, by: Sum) -> Truth:
    """Return whether two numbers differ by at most an amount."""
    return logic.compare(abs_(computed("-", value, target)), "<=", by)


def rising(logic: Logic, values: Slice) -> Truth:
    """Return whether each number is above the one before."""
    return logic.all(logic.compare(one, "<", other) for one, other in pairwise(items_of(values)))


def falling(logic: Logic, values: Slice) -> Truth:
    """Return whether each number is below the one before."""
    return logic.all(logic.compare(one, ">", other) for one, other in pairwise(items_of(values)))


def trained(logic: Logic, cells: Slice) -> Truth:
    """Return whether all seeds of each run have a result."""
    return logic.all(logic.has_results(term) for term in _runs(cells))


def failed(logic: Logic, cells: Slice) -> Truth:
    """Return whether no seed of any run has a result."""
    return logic.all(logic.has_none(term) for term in _runs(cells))


def significant(logic: Logic, cells: Slice) -> Truth:
    """Return whether each cell has the mark of a significant gain."""
    return logic.all(logic.gains(term) for term in _terms(cells))


def _runs(cells: Quantity) -> Iterable[Term]:
    """Return the first cell of each run, and of each reason why a seed has no number."""
    firsts: dict[tuple, Term] = {}
    for term in _terms(cells):
        firsts.setdefault((term.source, term.words, term.lost, term.awaited), term)
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


def _spread(points: "DataFrame") -> float:
    values = [float(value) for value in (points[VALUE].max(), points[VALUE].min())]  # pyright: ignore[reportArgumentType]
    return values[0] - values[1]


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


# With a single number these say nothing.
OF_SEVERAL = ("spread", "rising", "falling")
FUNCTIONS = {
    compute.__name__.removesuffix("_"): Function.of(compute)
    for compute in (
        max_, min_, mean, median, spread, abs_, first, last, end, sd, agreement, others,
        near, rising, falling, trained, failed, significant,
    )
}  # fmt: skip
