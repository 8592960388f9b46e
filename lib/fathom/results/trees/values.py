"""Values of two trees of results, and how their differences read."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

ABSENT = None  # of a value that one tree does not have
LONG = 60  # characters of a value that a line has room for
DIGITS = 3  # that numbers inside a text have at least
_IN_TEXT = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


@dataclass(frozen=True)
class Difference:
    """Something that two trees do not have in common.

    Attributes:
        group: what kind of thing it is, as counts name it.
        place: the cell, the run, the claim.
        what: what differs, in words.
        first: the value of the first tree; None where it has none.
        second: that of the second tree.
    """

    group: str
    place: str
    what: str
    first: Any = ABSENT
    second: Any = ABSENT

    @property
    def line(self) -> str:
        """The difference in a line."""
        return f"{self.place}: {self.what}"


def only_in(group: str, place: str, first: bool) -> Difference:
    """Return a difference that one tree alone has something."""
    values = (place, ABSENT) if first else (ABSENT, place)
    return Difference(group, place, f"only in {'A' if first else 'B'}", *values)


def both(name: str, first: Any, second: Any) -> str:
    """Return two values in words; long texts from a little before the place where they differ."""
    own, other = _text(first), _text(second)
    start = 0
    if max(len(own), len(other)) > LONG:
        pairs = enumerate(zip(own, other, strict=False))
        differs = next((at for at, (one, two) in pairs if one != two), min(len(own), len(other)))
        start = own.rfind(" ", 0, max(differs - LONG // 2, 0)) + 1
    own, other = (_cut(text, start) for text in (own, other))
    return f"{name} {own} in A, {other} in B"


def _text(value: Any) -> str:
    if value in (None, ""):
        return "nothing"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _cut(text: str, start: int) -> str:
    before, after = ("…" if start else ""), ("…" if len(text) > start + LONG else "")
    return f"{before}{text[start : start + LONG]}{after}"


def flat(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values within nested mappings and lists, each with its keys."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value, start=1):
            yield from flat(inner, (*place, str(at)))
    else:
        yield place, value


def changed(
    first: Mapping[Any, Any], second: Mapping[Any, Any], *, tolerance: float = 0.0
) -> list[tuple[Any, Any, Any]]:
    """Return the keys whose values differ, with both values.

    Args:
        first: values by key.
        second: the other tree's; an absent key has the value None.
        tolerance: how far two numbers may be apart, in their unit.
    """
    keys = dict.fromkeys([*first, *second])
    pairs = ((key, first.get(key), second.get(key)) for key in keys)
    return [(key, own, other) for key, own, other in pairs if _differ(own, other, tolerance)]


def _differ(own: Any, other: Any, tolerance: float) -> bool:
    if own == other:
        return False
    numbers = [_number(own), _number(other)]
    if None in numbers:
        return True
    # Not a number is equal to itself, and to nothing else.
    return not (abs(numbers[0] - numbers[1]) <= tolerance or str(own) == str(other))


def near(first: str | None, second: str | None, tolerance: float) -> bool:
    """Return whether two texts differ in nothing but numbers, and in these by little.

    Their numbers are rounded, so each may be half of its last digit further apart.

    Args:
        first: a text; None where a tree has none.
        second: the other tree's.
        tolerance: how far two numbers may be apart, in their unit; 0 takes texts as they are.
    """
    if not tolerance or first is None or second is None:
        return first == second
    if _IN_TEXT.sub("", first) != _IN_TEXT.sub("", second):
        return False
    numbers = (map(Decimal, _IN_TEXT.findall(text)) for text in (first, second))
    return all(
        abs(own - other) <= Decimal(tolerance) + _rounding(own) + _rounding(other)
        for own, other in zip(*numbers, strict=True)
    )


def _rounding(number: Decimal) -> Decimal:
    """Return how far a printed number may be from what was rounded; zeros at its end are lost."""
    exponent = number.as_tuple().exponent
    last = min(int(exponent), number.adjusted() + 1 - DIGITS)
    return Decimal(5).scaleb(last - 1)


def _number(value: Any) -> Any:
    """Return a value as a number, also that of a csv; None where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
