"""Values of two trees of results, and how their differences read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ABSENT = None  # of a value that one tree does not have
LONG = 60  # characters of a value that a line has room for


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
    """Return two values in words."""
    return f"{name} {_shown(first)} in A, {_shown(second)} in B"


def _shown(value: Any) -> str:
    if value in (None, ""):
        return "nothing"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONG else f"{text[:LONG]}…"


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
    first: Mapping[Any, Any], second: Mapping[Any, Any], tolerance: float = 0.0
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


def _number(value: Any) -> Any:
    """Return a value as a number, also that of a csv; None where it is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
