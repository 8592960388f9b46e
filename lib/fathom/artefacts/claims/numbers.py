"""What claims compute with: sums of measured numbers, the largest of several, slices, curves."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

from fathom.artefacts.figures.inputs import VALUE

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from fathom.artefacts.table.results import CellResult

ROUNDING = 1e-12  # as a share of the numbers: what binary arithmetic adds to printed decimals
SUMMARISE = "summarise it, e.g. by end(…) or mean(…)"
PRODUCT = "two measured numbers cannot be multiplied"
SHIFT = "a curve is computed with a written number alone"


class Unfit(Exception):
    """What does not fit in a claim, and what to write instead."""

    def __init__(self, what: str, remedy: str = "correct the claim"):
        super().__init__(what)
        self.what, self.remedy = what, remedy


@dataclass(frozen=True, eq=False)
class Term:
    """A number that a table or a curve gives; compared by identity."""

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
    of_table: bool = False
    cell: "CellResult | None" = None  # our cell, for the counts of its sentences
    gain: bool | None = None  # the mark of a significant gain; None without a test
    mark: str = ""  # a sign that the number is in doubt


class Quantity:
    """What can be added, subtracted and multiplied by a written number."""

    scaled: Callable[[float], Any]  # it times a factor

    def __mul__(self, other: Any) -> Any:
        left, right = (other, self) if is_written(self) else (self, other)
        return left.scaled(written(right, SHIFT if isinstance(left, Curve) else PRODUCT))

    def __neg__(self) -> Any:
        return self.scaled(-1)

    def __add__(self, other: Any) -> Any:
        for curve, number in ((self, other), (other, self)):
            if isinstance(curve, Curve):
                return curve.plus(number)
        sums = tuple(first.plus(second) for first, second in together(self, other))
        return Slice(sums) if Slice in (type(self), type(other)) else sums[0]

    def __sub__(self, other: Any) -> Any:
        return self + -other


@dataclass(frozen=True)
class Sum(Quantity):
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

    def scaled(self, factor: float) -> "Sum":
        """Return it times a factor."""
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
class Largest(Quantity):
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

    def scaled(self, factor: float) -> "Largest":
        """Return it times a factor; a negative one makes the largest the smallest."""
        options = tuple(option.scaled(factor) for option in self.options)
        return Largest(1 if self.sign * factor >= 0 else -1, options)

    def plus(self, other: "Number") -> "Largest":
        """Return the sum of two numbers."""
        return Largest(self.sign, tuple(option.plus(other) for option in self.options))


Number = Sum | Largest


@dataclass(frozen=True)
class Slice(Quantity):
    """Several numbers, in the order of the table."""

    items: tuple[Number, ...]

    def scaled(self, factor: float) -> "Slice":
        """Return each number times a factor."""
        return Slice(tuple(item.scaled(factor) for item in self.items))


@dataclass(frozen=True)
class Curve(Quantity):
    """A curve or a picture of one run, as it is drawn, of each of its seeds."""

    term: Term  # its name, and what all numbers of the curve have
    axes: tuple[str, ...]  # one of a curve, two of a picture, none of a field without points
    # For each seed a line for each point: places on the axes, and `value`.
    frames: "Mapping[int, DataFrame]" = field(default_factory=dict)
    rows: tuple[str, ...] = ()  # the labels of a picture's rows, where they are known

    @property
    def name(self) -> str:
        """What the output calls it."""
        return self.term.name

    def scaled(self, factor: float) -> "Curve":
        """Return it with each value times a factor."""
        return self.mapped(f"{factor:g} × {self.name}", lambda values: values * factor)

    def plus(self, number: Any) -> "Curve":
        """Return it with a written number added to each value."""
        number = written(number, SHIFT)
        name = f"{self.name} {'-' if number < 0 else '+'} {abs(number):g}"
        return self.mapped(name, lambda values: values + number)

    def mapped(self, name: str, function: Callable[[Any], Any]) -> "Curve":
        """Return the curve with a name, and a function of each value, also of the worst."""
        return self.chosen(
            name,
            lambda points: points.assign(value=function(points.loc[:, VALUE])),
            worst=function(self.term.worst),
        )

    def chosen(
        self,
        name: str,
        function: "Callable[[DataFrame], DataFrame]",
        axes: tuple[str, ...] | None = None,
        worst: float | None = None,
    ) -> "Curve":
        """Return the curve with other points, chosen or computed in each seed, and with a name.

        Without the same axes it has no labels of rows.
        """
        term = replace(self.term, name=name, worst=self.term.worst if worst is None else worst)
        frames = {seed: function(points) for seed, points in self.frames.items()}
        rows = self.rows if axes is None else ()
        return Curve(term, self.axes if axes is None else axes, frames, rows)

    def number(self, name: str, function: "Callable[[Series], Any]") -> Sum:
        """Return one number of the curve, computed in each seed from its values.

        It is called `mean of figure1 “a”`, or as the curve where it has no name. The worst curve
        has the worst value everywhere, so its summary is that value, too.
        """
        by_seed = {
            seed: float(function(points.loc[:, VALUE])) for seed, points in self.frames.items()
        }
        name = f"{name} of {self.name}" if name else self.name
        value = math.fsum(by_seed.values()) / len(by_seed) if by_seed else self.term.worst
        return Sum({replace(self.term, name=name, value=value, by_seed=by_seed): 1.0})


def is_written(value: Any) -> bool:
    """Return whether a claim itself writes a number."""
    return isinstance(value, Sum) and not value.weights


def written(value: Any, otherwise: str) -> float:
    """Return a written number.

    Raises:
        Unfit: If it is measured, with what that means.
    """
    if not is_written(value):
        raise Unfit(otherwise, "take a written number, or summarise a curve, e.g. by end(…)")
    return value.constant


def total(numbers: Iterable[float]) -> float:
    """Return a sum; it is 0 where only rounding is left of the numbers."""
    numbers = list(numbers)
    added, size = math.fsum(numbers), math.fsum(map(abs, numbers))
    return 0.0 if abs(added) <= ROUNDING * size else added


def added(numbers: Iterable[Number]) -> Number:
    """Return the sum of some numbers."""
    return reduce(lambda whole, number: number.plus(whole), numbers, Sum())


def items_of(value: Any) -> tuple[Number, ...]:
    """Return the numbers of a slice, or the one number; a field without points is one too.

    Raises:
        Unfit: If it is a curve.
    """
    if not isinstance(value, Curve):
        return value.items if isinstance(value, Slice) else (value,)
    if value.axes:
        raise Unfit(f"{value.name} is a curve, and numbers are needed", SUMMARISE)
    return (value.number("", lambda points: points.iloc[0]),)


def together(left: Any, right: Any) -> list[tuple[Number, Number]]:
    """Return the pairs of two slices of one length; a number goes with each of a slice.

    Raises:
        Unfit: If the slices have different lengths, or there is a curve.
    """
    first, second = items_of(left), items_of(right)
    length = max(len(first), len(second))
    if {len(first), len(second)} - {1, length}:
        raise Unfit(f"{len(first)} and {len(second)} cells cannot be compared")
    pairs = zip(first * (length // len(first)), second * (length // len(second)), strict=True)
    return list(pairs)
