"""The functions of claims, each a few lines. Curves are summarised in each seed.

A function refuses what it does not take. Those of TRUTHS get the intervals of their numbers first.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal

from fathom.artefacts.claims import truths
from fathom.artefacts.claims.numbers import (
    Curve,
    Largest,
    Number,
    Slice,
    Sum,
    Term,
    Unfit,
    added,
    is_written,
    items_of,
    minus,
    scaled,
)
from fathom.artefacts.claims.truths import Intervals, Operator, Truth, compare, every, term_text
from fathom.artefacts.figures.inputs import VALUE
from fathom.io.errors import nearest

if TYPE_CHECKING:
    from pandas import DataFrame, Series

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
    return scaled(added(items), 1 / len(items))


def median(values: Any) -> Number:
    """Return the median; it is unknown where a number is, which may be the middle one."""
    if isinstance(values, Curve):
        return values.number("median", lambda points: points.median())
    items = items_of(values)
    terms = [term for item in items for term in item.terms]
    unknown = [
        item for item in items if math.isnan(item.value) or any(term.missing for term in item.terms)
    ]
    lost = [replace(term, value=math.nan, words=term.lost, lost="") for term in terms if term.lost]
    if unknown or lost:
        return added(unknown or [Sum({term: 1.0}) for term in lost])
    ordered = sorted(items, key=lambda item: item.value)
    middle = ordered[(len(items) - 1) // 2 : len(items) // 2 + 1]
    return scaled(added(middle), 1 / len(middle))


def spread(values: Any) -> Number:
    """Return the largest number less the smallest."""
    if isinstance(values, Curve):
        unknown = values.chosen(values.name, lambda points: points, worst=math.nan)
        return unknown.number("spread", lambda points: float(points.max()) - float(points.min()))
    items = _several(values, "spread")
    return minus(Largest(1, items), Largest(-1, items))


def abs_(values: Any) -> Any:
    """Return sizes without sign."""
    if isinstance(values, Curve):
        return values.mapped(f"|{values.name}|", abs)
    sizes = tuple(Largest(1, (item, scaled(item, -1))) for item in items_of(values))
    return sizes if isinstance(values, tuple) else sizes[0]


def _part(name: Literal["first", "last"], curve: Any, share: Any) -> Curve:
    """Return the first or last share of a curve's points, at least one."""
    if not is_written(share) or not 0 < share.value <= 1:
        raise Unfit("the share is not a written one", "write a number above 0 and at most 1")
    full_name = f"the {name} {share.value:.0%} of {_curve(curve, name).name}"

    def part(points: "DataFrame") -> "DataFrame":
        # What rounding adds to 0.2 of 5 points is not a point.
        count = max(1, math.ceil(round(len(points) * share.value, 9)))
        return points.head(count) if name == "first" else points.tail(count)

    return curve.chosen(full_name, part)


def end(curve: Any) -> Sum:
    """Return the last value of a curve; a smaller scale may have no points of it."""
    return _curve(curve, "end").number("end", _last)


def _last(points: "Series") -> float:
    return points.iloc[-1] if len(points) else math.nan


def _along(name: str, how: str, words: str, curve: Any, axis: str) -> Curve:
    """Return what pandas computes along an axis, for each place on the other axes."""
    full_name = f"{words} over {axis} of {_curve(curve, name, axes=(1, 2)).name}"
    if axis not in curve.axes:
        raise Unfit(f"{curve.name} has no axis '{axis}'", nearest(axis, curve.axes))
    axes = tuple(other for other in curve.axes if other != axis)

    def along(points: "DataFrame") -> "DataFrame":
        if not axes:
            return points.head(1).assign(**{VALUE: points[VALUE].agg(how)})
        return points.groupby([*axes], sort=False, as_index=False).agg({VALUE: how})

    return curve.chosen(full_name, along, axes=axes, worst=math.nan if how == "std" else None)


def agreement(picture: Any) -> Sum:
    """Return the share of columns in which all rows choose the same."""
    row, column = _curve(picture, "agreement", axes=(2,)).axes

    def share(points: "DataFrame") -> "DataFrame":
        grid = points.pivot(index=row, columns=column, values=VALUE) >= CHOSEN
        return points.head(1).assign(**{VALUE: float((grid.all() | ~grid.any()).mean())})

    return picture.chosen(picture.name, share).number("agreement", lambda points: points.iloc[0])


def alike(picture: Any) -> Curve:
    """Return the share of columns in which two rows are on one side of ½, as rows × rows."""
    row, column = _curve(picture, "alike", axes=(2,)).axes
    axes = (row, f"{row}_2")

    def shares(points: "DataFrame") -> "DataFrame":
        grid = points.pivot(index=row, columns=column, values=VALUE) >= CHOSEN
        pairs = [
            (first, second, float((grid.loc[first] == grid.loc[second]).mean()))
            for first, second in product(grid.index, repeat=2)
        ]
        return type(points)(pairs, columns=[*axes, VALUE])

    made = picture.chosen(f"alike of {picture.name}", shares, axes=axes, worst=math.nan)
    return replace(made, rows=picture.rows)


def _alike(picture: Any, row: str, other: str) -> Sum:
    """Return the share of columns in which two rows are on one side of ½."""
    shares = alike(picture)
    first, second = shares.axes
    for label in (row, other):
        _need_row(picture, label)

    def field(points: "DataFrame") -> "DataFrame":
        return points.loc[(points[first] == row) & (points[second] == other)]

    return shares.chosen(f"{shares.name} “{row}” “{other}”", field, axes=()).number("", _last)


