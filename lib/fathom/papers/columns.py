"""Columns of a table: where a value stands in a manifest, how it is printed, how it is judged."""

import re
from dataclasses import dataclass
from typing import Any

from fathom.errors import FathomError

_PATH = re.compile(r"[\w-]+(\.[\w-]+)*")
_MEAN = re.compile(r"mean\(([\w-]+(?:\.(?:[\w-]+|\*))+)\)")


@dataclass(frozen=True)
class Expression:
    """Where a column's value stands in a manifest; with `mean`, `*` ranges over one level."""

    path: tuple[str, ...]
    mean: bool

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Read `path` or `mean(path with *)`.

        Raises:
            FathomError: the text has neither form.
        """
        if _PATH.fullmatch(text):
            return cls(tuple(text.split(".")), mean=False)
        found = _MEAN.fullmatch(text)
        if found and found[1].count("*") == 1:
            return cls(tuple(found[1].split(".")), mean=True)
        raise FathomError(
            f"'{text}' is no column expression", "value", "write `path` or `mean(path with *)`"
        )

    @property
    def reads_scores(self) -> bool:
        """Whether the value is a score, which a run without a result does not have."""
        return self.path[0] == "scores"


@dataclass(frozen=True)
class Tolerance:
    """How far a cell may be off; exactly one of the three is given.

    Attributes:
        at_least: floor under half the bootstrap interval and twice the deviation over seeds.
        absolute: in units of the cell.
        relative: a share of the reported value.
    """

    at_least: float | None = None
    absolute: float | None = None
    relative: float | None = None


@dataclass(frozen=True)
class Metric:
    """The metric of a table's scores, and whether it is known to be the paper's."""

    name: str
    known: bool
    unknown_for: tuple[str, ...]
    note: str

    @classmethod
    def from_mapping(cls, value: dict[str, Any]) -> "Metric":
        """Build a metric from a mapping that has passed its schema."""
        return cls(
            name=value["name"],
            known=value["known"],
            unknown_for=tuple(value.get("unknown_for", ())),
            note=value.get("note", ""),
        )

    def known_for(self, column: str) -> bool:
        """Return whether a column's metric is known."""
        return self.known and column not in self.unknown_for


@dataclass(frozen=True)
class Column:
    """A column: id, printed title, where its value stands, and how it is printed and judged."""

    name: str
    title: str
    value: str
    decimals: int
    unit: str
    group: str
    tolerance: Tolerance | None

    @classmethod
    def from_mapping(cls, name: str, value: dict[str, Any]) -> "Column":
        """Build a column from a mapping that has passed its schema."""
        return cls(
            name=name,
            title=value["title"],
            value=value["value"],
            decimals=value["decimals"],
            unit=value.get("unit", ""),
            group=value.get("group", ""),
            tolerance=Tolerance(**value["tolerance"]) if "tolerance" in value else None,
        )

    @property
    def expression(self) -> Expression:
        """The parsed `value`."""
        return Expression.parse(self.value)
