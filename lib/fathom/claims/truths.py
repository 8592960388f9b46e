"""Three-valued answers: comparisons of numbers with intervals, and what joins them.

`and` fails where one part fails, whatever the others are; `or` holds where one part holds. Else
what is not run comes before what is inconclusive.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from fathom.claims.arithmetic import of_numbers, together
from fathom.claims.quantities import Largest, Number, Operator, Quantity, Sum, Term, items_of

Answer = Literal["holds", "fails", "inconclusive", "absent"]
HOLDS, FAILS, INCONCLUSIVE, ABSENT = "holds", "fails", "inconclusive", "absent"
UNTESTED = "nothing to test its gain with"
TOO_FEW = "fewer than two numbers to compare"
_OPPOSITE: Mapping[Answer, Answer] = {
    HOLDS: FAILS,
    FAILS: HOLDS,
    INCONCLUSIVE: INCONCLUSIVE,
    ABSENT: ABSENT,
}
_ABOVE = (">", ">=")
_MIRRORED: Mapping[Operator, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


@dataclass(frozen=True)
class Interval:
    """What surrounds a number.

    Attributes:
        half: half of the 95 % interval; None where the number alone decides.
        basis: what it is, or why there is none, in words.
    """

    half: float | None
    basis: str


class Numbers(Protocol):
    """What is known of numbers of one origin."""

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return what surrounds a sum of terms, each of which has a number."""
        ...

    def gains(self, term: Term) -> bool | None:
        """Return whether a cell has the mark of a significant gain."""
        ...


@dataclass(frozen=True)
class Evidence:
    """One comparison of numbers, or one outcome, that decides an answer.

    Attributes:
        text: the comparison in a line.
        answer: holds, fails, inconclusive, or absent: a number is not there.
        difference: what is compared with the margin; None where a number is not there.
        low, high: its 95 % interval; None without one.
        relation, margin: what must be: above (`>`), at least, below or at most a number.
        basis: what the interval is, or why there is none.
    """

    text: str
    answer: Answer
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    relation: str = ""
    margin: float | None = None
    basis: str = ""


@dataclass(frozen=True)
class Truth:
    """An answer with the evidence that decides it."""

    answer: Answer
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Logic:
    """Compares numbers of one origin, and joins what is true of them.

    Attributes:
        numbers: what is known of the numbers.
    """

    numbers: Numbers

    def compare(self, left: Quantity, operator: Operator, right: Quantity) -> Truth:
        """Return whether a comparison holds; of slices pair by pair.

        A number compared with nothing but itself has no answer.
        """
        pairs = zip(*together(left, right), strict=True)
        truth = self.all(self._compared(of_numbers("-", *pair), operator) for pair in pairs)
        numbers = (*items_of(left), *items_of(right))
        written = all(isinstance(one, Sum) and not one.weights for one in numbers)
        return truth if truth.evidence or written else self.all(())

    def _compared(self, difference: Number, operator: Operator) -> Truth:
        """Return how a difference compares with 0; the largest of several by each of them."""
        if isinstance(difference, Largest):
            parts = [self._compared(option, operator) for option in difference.options]
            above = operator in _ABOVE
            return self.any(parts) if above == (difference.sign > 0) else self.all(parts)
        if next(iter(difference.weights.values()), 1.0) < 0:
            # `0.7 <= a - b` reads better as `a - b >= 0.7`.
            difference, operator = difference.times(-1), _MIRRORED[operator]
        relation, margin = operator, 0.0 - difference.constant
        size = difference.of_terms
        gap = difference.value
        if difference.missing or math.isnan(gap):
            answer: Answer = ABSENT if difference.missing else INCONCLUSIVE
            interval = Interval(None, "")
        else:
            known = difference.weights and all(
                math.isfinite(one.value) for one in difference.weights
            )
            interval = self.numbers.interval(difference.weights) if known else Interval(None, "")
            answer = _answer(gap, interval.half or 0.0, operator)
        number = size if math.isfinite(gap) and not difference.missing else None
        half = interval.half
        low, high = (None, None) if half is None or number is None else (size - half, size + half)
        text = _text(difference.weights, number, low, high, relation, margin)
        fact = Evidence(text, answer, number, low, high, relation, margin, interval.basis)
        return Truth(answer, (fact,) if difference.weights else ())

    def has_result(self, term: Term) -> Truth:
        """Return whether a run has a result."""
        answer: Answer = ABSENT if term.missing else FAILS if term.words else HOLDS
        return Truth(answer, (Evidence(_named(term), answer),))

    def gains(self, term: Term) -> Truth:
        """Return whether a cell has the mark of a significant gain."""
        if term.missing:
            return Truth(ABSENT, (Evidence(_named(term), ABSENT),))
        gained = self.numbers.gains(term)
        answer: Answer = ABSENT if gained is None else HOLDS if gained else FAILS
        words = {HOLDS: "a significant gain", FAILS: "no significant gain"}.get(answer, UNTESTED)
        return Truth(answer, (Evidence(f"{_named(term)}, {words}", answer),))

    def all(self, truths: Iterable[Truth]) -> Truth:
        """Return `and`."""
        return _joined(truths, (FAILS, ABSENT, INCONCLUSIVE, HOLDS))

    def any(self, truths: Iterable[Truth]) -> Truth:
        """Return `or`."""
        return _joined(truths, (HOLDS, ABSENT, INCONCLUSIVE, FAILS))

    def no(self, truth: Truth) -> Truth:
        """Return `not`."""
        return Truth(_OPPOSITE[truth.answer], truth.evidence)


def _joined(truths: Iterable[Truth], order: tuple[Answer, ...]) -> Truth:
    """Return the first answer in an order that any truth has, with the evidence of those.

    Of nothing, nothing holds.
    """
    parts = list(truths) or [Truth(ABSENT, (Evidence(TOO_FEW, ABSENT),))]
    answer = order[-1]
    for other in reversed(order):
        answer = other if any(part.answer == other for part in parts) else answer
    evidence = (fact for part in parts if part.answer == answer for fact in part.evidence)
    return Truth(answer, tuple(dict.fromkeys(evidence)))


def _answer(gap: float, half: float, operator: Operator) -> Answer:
    """Return whether all of an interval is on one side of 0, which belongs to `>=` and `<=`."""
    if operator not in _ABOVE:
        gap = -gap
    low, high = gap - half, gap + half
    if operator in (">", "<"):
        return HOLDS if low > 0 else FAILS if high <= 0 else INCONCLUSIVE
    return HOLDS if low >= 0 else FAILS if high < 0 else INCONCLUSIVE


def _named(term: Term) -> str:
    """Return a term with its number, or with what takes its place."""
    return f"{term.name} {term.words or f'{term.value:.4g}{term.mark}'}"


def _text(
    weights: Mapping[Term, float],
    size: float | None,
    low: float | None,
    high: float | None,
    relation: str,
    margin: float,
) -> str:
    """Return a comparison in a line, with its numbers."""
    terms = "".join(
        f" {'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor):.3g} × '}"
        f"{_named(term)}"
        for term, factor in weights.items()
    )
    terms = terms.removeprefix(" + ").strip()
    interval = f" [{low:.3g}, {high:.3g}]" if low is not None and high is not None else ""
    single = len(weights) == 1 and not terms.startswith("-") and "×" not in terms
    shown = "" if size is None or single else f" = {size:.3g}"
    return f"{terms}{shown}{interval} {relation} {margin:g}"
