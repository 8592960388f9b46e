"""What claims compute with: sums of measured numbers, the largest of several, slices."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from fathom.artefacts.table.results import CellResult

ROUNDING = 1e-12  # as a share of the numbers: what binary arithmetic adds to printed decimals


class Unfit(Exception):
    """What does not fit in a claim, and what to write instead."""

    def __init__(self, what: str, remedy: str = "correct the claim"):
        super().__init__(what)
        self.what, self.remedy = what, remedy


@dataclass(frozen=True, eq=False)
class Term:
    """A number that a table gives; compared by identity."""

    name: str  # what the output calls it
    # Mean over the seeds that have one; infinite for a run without a result, at the bad end of the
    # measurement; nan where the measurement has no bad end.
    value: float = math.nan
    words: str = ""  # what takes the place of a number: an outcome, `not run`
    missing: bool = False  # whether there is neither a number nor an outcome
    lost: str = ""  # how many seeds have no result, in words, where others have one
    worst: float = math.nan  # what a seed without a result has; nan without a bad end
    awaited: int = 0  # seeds that have neither a number nor an outcome yet
    stderr: float | None = None  # as printed
    source: str = ""  # the run or corpus; numbers of one training belong together
    by_seed: Mapping[int, float] = field(default_factory=dict)
    exact: bool = False  # whether another training gives the same number, e.g. of parameters
    cell: "CellResult | None" = None  # our cell, for the counts of its sentences
    gain: bool | None = None  # the mark of a significant gain; None without a test
    mark: str = ""  # a sign that the number is in doubt


@dataclass(frozen=True)
class Sum:
    """A weighted sum of terms and a constant; a term that cancels is left out.

    A number that the claim itself writes is a constant alone.
    """

    weights: Mapping[Term, float] = field(default_factory=dict)
    constant: float = 0.0

    @property
    def terms(self) -> tuple[Term, ...]:
        """Its terms."""
        return tuple(self.weights)

    @property
    def value(self) -> float:
        """The number; it may be infinite, or nan.

        Infinities of opposite sign cancel; if another term or a constant remains, it is nan.
        """
        items = [(term.value, factor) for term, factor in self.weights.items()]
        finite = [value * factor for value, factor in items if not math.isinf(value)]
        signs = [
            math.copysign(factor, value * factor) for value, factor in items if math.isinf(value)
        ]
        infinite = total(signs)
        if any(map(math.isnan, finite)) or (signs and (finite or self.constant) and not infinite):
            return math.nan
        return math.copysign(math.inf, infinite) if infinite else total((*finite, self.constant))


@dataclass(frozen=True)
class Largest:
    """The largest (sign 1) or the smallest (sign -1) of several numbers.

    A comparison with it is one with each of them: `max(a, b) > c` is `a > c or b > c`. So it needs
    no interval.
    """

    sign: Literal[1, -1]
    options: "tuple[Number, ...]"

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of all numbers."""
        return tuple(term for option in self.options for term in option.terms)

    @property
    def value(self) -> float:
        """The number; what is missing is left out."""
        values = [option.value for option in self.options if not math.isnan(option.value)]
        return self.sign * max((self.sign * value for value in values), default=math.nan)


Number = Sum | Largest
Slice = tuple[Number, ...]  # several numbers, in the order of the table


def is_written(value: Any) -> bool:
    """Return whether a claim itself writes a number."""
    return isinstance(value, Sum) and not value.weights


def scaled(value: Any, factor: float) -> Any:
    """Return a quantity times a factor; a negative one makes the largest the smallest."""
    if isinstance(value, tuple):
        return tuple(scaled(item, factor) for item in value)
    if isinstance(value, Largest):
        options = tuple(scaled(option, factor) for option in value.options)
        return Largest(1 if value.sign * factor >= 0 else -1, options)
    weights = {term: factor * weight for term, weight in value.weights.items() if factor}
    return Sum(weights, factor * value.constant)


def plus(first: Any, second: Any) -> Any:
    """Return a sum: of numbers, or of slices pair by pair."""
    if isinstance(first, tuple) or isinstance(second, tuple):
        return tuple(plus(*pair) for pair in together(first, second))
    if isinstance(first, Largest):
        return Largest(first.sign, tuple(plus(option, second) for option in first.options))
    if isinstance(second, Largest):
        return Largest(second.sign, tuple(plus(first, option) for option in second.options))
    weights = {
        term: total((first.weights.get(term, 0.0), second.weights.get(term, 0.0)))
        for term in (*first.weights, *second.weights)
    }
    weights = {term: factor for term, factor in weights.items() if factor}
    return Sum(weights, first.constant + second.constant)


def minus(first: Any, second: Any) -> Any:
    """Return a difference."""
    return plus(first, scaled(second, -1))


def times(first: Any, second: Any) -> Any:
    """Return a product, of which one factor must be a written number."""
    value, factor = (second, first) if is_written(first) else (first, second)
    if not is_written(factor):
        raise Unfit("two measured numbers cannot be multiplied", "take a written number")
    return scaled(value, factor.constant)


def total(numbers: Iterable[float]) -> float:
    """Return a sum; it is 0 where only rounding is left of the numbers."""
    numbers = list(numbers)
    added, size = math.fsum(numbers), math.fsum(map(abs, numbers))
    return 0.0 if abs(added) <= ROUNDING * size else added


def added(numbers: Iterable[Number]) -> Number:
    """Return the sum of some numbers."""
    return reduce(lambda whole, number: plus(number, whole), numbers, Sum())


def items_of(value: Any) -> tuple[Number, ...]:
    """Return the numbers of a slice, or the one number."""
    return value if isinstance(value, tuple) else (value,)


def together(left: Any, right: Any) -> list[tuple[Number, Number]]:
    """Return the pairs of two slices of one length; a number goes with each of a slice."""
    first, second = items_of(left), items_of(right)
    length = max(len(first), len(second))
    if {len(first), len(second)} - {1, length}:
        raise Unfit(f"{len(first)} and {len(second)} cells cannot be compared")
    pairs = zip(first * (length // len(first)), second * (length // len(second)), strict=True)
    return list(pairs)
