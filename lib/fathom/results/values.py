"""Values of two trees of results: which differ, and how a difference reads."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# Each value of a place in these groups is a line of its own.
_LINE_EACH = ("settings", "recipe", "data", "outcomes", "code", "costs")
_SHOWN = 3  # values that another line names
_LONG = 60  # characters of a value for which a line has room
_ANSWERS = ("answer", "verdict")  # named first
_TEXTS_WITH_NUMBERS = ("numbers", "reported_numbers", "cause")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
_HASH = re.compile(r"[0-9a-f]{40}(-dirty)?|[0-9a-f]{64}")
_HASH_SHOWN = 8  # digits
_DIGITS = 3  # that numbers inside a text have at least

Values = Mapping[str, Any]
Places = Mapping[str, Values]


@dataclass(frozen=True)
class Difference:
    """What two trees do not have in common."""

    group: str
    place: str
    what: str
    first: Any = None  # the value in the first tree; None where it has none
    second: Any = None

    @property
    def line(self) -> str:
        """The difference as it is printed."""
        return f"{self.place}: {self.what}"


def flat(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values within nested mappings and lists, each with its keys."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value, start=1):
            yield from flat(inner, (*place, str(number)))
    else:
        yield place, value


def differences(group: str, own: Places, other: Places, tolerance: float) -> Iterator[Difference]:
    """Yield the places that a tree has alone, and those whose values differ."""
    for place in dict.fromkeys([*own, *other]):
        if place not in own or place not in other:
            yield only_in(group, place, place in own)
            continue
        parts = list(_changed(own[place], other[place], tolerance))
        if group in _LINE_EACH:
            for name, *values in parts:
                yield Difference(group, place, _both(name, *values), *values)
        elif parts:
            words = "; ".join(_both(*part) for part in parts[:_SHOWN])
            more = f"; and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
            values = ({part[0]: part[side] for part in parts} for side in (1, 2))
            yield Difference(group, place, words + more, *values)


def only_in(group: str, place: str, first: bool) -> Difference:
    """Return a difference that one tree alone has something."""
    values = (place, None) if first else (None, place)
    return Difference(group, place, f"only in {'A' if first else 'B'}", *values)


def _changed(own: Values, other: Values, tolerance: float) -> Iterator[tuple[str, Any, Any]]:
    """Yield the names whose values differ, with both values; answers first."""
    names = dict.fromkeys([*(name for name in _ANSWERS if name in own), *own, *other])
    for name in names:
        values = own.get(name), other.get(name)
        alike = _near if name in _TEXTS_WITH_NUMBERS and tolerance else _same
        if not alike(*values, tolerance):
            yield name, *values


def _same(own: Any, other: Any, tolerance: float) -> bool:
    """Return whether two values are equal, or numbers that are near; text may be a number."""
    if own == other:
        return True
    first, second = _number(own), _number(other)
    if first is None or second is None:
        return False
    # Not a number is equal to itself, and to nothing else.
    return abs(first - second) <= tolerance or str(own) == str(other)


def _number(value: Any) -> float | None:
    """Return a value as a number; None where it is not a number."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _near(own: str | None, other: str | None, tolerance: float) -> bool:
    """Return whether two texts differ in nothing but numbers, and in these by little.

    Their numbers are rounded, so each may be half of its last digit further apart.
    """
    if own is None or other is None:
        return own == other
    if _NUMBER.sub("", own) != _NUMBER.sub("", other):
        return False
    numbers = (map(Decimal, _NUMBER.findall(text)) for text in (own, other))
    return all(
        abs(one - two) <= Decimal(tolerance) + _rounding(one) + _rounding(two)
        for one, two in zip(*numbers, strict=True)
    )


def _rounding(number: Decimal) -> Decimal:
    """Return how far a printed number may be from what was rounded; zeros at its end are lost."""
    exponent = number.as_tuple().exponent
    last = min(int(exponent), number.adjusted() + 1 - _DIGITS)
    return Decimal(5).scaleb(last - 1)


def _both(name: str, own: Any, other: Any) -> str:
    """Return two values in words; long texts from a little before the place where they differ."""
    texts, start = [_text(own), _text(other)], 0
    if max(map(len, texts)) > _LONG:
        pairs = enumerate(zip(*texts, strict=False))
        end = min(map(len, texts))
        differs = next((at for at, (one, two) in pairs if one != two), end)
        start = texts[0].rfind(" ", 0, max(differs - _LONG // 2, 0)) + 1
    first, second = (_cut(text, start) for text in texts)
    return f"{name} {first} in A, {second} in B"


def _text(value: Any) -> str:
    if value in (None, ""):
        return "nothing"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text[:_HASH_SHOWN] if _HASH.fullmatch(text) else text


def _cut(text: str, start: int) -> str:
    before, after = ("…" if start else ""), ("…" if len(text) > start + _LONG else "")
    return f"{before}{text[start : start + _LONG]}{after}"