def others(picture: Any, row: str) -> Curve:
    """Return a row of a picture without the diagonal."""
    rows, columns = _curve(picture, "others", axes=(2,)).axes
    _need_row(picture, row)

    def without(points: "DataFrame") -> "DataFrame":
        return points.loc[(points[rows] == row) & (points[columns] != row)]

    return picture.chosen(f"the rest of row {row} of {picture.name}", without, axes=(columns,))


def near(intervals: Intervals, value: Any, target: Any, by: Any) -> Truth:
    """Return whether two numbers differ by at most an amount."""
    _need(not isinstance(by, tuple), "near", "one number", by, "name one row and one column")
    return compare(intervals, abs_(minus(value, target)), "<=", by)


def _ordered(operator: Operator, name: str, intervals: Intervals, values: Any) -> Truth:
    """Return whether each number is above, or below, the one before."""
    pairs = pairwise(_several(values, name))
    return every(compare(intervals, before, operator, after) for before, after in pairs)


def trained(_: Intervals, cells: Any) -> Truth:
    """Return whether all seeds of each run have a result."""
    return _outcomes(cells, "trained", lambda term: term.lost or (term.words and not term.missing))


def failed(_: Intervals, cells: Any) -> Truth:
    """Return whether no seed of any run has a result."""
    return _outcomes(cells, "failed", lambda term: term.by_seed or not term.words)


def significant(_: Intervals, cells: Any) -> Truth:
    """Return whether each cell has the mark of a significant gain."""
    return every(map(_gains, _terms(cells, "significant")))


NUMBERS: dict[str, Callable[..., Any]] = {
    "max": partial(_extreme, 1, "maximum"),
    "min": partial(_extreme, -1, "minimum"),
    "abs": abs_,
    "sd": partial(_along, "sd", "std", "deviations"),
    "first": partial(_part, "first"),
    "last": partial(_part, "last"),
} | {of.__name__: of for of in (mean, median, spread, end, agreement, alike, others)}
# The same names with a label behind the first argument.
LABELLED: dict[str, Callable[..., Any]] = {
    "max": partial(_along, "max", "max", "maxima"),
    "min": partial(_along, "min", "min", "minima"),
    "mean": partial(_along, "mean", "mean", "means"),
    "alike": _alike,
}
TRUTHS: dict[str, Callable[..., Truth]] = {
    "rising": partial(_ordered, "<", "rising"),
    "falling": partial(_ordered, ">", "falling"),
} | {of.__name__: of for of in (near, trained, failed, significant)}


def _need(fits: bool, taker: str, needed: str, value: Any, remedy: str) -> None:
    """Refuse an argument that a function does not take."""
    if not fits:
        given = "several numbers" if isinstance(value, tuple) else "one number"
        if isinstance(value, Curve):
            given = ("one number", "a curve", "a picture")[len(value.axes)]
        raise Unfit(f"{taker} needs {needed}, and gets {given}", remedy)


def _need_row(picture: Curve, row: str) -> None:
    """Refuse a row that a picture does not have, where its rows are known."""
    if picture.rows and row not in picture.rows:
        raise Unfit(f"{picture.name} has no row '{row}'", nearest(row, picture.rows))


def _several(values: Any, taker: str) -> Slice:
    fits = isinstance(values, tuple)
    _need(fits, taker, "several numbers", values, "name several cells, or `:` for all")
    return values


def _curve(value: Any, taker: str, axes: tuple[int, ...] = (1,)) -> Curve:
    """Return a curve, or a picture where it may, or must, have two axes."""
    needed, remedy = "a curve", "name a line of a figure"
    if axes == (2,):
        needed, remedy = "a picture", "name a panel of a heat map"
    fits = isinstance(value, Curve) and len(value.axes) in axes
    _need(fits, taker, needed, value, remedy)
    return value


def _terms(cells: Any, taker: str) -> list[Term]:
    """Return the terms of cells of a table, which come without arithmetic."""
    items = items_of(cells) if isinstance(cells, Sum | tuple) else [None]
    terms = [
        term
        for item in items
        if isinstance(item, Sum) and [*item.weights.values()] == [1.0] and not item.constant
        for term in item.weights
        if term.of_table
    ]
    fits = len(terms) == len(items)
    _need(fits, taker, "cells of a table", cells, "name rows of a table, without arithmetic")
    return terms


def _outcomes(cells: Any, taker: str, fails: Callable[[Term], Any]) -> Truth:
    """Return what is true of all runs, by the first cell of each run and of each outcome."""
    runs: dict[tuple, Term] = {}
    for term in _terms(cells, taker):
        runs.setdefault((term.source, term.words, term.lost, term.awaited), term)
    outcomes = []
    for term in runs.values():
        is_open = term.missing or term.awaited
        answer = truths.FAILS if fails(term) else truths.ABSENT if is_open else truths.HOLDS
        has_later = term.awaited and not term.missing
        later = f", {term.awaited} of its seeds not run" if has_later else ""
        outcomes.append(Truth.of(term_text(term) + later, answer))
    return every(outcomes)


def _gains(term: Term) -> Truth:
    """Return whether a cell has the mark of a significant gain.

    The test knows nothing of seeds without a result, with which there may be no gain.
    """
    if term.missing:
        return Truth.of(term_text(term), truths.ABSENT)
    if term.gain is None:
        return Truth.of(f"{term_text(term)}, {UNTESTED}", truths.ABSENT)
    holds = truths.INCONCLUSIVE if term.lost else truths.HOLDS
    words = f"{'a' if term.gain else 'no'} {GAIN}"
    return Truth.of(f"{term_text(term)}, {words}", holds if term.gain else truths.FAILS)
