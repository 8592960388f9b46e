"""Values of two trees of results by place and name: which differ, and how a difference reads."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# Each value of a place in these groups is a line by itself.
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
class TreeDifference:
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


def differences(
    group: str, first: Places, second: Places, tolerance: float
) -> Iterator[TreeDifference]:
    """Yield the places that one tree alone has, and those whose values differ."""
    for place in dict.fromkeys([*first, *second]):
        if place not in first or place not in second:
            yield only_in(group, place, place in first)
            continue
        names = dict.fromkeys([*first[place], *second[place]])
        pairs = {name: (first[place].get(name), second[place].get(name)) for name in names}
        changed = {
            name: pairs[name]
            for name in sorted(names, key=lambda name: name not in _ANSWERS)
            if not _alike(name, *pairs[name], tolerance)
        }
        if group in _LINE_EACH:
            for name, pair in changed.items():
                yield TreeDifference(group, place, _both(name, *pair), *pair)
        elif changed:
            words = "; ".join(_both(name, *changed[name]) for name in [*changed][:_SHOWN])
            more = f"; and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            values = ({name: pair[side] for name, pair in changed.items()} for side in (0, 1))
            yield TreeDifference(group, place, words + more, *values)


def only_in(group: str, place: str, first: bool) -> TreeDifference:
    """Return a difference that one tree alone has something."""
    values = (place, None) if first else (None, place)
    return TreeDifference(group, place, f"only in {'A' if first else 'B'}", *values)


def _alike(name: str, first: Any, second: Any, tolerance: float) -> bool:
    """Return whether two values are equal, or numbers that are near; text may be a number."""
    if first == second:
        return True
    if name in _TEXTS_WITH_NUMBERS and tolerance and first and second:
        return _near(first, second, tolerance)
    numbers = _number(first), _number(second)
    if numbers[0] is None or numbers[1] is None:
        return False
    # Not a number is equal to itself, and to nothing else.
    return abs(numbers[0] - numbers[1]) <= tolerance or str(first) == str(second)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _near(first: str, second: str, tolerance: float) -> bool:
    """Return whether two texts differ in nothing but numbers, and in these by little.

    Their numbers are rounded, so each may be half of its last digit further apart.
    """
    if _NUMBER.sub("", first) != _NUMBER.sub("", second):
        return False
    numbers = (map(Decimal, _NUMBER.findall(text)) for text in (first, second))
    return all(
        abs(a - b) <= Decimal(tolerance) + _rounding(a) + _rounding(b)
        for a, b in zip(*numbers, strict=True)
    )


def _rounding(number: Decimal) -> Decimal:
    """Return how far a printed number may be from what was rounded; zeros at its end are lost."""
    last = min(int(number.as_tuple().exponent), number.adjusted() + 1 - _DIGITS)
    return Decimal(5).scaleb(last - 1)


def _both(name: str, first: Any, second: Any) -> str:
    """Return two values in words; long texts from a little before the place where they differ."""
    texts, start = [_text(first), _text(second)], 0
    if max(map(len, texts)) > _LONG:
        pairs = enumerate(zip(*texts, strict=False))
        equal = next((at for at, (a, b) in pairs if a != b), min(map(len, texts)))
        start = texts[0].rfind(" ", 0, max(equal - _LONG // 2, 0)) + 1
    shown = [_cut(text, start) for text in texts]
    return f"{name} {shown[0]} in A, {shown[1]} in B"


def _text(value: Any) -> str:
    if value in (None, ""):
        return "nothing"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text[:_HASH_SHOWN] if _HASH.fullmatch(text) else text


def _cut(text: str, start: int) -> str:
    before, after = ("…" if start else ""), ("…" if len(text) > start + _LONG else "")
    return f"{before}{text[start : start + _LONG]}{after}"
