"""The functions of claims: each is a few lines here.

A function gets the values of its arguments. One that gives a number works with cells and with
curves; one that is true or false also gets the judge, which compares. Curves are summarised in each
seed.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from inspect import CO_VARARGS
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fathom.artefacts.claims.arithmetic import computed
from fathom.artefacts.claims.quantities import (
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
from fathom.artefacts.claims.truths import Logic, Truth

if TYPE_CHECKING:
    from pandas import DataFrame

CHOSEN = 0.5  # a gate or a sample from here on takes its layer

# What a function takes and gives, as the types of its definition say; shapes.py checks it.
Kind = Literal[
    "value", "number", "numbers", "several", "several or curve", "cells", "curve", "picture",
    "curve or picture", "axis", "row", "share", "truth",
]  # fmt: skip
Numbers = Annotated[Number | Slice, "one or more"]
Cells = Annotated[Slice, "one or more cells of a table, without arithmetic"]
Picture = Annotated[Curve, "with rows and columns"]
CurveOrPicture = Annotated[Curve, "of any axes"]
Axis = Annotated[str, "of what is drawn"]
Row = Annotated[str, "the label of a picture's row"]
Share = Annotated[Sum, "a number that is written in the claim, above 0 and at most 1"]
_KINDS: dict[Any, Kind] = {
    Quantity: "value", Number: "number", Sum: "number", Numbers: "numbers", Slice: "several",
    Slice | Curve: "several or curve", Cells: "cells", Curve: "curve", Picture: "picture",
    CurveOrPicture: "curve or picture", Axis: "axis", Row: "row", Share: "share", Truth: "truth",
}  # fmt: skip


@dataclass(frozen=True)
class Function:
    """A function of the language.

    Attributes:
        arguments: what it takes.
        several: whether it also takes several numbers, in place of its one argument.
        result: what it gives; a value is of the kind of its argument.
        compute: from its arguments to its value; a truth gets the logic first.
    """

    arguments: tuple[Kind, ...]
    several: bool
    result: Kind
    compute: Callable[..., Any]

    @classmethod
    def of(cls, compute: Callable[..., Any]) -> "Function":
        """Return a function with what the types of its arguments say."""
        types = dict(compute.__annotations__)
        result = _KINDS[types.pop("return")]
        arguments: tuple[Kind, ...] = tuple(
            _KINDS[one] for one in types.values() if one is not Logic
        )
        several = bool(compute.__code__.co_flags & CO_VARARGS)
        return cls(arguments, several, result, compute)

    @property
    def truth(self) -> bool:
        """Whether it is true or false, and not a number."""
        return self.result == "truth"

    def taking(self, count: int) -> tuple[Kind, ...]:
        """Return the kinds of some arguments; nothing where it takes another number of them."""
        if self.several and count > 1:
            return ("numbers",) * count
        return self.arguments if count == len(self.arguments) else ()


def max_(*values: Quantity) -> Number:
    """Return the largest number."""
    if isinstance(values[0], Curve) and len(values) == 1:
        return values[0].number("maximum", lambda points: points[VALUE].max())
    return largest(item for value in values for item in items_of(value))


def min_(*values: Quantity) -> Number:
    """Return the smallest number."""
    if isinstance(values[0], Curve) and len(values) == 1:
        return values[0].number("minimum", lambda points: points[VALUE].min())
    return smallest(item for value in values for item in items_of(value))


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


def spread(values: Slice | Curve) -> Number:
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
    name = f"the first {share.value:.0%} of {curve.name}"
    return curve.chosen(name, lambda points: points.head(_part(points, share)))


def last(curve: Curve, share: Share) -> Curve:
    """Return the last share of a curve's points, at least one."""
    name = f"the last {share.value:.0%} of {curve.name}"
    return curve.chosen(name, lambda points: points.tail(_part(points, share)))


def end(curve: Curve) -> Sum:
    """Return the last value of a curve."""
    # A smaller scale may have no points of it.
    return curve.number("end", lambda points: points[VALUE].iloc[-1] if len(points) else math.nan)


def sd(curve: CurveOrPicture, axis: Axis) -> Curve:
    """Return the standard deviation (n - 1) along an axis, for each place on the other axes."""

    def along(points: "DataFrame") -> "DataFrame":
        if axis not in points:
            raise Unfit(f"{curve.name} has no axis {axis}")
        others = [name for name in points if name not in (axis, VALUE)]
        if not others:
            return points.head(1).assign(**{VALUE: points[VALUE].std()})
        return points.groupby(others, sort=False, as_index=False).agg({VALUE: "std"})

    name = f"deviations over {axis} of {curve.name}"
    return replace(curve.chosen(name, along), worst=math.nan)


def agreement(picture: Picture) -> Sum:
    """Return the share of columns in which all rows choose the same."""

    def share(points: "DataFrame") -> float:
        row, column, _ = points.columns
        grid = points.pivot(index=row, columns=column, values=VALUE) >= CHOSEN
        return float((grid.all() | ~grid.any()).mean())

    return picture.number("agreement", share)


def others(picture: Picture, row: Row) -> Curve:
    """Return a row of a picture without the diagonal."""

    def without(points: "DataFrame") -> "DataFrame":
        rows, columns, _ = points.columns
        return points.loc[(points[rows] == row) & (points[columns] != row)]

    return picture.chosen(f"the rest of row {row} of {picture.name}", without)


def near(logic: Logic, value: Numbers, target: Numbers, by: Sum) -> Truth:
    """Return whether two numbers differ by at most an amount."""
    return logic.compare(abs_(computed("-", value, target)), "<=", by)


def rising(logic: Logic, values: Slice) -> Truth:
    """Return whether each number is above the one before."""
    return logic.all(logic.compare(one, "<", other) for one, other in pairwise(items_of(values)))


def falling(logic: Logic, values: Slice) -> Truth:
    """Return whether each number is below the one before."""
    return logic.all(logic.compare(one, ">", other) for one, other in pairwise(items_of(values)))


def trained(logic: Logic, cells: Cells) -> Truth:
    """Return whether all seeds of each run have a result."""
    return logic.all(logic.has_results(term) for term in _runs(cells))


def failed(logic: Logic, cells: Cells) -> Truth:
    """Return whether no seed of any run has a result."""
    return logic.all(logic.has_none(term) for term in _runs(cells))


def significant(logic: Logic, cells: Cells) -> Truth:
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


def _part(points: "DataFrame", share: Sum) -> int:
    """Return how many points are a share of all; what rounding adds to 0.2 of 5 is no point."""
    return max(1, math.ceil(round(len(points) * share.value, 9)))


FUNCTIONS = {
    compute.__name__.removesuffix("_"): Function.of(compute)
    for compute in (
        max_, min_, mean, median, spread, abs_, first, last, end, sd, agreement, others,
        near, rising, falling, trained, failed, significant,
    )
}  # fmt: skip
