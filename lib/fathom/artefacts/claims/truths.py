"""Three-valued answers: comparisons of numbers with intervals, what joins them, and their lines."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fathom.artefacts.claims.numbers import (
    Largest,
    Number,
    Sum,
    Term,
    is_written,
    minus,
    scaled,
    together,
)

Answer = Literal["holds", "fails", "inconclusive", "absent"]
Operator = Literal["<", ">", "<=", ">="]
HOLDS, FAILS, INCONCLUSIVE, ABSENT = "holds", "fails", "inconclusive", "absent"
TOO_FEW = "fewer than two numbers to compare"
NO_WORST = "no worst value takes the place of a missing result"
CANCEL = "how far apart two runs without a result are is not known"
TO_THE_WORST = "to the worst value where some seeds have no result"
_OPPOSITE: Mapping[Answer, Answer] = {HOLDS: FAILS, FAILS: HOLDS}
_ABOVE = (">", ">=")
_MIRRORED: Mapping[Operator, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@dataclass(frozen=True)
class Interval:
    """What surrounds a number: half of the 95 % interval, or None where the number decides."""

    half: float | None
    basis: str  # what it is, or why there is none


# From a sum of terms, each of which has a number, to what surrounds it.
Intervals = Callable[[Mapping[Term, float]], Interval]


@dataclass(frozen=True)
class Evidence:
    """One comparison of numbers, or one outcome, that decides an answer."""

    text: str  # the comparison in a line
    answer: Answer
    difference: float | None = None  # what is compared with the margin
    # Its 95 % interval; None without one, and on a side where it has no end.
    low: float | None = None
    high: float | None = None
    relation: str = ""  # what must be: above (`>`), at least, below or at most the margin
    margin: float | None = None
    basis: str = ""  # what the interval is, or why there is none


@dataclass(frozen=True)
class Truth:
    """An answer with the evidence that decides it."""

    answer: Answer
    evidence: tuple[Evidence, ...] = ()

    @classmethod
    def of(cls, text: str, answer: Answer) -> "Truth":
        """Return an answer that one line decides."""
        return cls(answer, (Evidence(text, answer),))

    def __invert__(self) -> "Truth":
        return Truth(_OPPOSITE.get(self.answer, self.answer), self.evidence)


def every(truths: Iterable[Truth]) -> Truth:
    """Return `and`: it fails where one part fails; else what is not run comes before the rest."""
    return _joined(truths, (FAILS, ABSENT, INCONCLUSIVE, HOLDS))


def some(truths: Iterable[Truth]) -> Truth:
    """Return `or`: it holds where one part holds; else what is not run comes before the rest."""
    return _joined(truths, (HOLDS, ABSENT, INCONCLUSIVE, FAILS))


def _joined(truths: Iterable[Truth], order: tuple[Answer, ...]) -> Truth:
    """Return the first answer in an order that any truth has, with the evidence of those."""
    parts: list[Truth] = [*truths] or [Truth.of(TOO_FEW, ABSENT)]
    answer: Answer = next(each for each in order if any(part.answer == each for part in parts))
    evidence = (fact for part in parts if part.answer == answer for fact in part.evidence)
    return Truth(answer, tuple(dict.fromkeys(evidence)))


def compare(intervals: Intervals, left: Any, operator: Operator, right: Any) -> Truth:
    """Return whether a comparison of numbers holds; of slices pair by pair.

    A number compared with nothing but itself has no answer.
    """
    pairs = together(left, right)
    differences = [minus(*pair) for pair in pairs]
    truths = [_compared(intervals, difference, operator) for difference in differences]
    truth = every(truths)
    if truth.evidence or all(is_written(number) for pair in pairs for number in pair):
        return truth
    if not any(difference.terms for difference in differences):
        return every(())
    # What decides is a number that is among those that it is compared with.
    same = [pair for pair, each in zip(pairs, truths, strict=True) if each == truth]
    sums = [number for pair in same for number in pair if isinstance(number, Sum)]
    names = dict.fromkeys(sum_text(number.weights) for number in sums if number.weights)
    facts = (Evidence(f"{name} {operator} itself", truth.answer) for name in names)
    return Truth(truth.answer, tuple(facts))


def _compared(intervals: Intervals, difference: Number, operator: Operator) -> Truth:
    """Return how a difference compares with 0; the largest of several by each of them."""
    if isinstance(difference, Largest):
        parts = [_compared(intervals, option, operator) for option in difference.options]
        return some(parts) if (operator in _ABOVE) == (difference.sign > 0) else every(parts)
    number: Sum = difference
    if next(iter(difference.weights.values()), 1.0) < 0:
        # `0.7 <= a - b` reads better as `a - b >= 0.7`.
        number, operator = scaled(difference, -1), _MIRRORED[operator]
    gap, values = number.value, [term.value for term in number.terms]
    answer: Answer = ABSENT
    interval = Interval(None, "")
    if any(term.missing for term in number.terms):
        gap = math.nan
    elif math.isnan(gap):
        why = NO_WORST if any(map(math.isnan, values)) else CANCEL
        answer, interval = INCONCLUSIVE, Interval(None, why)
    else:
        if values and all(map(math.isfinite, values)):
            interval = intervals(number.weights)
        answer = _answer(*_bounds(number, gap, interval), operator)
    facts = (_evidence(number, gap, operator, answer, interval),) if values else ()
    return Truth(answer, facts)


def _bounds(difference: Sum, middle: float, interval: Interval) -> tuple[float, float]:
    """Return the ends of an interval.

    A seed without a result may be as bad as the worst value, so the interval reaches to it. Where
    the measurement has no worst value, it reaches to both sides.
    """
    worst = [factor * term.worst for term, factor in difference.weights.items() if term.lost]
    half = interval.half or 0.0
    low = -math.inf if any(bound != math.inf for bound in worst) else middle - half
    high = math.inf if any(bound != -math.inf for bound in worst) else middle + half
    return low, high


def _answer(low: float, high: float, operator: Operator) -> Answer:
    """Return whether all of an interval is on one side of 0, which belongs to `>=` and `<=`."""
    if operator not in _ABOVE:
        low, high = -high, -low
    if operator in (">", "<"):
        return HOLDS if low > 0 else FAILS if high <= 0 else INCONCLUSIVE
    return HOLDS if low >= 0 else FAILS if high < 0 else INCONCLUSIVE


def _evidence(
    difference: Sum, gap: float, relation: Operator, answer: Answer, interval: Interval
) -> Evidence:
    """Return how a difference, whose value is the gap, compares with 0, in a line."""
    text, margin = sum_text(difference.weights), 0.0 - difference.constant
    size = low = high = None
    lost = any(term.lost for term in difference.terms)
    if math.isfinite(gap):
        size = Sum(difference.weights).value
        plain = len(difference.weights) == 1 and not text.startswith("-") and "×" not in text
        text += "" if plain else f" = {size:.3g}"
        if lost or interval.half is not None:
            low, high = _bounds(difference, size, interval)
            text += f" [{low:.3g}, {high:.3g}]"
    return Evidence(
        text=f"{text} {relation} {margin:g}",
        answer=answer,
        difference=size,
        low=low if low is not None and math.isfinite(low) else None,
        high=high if high is not None and math.isfinite(high) else None,
        relation=relation,
        margin=margin,
        basis="; ".join(filter(None, (interval.basis, TO_THE_WORST if lost else ""))),
    )


def term_text(term: Term) -> str:
    """Return a term with its number, or with what takes its place, and what its seeds lack."""
    if term.words:
        return ", ".join(filter(None, (f"{term.name} {term.words}", term.lost)))
    lost = f" ({term.lost})" if term.lost else ""
    return f"{term.name} {term.value:.4g}{term.mark}{lost}"


def sum_text(weights: Mapping[Term, float]) -> str:
    """Return a sum of terms in a line."""
    terms = "".join(
        f" {'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor):.3g} × '}"
        f"{term_text(term)}"
        for term, factor in weights.items()
    )
    return terms.removeprefix(" + ").strip()
