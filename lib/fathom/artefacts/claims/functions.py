"""The functions of claims: each is a few lines here. Curves are summarised in each seed.

Those of TRUTHS get the intervals of their numbers first.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from fathom.artefacts.claims.numbers import (
    VALUE,
    Curve,
    Largest,
    Number,
    Slice,
    Sum,
    Term,
    Unfit,
    added,
    items_of,
    terms_of,
)
from fathom.artefacts.claims.truths import (
    ABSENT,
    FAILS,
    HOLDS,
    INCONCLUSIVE,
    Answer,
    Evidence,
    Intervals,
    Operator,
    Truth,
    compare,
    every,
    term_text,
)
from fathom.io.errors import nearest

if TYPE_CHECKING:
    from pandas import DataFrame

CHOSEN = 0.5  # a gate or a sample from here on takes its layer
GAIN = "significant gain"
UNTESTED = "nothing to test its gain with"


def _extreme(sign: Literal[1, -1], name: str, *values: Any) -> Number:
    """Return the largest or the smallest number."""
    if len(values) == 1 and isinstance(values[0], Curve):
        return values[0].number(name, lambda points: sign * (sign * points).max())
    return Largest(sign, tuple(item for value in values for item in items_of(value)))


def mean(values: Any) -> Number:
    """Return the mean."""
    if isinstance(values, Curve):
        return values.number("mean", lambda points: points.mean())
    items = items_of(values)
    return added(items) * (1 / len(items))


def median(values: Any) -> Number:
    """Return the median."""
    if isinstance(values, Curve):
        return values.number("median", lambda points: points.median())
    items = items_of(values)
    unknown = [item for item in items if item.missing or math.isnan(item.value)]
    if unknown:
        return added(unknown)  # any of the others may be the middle one
    lost = [term for item in items for term in terms_of(item) if term.lost]
    if lost:
        # With the worst value another one may be the middle one.
        named = (replace(term, value=math.nan, words=term.lost, lost="") for term in lost)
        return added(Sum({term: 1.0}) for term in named)
    ordered = sorted(items, key=lambda item: item.value)
    middle = ordered[(len(items) - 1) // 2 : len(items) // 2 + 1]
    return added(middle) * (1 / len(middle))


def spread(values: Any) -> Number:
    """Return the largest number less the smallest."""
    if isinstance(values, Curve):
        return values.number("spread", lambda points: float(points.max()) - float(points.min()))
    items = _several(values, "spread")
    return Largest(1, items).plus(-Largest(-1, items))


def abs_(values: Any) -> Any:
    """Return sizes without sign."""
    if isinstance(values, Curve):
        return values.mapped(f"|{values.name}|", lambda points: points.abs())
    sizes = tuple(Largest(1, (item, -item)) for item in items_of(values))
    return Slice(sizes) if isinstance(values, Slice) else sizes[0]


def first(curve: Any, share: Any) -> Curve:
    """Return the first share of a curve's points, at least one."""
    part, name = _share(share), f"the first {share:.0%} of {_curve(curve, 'first').name}"
    return curve.chosen(name, lambda points: points.head(part(points)))


def last(curve: Any, share: Any) -> Curve:
    """Return the last share of a curve's points, at least one."""
    part, name = _share(share), f"the last {share:.0%} of {_curve(curve, 'last').name}"
    return curve.chosen(name, lambda points: points.tail(part(points)))


def end(curve: Any) -> Sum:
    """Return the last value of a curve; a smaller scale may have no points of it."""
    last_of = _curve(curve, "end").number
    return last_of("end", lambda points: points.iloc[-1] if len(points) else math.nan)


def sd(curve: Any, axis: Any) -> Curve:
    """Return the standard deviation (n - 1) along an axis, for each place on the other axes."""
    name = f"deviations over {axis} of {_curve(curve, 'sd', most=2).name}"
    if axis not in curve.axes:
        raise Unfit(f"{curve.name} has no axis '{axis}'", nearest(axis, curve.axes))
    left = [other for other in curve.axes if other != axis]

    def along(points: "DataFrame") -> "DataFrame":
        if not left:
            return points.head(1).assign(**{VALUE: points[VALUE].std()})
        return points.groupby(left, sort=False, as_index=False).agg({VALUE: "std"})

    return curve.chosen(name, along, axes=tuple(left), rows=(), worst=math.nan)


def agreement(picture: Any) -> Sum:
    """Return the share of columns in which all rows choose the same."""

    def share(points: "DataFrame") -> "DataFrame":
        row, column = picture.axes
        grid = points.pivot(index=row, columns=column, values=VALUE) >= CHOSEN
        return points.head(1).assign(**{VALUE: float((grid.all() | ~grid.any()).mean())})

    chosen = _picture(picture, "agreement").chosen(picture.name, share)
    return chosen.number("agreement", lambda points: points.iloc[0])


def others(picture: Any, row: Any) -> Curve:
    """Return a row of a picture without the diagonal."""
    name = f"the rest of row {row} of {_picture(picture, 'others').name}"
    if picture.rows and row not in picture.rows:
        raise Unfit(f"{picture.name} has no row '{row}'", nearest(row, picture.rows))
    rows, columns = picture.axes

    def without(points: "DataFrame") -> "DataFrame":
        return points.loc[(points[rows] == row) & (points[columns] != row)]

    return picture.chosen(name, without, axes=(columns,), rows=())


