"""The functions of claims, each a few lines.

A function refuses what it does not take. Those of TRUTHS get the intervals of their numbers first.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from fathom.artefacts.claims import truths
from fathom.artefacts.claims.numbers import (
    Largest,
    Number,
    Slice,
    Sum,
    Term,
    Unfit,
    added,
    items_of,
    minus,
    scaled,
)
from fathom.artefacts.claims.truths import Intervals, Operator, Truth, compare, every, term_text

GAIN = "significant gain"
UNTESTED = "nothing to test its gain with"


def _extreme(sign: Literal[1, -1], *values: Any) -> Number:
    """Return the largest or the smallest number."""
    return Largest(sign, tuple(item for value in values for item in items_of(value)))


def mean(values: Any) -> Number:
    """Return the mean."""
    items = items_of(values)
    return scaled(added(items), 1 / len(items))


def spread(values: Any) -> Number:
    """Return the largest number less the smallest."""
    items = _several(values, "spread")
    return minus(Largest(1, items), Largest(-1, items))


def abs_(values: Any) -> Any:
    """Return sizes without sign."""
    sizes = tuple(Largest(1, (item, scaled(item, -1))) for item in items_of(values))
    return sizes if isinstance(values, tuple) else sizes[0]


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
    "max": partial(_extreme, 1),
    "min": partial(_extreme, -1),
    "abs": abs_,
    "mean": mean,
    "spread": spread,
}
TRUTHS: dict[str, Callable[..., Truth]] = {
    "rising": partial(_ordered, "<", "rising"),
    "falling": partial(_ordered, ">", "falling"),
} | {of.__name__: of for of in (near, trained, failed, significant)}


def _need(fits: bool, taker: str, needed: str, value: Any, remedy: str) -> None:
    """Refuse an argument that a function does not take."""
    if not fits:
        given = "several numbers" if isinstance(value, tuple) else "one number"
        raise Unfit(f"{taker} needs {needed}, and gets {given}", remedy)


def _several(values: Any, taker: str) -> Slice:
    fits = isinstance(values, tuple)
    _need(fits, taker, "several numbers", values, "name several cells, or `:` for all")
    return values


def _terms(cells: Any, taker: str) -> list[Term]:
    """Return the terms of cells of a table, which come without arithmetic."""
    items = items_of(cells)
    terms = [
        term
        for item in items
        if isinstance(item, Sum) and [*item.weights.values()] == [1.0] and not item.constant
        for term in item.weights
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
