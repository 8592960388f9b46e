"""What can be measured, and the columns that tables share: config/columns.yaml."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, field_validator

from fathom.config.section import Doc, Section
from fathom.config.validation import check
from fathom.config.values import QUALIFIERS_OF, ShownValue, parse
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, Findings, nearest

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?) or the interval")


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

    @classmethod
    def parse(cls, within: float | int | str) -> "Tolerance":
        """Read `0.5`, `1%` or `0.4 or the interval`.

        Raises:
            ValueError: the text has no such form.
        """
        if not isinstance(within, str):
            return cls(absolute=float(within))
        if percent := _PERCENT.fullmatch(within):
            return cls(relative=float(percent[1]) / 100)
        if interval := _INTERVAL.fullmatch(within):
            return cls(at_least=float(interval[1]))
        raise ValueError(
            f"'{within}' is no tolerance; write 0.5, 1% of the reported value, "
            "or 0.4 or the interval"
        )


class Measurement(Section):
    """A measurement that a table may show."""

    of: Annotated[
        Literal["run", "network", "gates", "corpus"],
        Doc("What has it: a run with a result, any network, a run's gates, or a corpus."),
    ]
    title: Annotated[str, Doc("As a column's heading.")] = ""
    unit: Annotated[str, Doc("The unit in which it is measured.")] = ""
    decimals: Annotated[int, Field(ge=0), Doc("Digits where the paper prints none.")] = 2
    better: Annotated[Literal["higher", "lower"] | None, Doc("Which end is good.")] = None
    within: Annotated[float | int | str | None, Doc("How far a cell may be off.")] = None
    within_task: Annotated[float | int | str | None, Doc("The same for the cell of one task.")] = (
        None
    )

    @field_validator("within", "within_task")
    @classmethod
    def _has_a_form(cls, within: float | int | str | None) -> float | int | str | None:
        if within is not None:
            Tolerance.parse(within)
        return within

    def tolerance(self, task: str | None) -> Tolerance | None:
        """Return how far a cell may be off, or None where nobody says.

        Args:
            task: the cell's task; None where it covers several.
        """
        within = self.within if task is None or self.within_task is None else self.within_task
        return None if within is None else Tolerance.parse(within)


class Column(Section):
    """A column that several tables have."""

    title: Annotated[str, Doc("Its printed heading.")]
    value: Annotated[str | None, Doc("What it shows; without one, the table's value.")] = None


class ColumnsFile(Section):
    """The form of config/columns.yaml."""

    measurements: dict[str, Measurement]
    columns: dict[str, Column]


@dataclass(frozen=True)
class Vocabulary:
    """The measurements and shared columns, by name."""

    measurements: Mapping[str, Measurement]
    columns: Mapping[str, Column]

    def measurement(self, value: ShownValue) -> Measurement:
        """Return the measurement that a value shows."""
        return self.measurements[value.measurement]

    def title(self, column: str) -> str:
        """Return the printed heading of a column."""
        return self.columns[column].title if column in self.columns else column


def load(file: YamlFile) -> Vocabulary:
    """Build the vocabulary from config/columns.yaml.

    Raises:
        Findings: everything that is wrong in the file.
    """
    settings, findings = check(ColumnsFile, file.value, file.where)
    if settings is not None:
        findings = list(_findings(settings, file))
    if findings or settings is None:
        raise Findings(findings)
    return Vocabulary(settings.measurements, settings.columns)


def _findings(settings: ColumnsFile, file: YamlFile) -> Iterator[FathomError]:
    for name in settings.measurements:
        if name not in QUALIFIERS_OF:
            where = file.where(("measurements", name))
            yield FathomError(f"nothing measures '{name}'", where, nearest(name, QUALIFIERS_OF))
    for name, column in settings.columns.items():
        if column.value is None:
            continue
        try:
            parse(column.value, settings.measurements)
        except FathomError as error:
            where = file.where(("columns", name, "value"))
            yield FathomError(error.what, where, error.remedy)
