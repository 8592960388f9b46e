"""Three-valued answers of expressions, on whatever their numbers come from.

`and` fails where one part fails, whatever the others are; `or` holds where one part holds. Else
what is not run comes before what is inconclusive.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol

from fathom.claims.expressions import (
    Arithmetic,
    Call,
    Comparison,
    Expression,
    Junction,
    Negation,
    Operator,
    Reference,
    Word,
)
from fathom.claims.expressions import Number as Constant
from fathom.claims.functions import FUNCTIONS
from fathom.claims.quantities import (
    Curve,
    Largest,
    Number,
    Quantity,
    Slice,
    Sum,
    Term,
    Unfit,
    constant,
    items_of,
)
from fathom.errors import FathomError

HOLDS, FAILS, INCONCLUSIVE, ABSENT = "holds", "fails", "inconclusive", "absent"
Answer = Literal["holds", "fails", "inconclusive", "absent"]
_OPPOSITE: Mapping[Answer, Answer] = {
    HOLDS: FAILS,
    FAILS: HOLDS,
    INCONCLUSIVE: INCONCLUSIVE,
    ABSENT: ABSENT,
}
_ABOVE = (">", ">=")
_MIRRORED: Mapping[Operator, Operator] = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_DIGITS = 9  # what binary arithmetic adds to printed decimals is further behind


@dataclass(frozen=True)
class Interval:
    """What surrounds a number.

    Attributes:
        half: half of the 95 % interval; None where the number alone decides.
        basis: what it is, or why there is none, in words.
    """

    half: float | None
    basis: str


class World(Protocol):
    """Where numbers come from: the paper's own cells, or our results."""

    def shown(self, reference: Reference) -> Quantity:
        """Return cells, a curve or a picture."""
        ...

    def interval(self, weights: Mapping[Term, float]) -> Interval:
        """Return what surrounds a sum of terms, each of which has a number."""
        ...

    def gains(self, term: Term) -> bool:
        """Return whether a cell has the mark of a significant gain."""
        ...


@dataclass(frozen=True)
class Evidence:
    """One comparison of numbers, or one outcome, that an answer rests on.

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
class Judge:
    """Answers expressions on numbers of one origin.

    Attributes:
        world: where the numbers come from.
        where: file, line and key of the expression, for messages.
    """

    world: World
    where: str

    def truth(self, expression: Expression) -> Truth:
        """Return the answer of a claim or a guard.

        Raises:
            FathomError: values do not fit together, e.g. a curve that is not summarised.
        """
        try:
            return self._truth(expression)
        except Unfit as unfit:
            raise FathomError(str(unfit), self.where, "correct the claim") from None

    def _truth(self, expression: Expression) -> Truth:
        if isinstance(expression, Junction):
            parts = (self._truth(part) for part in expression.parts)
            return self.all(parts) if expression.operator == "and" else self.any(parts)
        if isinstance(expression, Negation):
            return self.no(self._truth(expression.part))
        if isinstance(expression, Comparison):
            values = [self.value(operand) for operand in expression.operands]
            pairs = zip(pairwise(values), expression.operators, strict=True)
            return self.all(
                self.compare(left, operator, right) for (left, right), operator in pairs
            )
        if isinstance(expression, Call):
            values = [self.value(argument) for argument in expression.arguments]
            return FUNCTIONS[expression.function].compute(self, *values)
        raise Unfit("neither true nor false")

    def value(self, expression: Expression) -> Quantity:
        """Return the number, cells or curve of an expression; a word is itself."""
        if isinstance(expression, Constant):
            return constant(expression.value)
        if isinstance(expression, Reference):
            return self.world.shown(expression)
        if isinstance(expression, Arithmetic):
            operands = self.value(expression.left), self.value(expression.right)
            return self.computed(expression.operator, *operands)
        if isinstance(expression, Call):
            values = [self.value(argument) for argument in expression.arguments]
            return FUNCTIONS[expression.function].compute(*values)
        if isinstance(expression, Word):
            return expression.text  # pyright: ignore[reportReturnType]
        raise Unfit("no number")

    def computed(self, operator: str, left: Quantity, right: Quantity) -> Quantity:
        """Return a sum, difference or product; of slices pair by pair."""
        if isinstance(left, Curve) or isinstance(right, Curve):
            return _of_curve(operator, left, right)
        if isinstance(left, Slice) or isinstance(right, Slice):
            pairs = zip(*_together(left, right), strict=True)
            return Slice(tuple(_computed(operator, *pair) for pair in pairs))
        return _computed(operator, left, right)

    def compare(self, left: Quantity, operator: Operator, right: Quantity) -> Truth:
        """Return whether a comparison holds; of slices pair by pair."""
        pairs = zip(*_together(left, right), strict=True)
        return self.all(self._compared(_computed("-", *pair), operator) for pair in pairs)

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
        gap = round(difference.value, _DIGITS)
        if difference.missing or math.isnan(gap):
            answer: Answer = ABSENT if difference.missing else INCONCLUSIVE
            interval = Interval(None, "")
        else:
            known = difference.weights and all(
                math.isfinite(one.value) for one in difference.weights
            )
            interval = self.world.interval(difference.weights) if known else Interval(None, "")
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
        answer: Answer = HOLDS if self.world.gains(term) else FAILS
        words = "a significant gain" if answer == HOLDS else "no significant gain"
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
    """Return the first answer in an order that any truth has, with the evidence of those."""
    parts = list(truths)
    given: set[Answer] = {part.answer for part in parts}
    answer: Answer = next((one for one in order if one in given), order[-1])
    facts = (fact for part in parts if part.answer == answer for fact in part.evidence)
    return Truth(answer, tuple(dict.fromkeys(facts)))


def _answer(gap: float, half: float, operator: Operator) -> Answer:
    """Return whether a whole interval is on one side of 0, which belongs to `>=` and `<=`."""
    if operator not in _ABOVE:
        gap = -gap
    low, high = gap - half, gap + half
    if operator in (">", "<"):
        return HOLDS if low > 0 else FAILS if high <= 0 else INCONCLUSIVE
    return HOLDS if low >= 0 else FAILS if high < 0 else INCONCLUSIVE


def _together(left: Quantity, right: Quantity) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """Return two slices of one length; a number goes with each of a slice."""
    first, second = items_of(left), items_of(right)
    length = max(len(first), len(second))
    if not first or not second or {len(first), len(second)} - {1, length}:
        raise Unfit(f"{len(first)} and {len(second)} cells cannot be compared")
    return first * (length // len(first)), second * (length // len(second))


def _computed(operator: str, left: Number, right: Number) -> Number:
    if operator == "*":
        for factor, other in ((left, right), (right, left)):
            if isinstance(factor, Sum) and not factor.weights:
                return other.times(factor.constant)
        raise Unfit("two measured numbers cannot be multiplied")
    return left.plus(right.times(-1) if operator == "-" else right)


def _of_curve(operator: str, left: Quantity, right: Quantity) -> Curve:
    """Return a curve that is shifted or scaled by a number."""
    curve, other = (left, right) if isinstance(left, Curve) else (right, left)
    if not isinstance(curve, Curve) or not isinstance(other, Sum) or other.weights:
        raise Unfit("a curve is computed with a written number alone")
    number = other.constant
    if operator == "*":
        return curve.each(f"{number:g} × {curve.name}", lambda values: values * number)
    if operator == "+":
        return curve.each(f"{curve.name} + {number:g}", lambda values: values + number)
    if curve is left:
        return curve.each(f"{curve.name} - {number:g}", lambda values: values - number)
    return curve.each(f"{number:g} - {curve.name}", lambda values: number - values)


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
