"""Three-valued answers: comparisons of numbers with intervals, what joins them, and their lines."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from fathom.scoring.students_t import OUTSIDE, holm_shares

Answer = Literal["holds", "fails", "inconclusive", "absent"]
Operator = Literal["<", ">", "<=", ">="]
HOLDS, FAILS, INCONCLUSIVE, ABSENT = "holds", "fails", "inconclusive", "absent"
TOO_FEW = "fewer than two numbers to compare"
NO_WORST = "no worst value takes the place of a missing result"
CANCEL = "how far apart two runs without a result are is not known"
HOLM = "{}; {} comparisons, Holm"
TO_THE_WORST = "to the worst value where some seeds have no result"
_OPPOSITE: Mapping[Answer, Answer] = {HOLDS: FAILS, FAILS: HOLDS}
_ABOVE = (">", ">=")
_MIRRORED: Mapping[Operator, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NEGATED: Mapping[str, Operator] = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


@dataclass(frozen=True)
class Interval:
    """What surrounds a number: half of it by the chance to be outside, None where it decides."""

    half: Callable[[float], float] | None
    basis: str  # what it is, with `{}` for its level, or why there is none


@dataclass
class Intervals:
    """The intervals of all comparisons of an expression.

    Where all must agree, each is judged at 5 %. Where one of several decides alone, it is judged at
    its share of 5 %, which is known once all comparisons have been asked for.
    """

    # From a sum of terms, each of which has a number, to what surrounds it.
    of: Callable[[Mapping[Term, float]], Interval]
    shares: Sequence[float] = ()
    # Of each comparison that has an interval: whether that decides it, by the chance of an error.
    comparisons: list[Callable[[float], bool]] = field(default_factory=list)

    def corrected(self) -> "Intervals":
        """Return the same for a second evaluation, with the shares of Holm's procedure."""
        return Intervals(self.of, holm_shares(self.comparisons))

    def share(self, decided: Callable[[float], bool]) -> float:
        """Return the chance of an error at which the next comparison may decide alone."""
        self.comparisons.append(decided)
        return self.shares[len(self.comparisons) - 1] if self.shares else OUTSIDE


@dataclass(frozen=True)
class Evidence:
    """One comparison of numbers, or one outcome, that decides an answer."""

    measured: str  # what is compared, with its number; or the outcome
    answer: Answer
    difference: float | None = None  # what is compared
    # Its interval; None without one, and on a side where it has no end.
    low: float | None = None
    high: float | None = None
    basis: str = ""  # what the interval is, or why there is none
    required: tuple[Operator, str] | None = None  # how it must compare; None for an outcome

    @property
    def text(self) -> str:
        """The comparison in a line."""
        if self.required is None:
            return self.measured
        return f"{self.measured}, must be {' '.join(self.required)}"

    def __invert__(self) -> "Evidence":
        if self.required is None:
            return self
        operator, bound = self.required
        return replace(self, required=(_NEGATED[operator], bound))


@dataclass(frozen=True)
class Truth:
    """An answer with the evidence that decides it."""

    answer: Answer
    evidence: tuple[Evidence, ...] = ()
    # The same where it may decide alone, as one of several; None for the same.
    alone: "Truth | None" = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str, answer: Answer) -> "Truth":
        """Return an answer that one line decides."""
        return cls(answer, (Evidence(text, answer),))

    def __invert__(self) -> "Truth":
        alone = ~self.alone if self.alone else None
        evidence = tuple(~fact for fact in self.evidence)
        return Truth(_OPPOSITE.get(self.answer, self.answer), evidence, alone)


def every(truths: Iterable[Truth]) -> Truth:
    """Return `and`: it fails where one part fails; else what is not run comes before the rest."""
    return _joined(truths, (FAILS, ABSENT, INCONCLUSIVE, HOLDS))


def some(truths: Iterable[Truth]) -> Truth:
    """Return `or`: it holds where one part holds; else what is not run comes before the rest."""
    return _joined(truths, (HOLDS, ABSENT, INCONCLUSIVE, FAILS))


