"""What claims compute with: sums of measured numbers, the largest of several, curves."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from fathom.artefacts.table.results import CellResult

VALUE = "value"
ROUNDING = 1e-12  # as a share of the numbers: what binary arithmetic adds to printed decimals
Operator = Literal["<", ">", "<=", ">="]


class Unfit(Exception):
    """Values that do not fit together, in words."""


@dataclass(frozen=True, eq=False)
class Term:
    """A number that a table or a curve gives; compared by identity.

    Attributes:
        name: what the output calls it.
        value: mean over the seeds that have one; infinite for a run without a result, at the bad
            end of the measurement; nan where the measurement has no bad end.
        words: what takes the place of a number: an outcome, `not run`.
        missing: whether there is neither a number nor an outcome.
        lost: how many seeds have no result, in words, where others have one; else empty.
        worst: what a seed without a result has; nan where the measurement has no bad end.
        awaited: how many seeds have neither a number nor an outcome yet.
        stderr: as printed; None where the paper prints none.
        source: the run or corpus; numbers of one training belong together.
        by_seed: the number of each seed, where numbers are compared seed by seed.
        exact: whether another training would give the same number, e.g. of parameters.
        cell: our cell, for the counts of its sentences.
        mark: a sign that its number is in doubt.
    """

    name: str
    value: float
    words: str = ""
    missing: bool = False
    lost: str = ""
    worst: float = math.nan
    awaited: int = 0
    stderr: float | None = None
    source: str = ""
    by_seed: Mapping[int, float] = field(default_factory=dict)
    exact: bool = False
    cell: "CellResult | None" = None
    mark: str = ""


@dataclass(frozen=True)
class Sum:
    """A weighted sum of terms and a constant.

    Attributes:
        weights: the factor of each term; a term that cancels is left out.
        constant: what is added.
    """

    weights: Mapping[Term, float] = field(default_factory=dict)
    constant: float = 0.0

    @property
    def of_terms(self) -> float:
        """The sum without the constant."""
        return self._with(0.0)

    @property
    def value(self) -> float:
        """The number; it may be infinite, or nan.

        Two runs without a result are equally bad, so they cancel. How far apart they are is not
        known: with anything else to add, a margin too, the sum is not known.
        """
        return self._with(self.constant)

    def _with(self, constant: float) -> float:
        items = [(term.value, factor) for term, factor in self.weights.items()]
        known = [value * factor for value, factor in items if not math.isinf(value)]
        bad = [
            math.copysign(factor, value * factor) for value, factor in items if math.isinf(value)
        ]
        infinite = total(bad)
        if any(map(math.isnan, known)) or (bad and (known or constant) and not infinite):
            return math.nan
        return math.copysign(math.inf, infinite) if infinite else total((*known, constant))

    @property
    def missing(self) -> bool:
        """Whether a term has neither a number nor an outcome."""
        return any(term.missing for term in self.weights)

    def times(self, factor: float) -> "Sum":
        """Return the sum times a number."""
        weights = {term: factor * weight for term, weight in self.weights.items() if factor}
        return Sum(weights, factor * self.constant)

    def plus(self, other: "Number") -> "Number":
        """Return the sum of two numbers."""
        if isinstance(other, Largest):
            return Largest(other.sign, tuple(self.plus(option) for option in other.options))
        weights = {
            term: total((self.weights.get(term, 0.0), other.weights.get(term, 0.0)))
            for term in (*self.weights, *other.weights)
        }
        weights = {term: factor for term, factor in weights.items() if factor}
        return Sum(weights, self.constant + other.constant)


@dataclass(frozen=True)
class Largest:
    """The largest or the smallest of several numbers.

    A comparison with it is one with each of them: `max(a, b) > c` is `a > c or b > c`. So it needs
    no interval of its own.

    Attributes:
        sign: 1 for the largest, -1 for the smallest.
        options: the numbers.
    """

    sign: Literal[1, -1]
    options: "tuple[Number, ...]"

    @property
    def missing(self) -> bool:
        """Whether one of the numbers has neither a number nor an outcome."""
        return any(option.missing for option in self.options)

    @property
    def value(self) -> float:
        """The number; what is missing is left out."""
        values = [option.value for option in self.options]
        known = [value for value in values if not math.isnan(value)] or [math.nan]
        return max(known) if self.sign > 0 else min(known)

    def times(self, factor: float) -> "Number":
        """Return it times a number; a negative one makes the largest the smallest."""
        sign: Literal[1, -1] = 1 if self.sign * factor >= 0 else -1
        return Largest(sign, tuple(option.times(factor) for option in self.options))

    def plus(self, other: "Number") -> "Number":
        """Return the sum of two numbers."""
        return Largest(self.sign, tuple(option.plus(other) for option in self.options))


Number = Sum | Largest


@dataclass(frozen=True)
class Slice:
    """Several cells, in the order of the table.

    Attributes:
        items: their numbers.
    """

    items: tuple[Number, ...]

    def mapped(self, function: Callable[[Number], Number]) -> "Slice":
        """Return the slice with a function of each of its numbers."""
        return replace(self, items=tuple(map(function, self.items)))

    def __iter__(self) -> Iterator[Number]:
        """Yield the numbers."""
        return iter(self.items)


@dataclass(frozen=True)
class Curve:
    """A curve or a picture of one run, as it is drawn, of each of its seeds.

    Attributes:
        name: what the output calls it.
        source: the run.
        by_seed: for each seed a line for each point: places on the axes, and `value`.
        words: why there is no curve; empty with one.
        missing: whether nobody trained the run, or it recorded no such series.
        worst: what takes the place of each value where a seed has no result; nan where the series
            has no bad end.
        lost, awaited: as of a term.
    """

    name: str
    source: str
    by_seed: "Mapping[int, DataFrame]"
    words: str = ""
    missing: bool = False
    worst: float = math.nan
    lost: str = ""
    awaited: int = 0

    def mapped(self, name: str, function: "Callable[[Series], Series]") -> "Curve":
        """Return the curve with a function of its values, and with a name."""
        made = self.chosen(name, lambda points: points.assign(value=function(points.loc[:, VALUE])))
        if math.isnan(self.worst):
            return made
        from pandas import Series

        return replace(made, worst=float(function(Series([self.worst])).iloc[0]))

    def chosen(self, name: str, function: "Callable[[DataFrame], DataFrame]") -> "Curve":
        """Return the curve with other points, chosen or computed in each seed, and with a name."""
        by_seed = {seed: function(one) for seed, one in self.by_seed.items()}
        return replace(self, name=name, by_seed=by_seed)

    def number(self, name: str, function: "Callable[[DataFrame], Any]") -> Sum:
        """Return one number of the curve, computed in each seed.

        Args:
            name: of the function, for the output; the curve's alone if empty.
            function: from the points of a seed to the number.
        """
        by_seed = {seed: float(function(points)) for seed, points in self.by_seed.items()}
        worst = math.nan
        if math.isinf(self.worst) and (self.words or self.lost):
            worst = float(function(self._worst()))
        term = Term(
            f"{name} of {self.name}" if name else self.name,
            math.fsum(by_seed.values()) / len(by_seed) if by_seed else worst,
            self.words,
            self.missing,
            self.lost,
            worst,
            self.awaited,
            source=self.source,
            by_seed=by_seed,
        )
        return Sum({term: 1.0})

    def _worst(self) -> "DataFrame":
        """Return the point that takes the place of all where a seed has no result."""
        from pandas import DataFrame

        return DataFrame({VALUE: [self.worst]})


Quantity = Number | Slice | Curve


def total(numbers: Iterable[float]) -> float:
    """Return a sum; it is 0 where only rounding is left of the numbers."""
    numbers = list(numbers)
    added, size = math.fsum(numbers), math.fsum(map(abs, numbers))
    return 0.0 if abs(added) <= ROUNDING * size else added


def constant(value: float) -> Sum:
    """Return a number that is written in a claim."""
    return Sum(constant=value)


def largest(numbers: Iterable[Number]) -> Largest:
    """Return the largest of some numbers."""
    return Largest(1, tuple(numbers))


def smallest(numbers: Iterable[Number]) -> Largest:
    """Return the smallest of some numbers."""
    return Largest(-1, tuple(numbers))


def terms_of(number: Number) -> Iterator[Term]:
    """Yield the terms of a number."""
    if isinstance(number, Largest):
        for option in number.options:
            yield from terms_of(option)
    else:
        yield from number.weights


def items_of(value: Quantity) -> tuple[Number, ...]:
    """Return the numbers of a slice, or the one number; a field that has no number is one too.

    Raises:
        Unfit: a curve.
    """
    if isinstance(value, Curve):
        if not value.words:
            raise Unfit(f"{value.name} is a curve; summarise it, e.g. by end(…)")
        return (value.number("", lambda points: points[VALUE].iloc[0]),)
    return value.items if isinstance(value, Slice) else (value,)
