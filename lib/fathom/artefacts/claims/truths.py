"""Three-valued answers: comparisons of numbers with intervals, and what joins them.

`and` fails where one part fails, whatever the others are; `or` holds where one part holds. Else
what is not run comes before what is inconclusive.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from fathom.artefacts.claims.arithmetic import of_numbers, together
from fathom.artefacts.claims.evidence import (
    Answer,
    Evidence,
    Interval,
    bounds,
    comparison,
    seeds_text,
    sum_text,
    term_text,
)
from fathom.artefacts.claims.quantities import (
    Largest,
    Number,
    Operator,
    Quantity,
    Sum,
    Term,
    items_of,
    terms_of,
)

HOLDS, FAILS, INCONCLUSIVE, ABSENT = "holds", "fails", "inconclusive", "absent"
GAIN = "significant gain"
UNTESTED = "nothing to test its gain with"
TOO_FEW = "fewer than two numbers to compare"
NO_WORST = "no worst value takes the place of a missing result"
CANCEL = "how far apart two runs without a result are is not known"
_OPPOSITE: Mapping[Answer, Answer] = {
    HOLDS: FAILS,
    FAILS: HOLDS,
    INCONCLUSIVE: INCONCLUSIVE,
    ABSENT: ABSENT,
}
_ABOVE = (">", ">=")
_MIRRORED: Mapping[Operator, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}


class Numbers(Protocol):
    """What is known of numbers of one origin."""

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return what surrounds a sum of terms, each of which has a number."""
        ...

    def gains(self, term: Term) -> bool | None:
        """Return whether a cell has the mark of a significant gain."""
        ...


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
        pairs = list(zip(*together(left, right), strict=True))
        differences = [of_numbers("-", *pair) for pair in pairs]
        truths = [self._compared(one, operator) for one in differences]
        truth = self.all(truths)
        numbers = (*items_of(left), *items_of(right))
        written = all(isinstance(one, Sum) and not one.weights for one in numbers)
        if truth.evidence or written:
            return truth
        if not any(term for one in differences for term in terms_of(one)):
            return self.all(())
        # What decides is a number that is among those that it is compared with.
        deciding = [pair for pair, one in zip(pairs, truths, strict=True) if one == truth]
        return Truth(truth.answer, _with_itself(deciding, operator, truth.answer))

    def _compared(self, difference: Number, operator: Operator) -> Truth:
        """Return how a difference compares with 0; the largest of several by each of them."""
        if isinstance(difference, Largest):
            parts = [self._compared(option, operator) for option in difference.options]
            above = operator in _ABOVE
            return self.any(parts) if above == (difference.sign > 0) else self.all(parts)
        if next(iter(difference.weights.values()), 1.0) < 0:
            # `0.7 <= a - b` reads better as `a - b >= 0.7`.
            difference, operator = difference.times(-1), _MIRRORED[operator]
        gap = difference.value
        interval = Interval(None, "")
        answer: Answer = ABSENT
        if not difference.missing and math.isnan(gap):
            unknown = any(math.isnan(term.value) for term in difference.weights)
            answer, interval = INCONCLUSIVE, Interval(None, NO_WORST if unknown else CANCEL)
        elif not difference.missing:
            if difference.weights and all(math.isfinite(one.value) for one in difference.weights):
                interval = self.numbers.interval(difference.weights)
            answer = _answer(*bounds(difference, gap, interval.half or 0.0), operator)
        fact = comparison(difference, operator, answer, interval)
        return Truth(answer, (fact,) if difference.weights else ())

    def has_results(self, term: Term) -> Truth:
        """Return whether all seeds of a run have a result."""
        without = term.lost or (term.words and not term.missing)
        absent = term.missing or term.awaited
        answer: Answer = FAILS if without else ABSENT if absent else HOLDS
        return Truth(answer, (Evidence(seeds_text(term), answer),))

    def has_none(self, term: Term) -> Truth:
        """Return whether no seed of a run has a result."""
        some = term.by_seed or not term.words
        absent = term.missing or term.awaited
        answer: Answer = FAILS if some else ABSENT if absent else HOLDS
        return Truth(answer, (Evidence(seeds_text(term), answer),))

    def gains(self, term: Term) -> Truth:
        """Return whether a cell has the mark of a significant gain."""
        if term.missing:
            return Truth(ABSENT, (Evidence(term_text(term), ABSENT),))
        gained = self.numbers.gains(term)
        words = UNTESTED if gained is None else f"{'a' if gained else 'no'} {GAIN}"
        # The test knows nothing of seeds without a result, with which there may be no gain.
        holds: Answer = INCONCLUSIVE if term.lost else HOLDS
        answer: Answer = ABSENT if gained is None else holds if gained else FAILS
        return Truth(answer, (Evidence(f"{term_text(term)}, {words}", answer),))

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


def _with_itself(
    pairs: Iterable[tuple[Number, Number]], operator: Operator, answer: Answer
) -> tuple[Evidence, ...]:
    """Return that a number is compared with itself, once for each number."""
    own = (one for pair in pairs for one in pair if isinstance(one, Sum) and one.weights)
    names = dict.fromkeys(sum_text(one.weights) for one in own)
    return tuple(Evidence(f"{name} {operator} itself", answer) for name in names)


def _answer(low: float, high: float, operator: Operator) -> Answer:
    """Return whether all of an interval is on one side of 0, which belongs to `>=` and `<=`."""
    if operator not in _ABOVE:
        low, high = -high, -low
    if operator in (">", "<"):
        return HOLDS if low > 0 else FAILS if high <= 0 else INCONCLUSIVE
    return HOLDS if low >= 0 else FAILS if high < 0 else INCONCLUSIVE