def _joined(truths: Iterable[Truth], order: tuple[Answer, ...]) -> Truth:
    """Return what several truths give: each the first answer alone, or all together the last."""
    parts: list[Truth] = [*truths] or [Truth.of(TOO_FEW, ABSENT)]
    if len(parts) == 1:
        return parts[0]
    alone = [part.alone or part for part in parts]
    chosen = [
        one if each.answer == order[0] else each for each, one in zip(parts, alone, strict=True)
    ]
    return replace(_first(chosen, order), alone=_first(alone, order))


def _first(parts: Sequence[Truth], order: tuple[Answer, ...]) -> Truth:
    """Return the first answer in an order that any part has, with the evidence of those."""
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
    facts = (Evidence(name, truth.answer, required=(operator, "itself")) for name in names)
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
    if any(term.missing for term in number.terms):
        return _judged(number, math.nan, operator, ABSENT, None, "")
    if math.isnan(gap):
        why = NO_WORST if any(map(math.isnan, values)) else CANCEL
        return _judged(number, gap, operator, INCONCLUSIVE, None, why)
    finite = bool(values) and all(map(math.isfinite, values))
    interval = intervals.of(number.weights) if finite else Interval(None, "")

    def judged(error: float, holm: str = "{}") -> Truth:
        half = interval.half(error) if interval.half else None
        answer = _answer(*_bounds(number, gap, half), operator)
        basis = holm.format(interval.basis.format(f"{100 * (1 - error):.4g} %"))
        return _judged(number, gap, operator, answer, half, basis)

    if interval.half is None:
        return judged(OUTSIDE)
    share = intervals.share(lambda error: judged(error).answer != INCONCLUSIVE)
    corrected = HOLM.format("{}", len(intervals.shares))
    return replace(judged(OUTSIDE), alone=judged(share, corrected) if intervals.shares else None)


def _bounds(difference: Sum, middle: float, half: float | None) -> tuple[float, float]:
    """Return the ends of an interval.

    A seed without a result may be as bad as the worst value, so the interval reaches to it. Where
    the measurement has no worst value, it reaches to both sides.
    """
    worst = [factor * term.worst for term, factor in difference.weights.items() if term.lost]
    around = half or 0.0
    low = -math.inf if any(bound != math.inf for bound in worst) else middle - around
    high = math.inf if any(bound != -math.inf for bound in worst) else middle + around
    return low, high


def _answer(low: float, high: float, operator: Operator) -> Answer:
    """Return whether all of an interval is on one side of 0, which belongs to `>=` and `<=`."""
    if operator not in _ABOVE:
        low, high = -high, -low
    if operator in (">", "<"):
        return HOLDS if low > 0 else FAILS if high <= 0 else INCONCLUSIVE
    return HOLDS if low >= 0 else FAILS if high < 0 else INCONCLUSIVE


def _judged(
    difference: Sum, gap: float, relation: Operator, answer: Answer, half: float | None, basis: str
) -> Truth:
    """Return how a difference, whose value is the gap, compares with 0, and the line of it."""
    if not difference.terms:
        return Truth(answer)
    text, margin = sum_text(difference.weights), 0.0 - difference.constant
    size = low = high = None
    lost = any(term.lost for term in difference.terms)
    if math.isfinite(gap):
        size = Sum(difference.weights).value
        plain = len(difference.weights) == 1 and not text.startswith("-") and "×" not in text
        text += "" if plain else f" = {size:.3g}"
        if lost or half is not None:
            low, high = _bounds(difference, size, half)
            text += f" [{low:.3g}, {high:.3g}]"
    fact = Evidence(
        measured=text,
        answer=answer,
        difference=size,
        low=low if low is not None and math.isfinite(low) else None,
        high=high if high is not None and math.isfinite(high) else None,
        basis="; ".join(filter(None, (basis, TO_THE_WORST if lost else ""))),
        required=(relation, f"{margin:g}"),
    )
    return Truth(answer, (fact,))


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