def near(intervals: Intervals, value: Any, target: Any, by: Any) -> Truth:
    """Return whether two numbers differ by at most an amount."""
    _need(not isinstance(by, Slice), "near", "one number", by, "name one row and one column")
    return compare(intervals, abs_(value - target), "<=", by)


def _ordered(operator: Operator, name: str, intervals: Intervals, values: Any) -> Truth:
    """Return whether each number is above, or below, the one before."""
    pairs = pairwise(_several(values, name))
    return every(compare(intervals, before, operator, after) for before, after in pairs)


def trained(_: Intervals, cells: Any) -> Truth:
    """Return whether all seeds of each run have a result."""
    return every(
        _outcome(term, bool(term.lost or (term.words and not term.missing)))
        for term in _runs(cells, "trained")
    )


def failed(_: Intervals, cells: Any) -> Truth:
    """Return whether no seed of any run has a result."""
    return every(
        _outcome(term, bool(term.by_seed or not term.words)) for term in _runs(cells, "failed")
    )


def significant(_: Intervals, cells: Any) -> Truth:
    """Return whether each cell has the mark of a significant gain."""
    return every(map(_gains, _terms(cells, "significant")))


NUMBERS: dict[str, Callable[..., Any]] = {
    "max": partial(_extreme, 1, "maximum"),
    "min": partial(_extreme, -1, "minimum"),
    "abs": abs_,
} | {of.__name__: of for of in (mean, median, spread, first, last, end, sd, agreement, others)}
WORDS = ("sd", "others")  # those that take an axis or a label
TRUTHS: dict[str, Callable[..., Truth]] = {
    "rising": partial(_ordered, "<", "rising"),
    "falling": partial(_ordered, ">", "falling"),
} | {of.__name__: of for of in (near, trained, failed, significant)}


def _need(fits: bool, taker: str, needed: str, value: Any, remedy: str) -> None:
    """Refuse an argument that a function does not take."""
    if not fits:
        raise Unfit(f"{taker} needs {needed}, and gets {_given(value)}", remedy)


def _several(values: Any, taker: str) -> tuple[Number, ...]:
    fits = isinstance(values, Slice)
    _need(fits, taker, "several numbers", values, "name several cells, or `:` for all")
    return values.items


def _curve(value: Any, taker: str, most: int = 1) -> Curve:
    """Return a curve, or a picture where it may have two axes."""
    fits = isinstance(value, Curve) and 0 < len(value.axes) <= most
    _need(fits, taker, "a curve", value, "name a line of a figure")
    return value


def _picture(value: Any, taker: str) -> Curve:
    fits = isinstance(value, Curve) and len(value.axes) == 2
    _need(fits, taker, "a picture", value, "name a panel of a heat map")
    return value


def _share(share: Any) -> "Callable[[DataFrame], int]":
    """Return how many points a share is; what rounding adds to 0.2 of 5 is not a point."""
    if not isinstance(share, float) or not 0 < share <= 1:
        raise Unfit("the share is not a written one", "write a number above 0 and at most 1")
    return lambda points: max(1, math.ceil(round(len(points) * share, 9)))


def _terms(cells: Any, taker: str) -> list[Term]:
    """Return the terms of cells of a table, which come without arithmetic."""
    items = items_of(cells) if isinstance(cells, Sum | Slice) else ()
    fits = isinstance(cells, Sum | Slice) and all(map(_is_cell, items))
    _need(fits, taker, "cells of a table", cells, "name rows of a table, without arithmetic")
    return [term for item in items for term in terms_of(item)]


def _is_cell(item: Number) -> bool:
    plain = isinstance(item, Sum) and [*item.weights.values()] == [1.0] and not item.constant
    return plain and all(term.of_table for term in terms_of(item))


def _runs(cells: Any, taker: str) -> Iterable[Term]:
    """Return the first cell of each run, and of each reason why a seed has no number."""
    firsts: dict[tuple, Term] = {}
    for term in _terms(cells, taker):
        firsts.setdefault((term.source, term.words, term.lost, term.awaited), term)
    return firsts.values()


def _outcome(term: Term, fails: bool) -> Truth:
    answer: Answer = FAILS if fails else ABSENT if term.missing or term.awaited else HOLDS
    later = f", {term.awaited} of its seeds not run" if term.awaited and not term.missing else ""
    return Truth(answer, (Evidence(term_text(term) + later, answer),))


def _gains(term: Term) -> Truth:
    if term.missing:
        return Truth(ABSENT, (Evidence(term_text(term), ABSENT),))
    words = UNTESTED if term.gain is None else f"{'a' if term.gain else 'no'} {GAIN}"
    # The test knows nothing of seeds without a result, with which there may be no gain.
    holds: Answer = INCONCLUSIVE if term.lost else HOLDS
    answer: Answer = ABSENT if term.gain is None else holds if term.gain else FAILS
    return Truth(answer, (Evidence(f"{term_text(term)}, {words}", answer),))


def _given(value: Any) -> str:
    """Return how messages call an argument."""
    if isinstance(value, Curve):
        return ("one number", "a curve", "a picture")[len(value.axes)]
    return "several numbers" if isinstance(value, Slice) else "one number"
