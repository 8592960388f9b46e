"""What can be measured, and the columns that tables share: config/columns.yaml."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import BeforeValidator

from fathom.config.check import checked
from fathom.config.measurement_keys import NAMES, ShownValue, metric_named, parse
from fathom.config.plugins import is_plugin
from fathom.config.schema.section import Doc, Section
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, brief, nearest, refuse

# Of a float, more digits are not its own.
MOST_DECIMALS = 15
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%( or the digits)?")
_INTERVAL = re.compile(r"(\d+(?:\.\d+)?) or the interval")


@dataclass(frozen=True)
class Tolerance:
    """How far a cell may be off; exactly one of the first three is given."""

    # A floor under half the bootstrap interval and twice the deviation over seeds.
    at_least: float | None = None
    absolute: float | None = None  # in units of the cell
    relative: float | None = None  # a share of the reported value
    digits: bool = False  # with a share: the printed digits are enough


def _tolerance(within: Any) -> Tolerance:
    """Read `0.5`, `1%`, `1% or the digits` or `0.4 or the interval`."""
    if isinstance(within, int | float) and not isinstance(within, bool):
        if within < 0:
            raise ValueError(f"{within} is too small; write 0 or more")
        return Tolerance(absolute=float(within))
    if percent := _PERCENT.fullmatch(str(within)):
        return Tolerance(relative=float(percent[1]) / 100, digits=bool(percent[2]))
    if interval := _INTERVAL.fullmatch(str(within)):
        return Tolerance(at_least=float(interval[1]))
    remedy = "write 0.5, 1% of the reported value, 1% or the digits, or 0.4 or the interval"
    raise ValueError(f"'{brief(within)}' is not a tolerance; {remedy}")


Within = Annotated[Tolerance, BeforeValidator(_tolerance)]


class Measurement(Section):
    """A measurement that a table may show."""

    of: Literal["run", "network", "gates", "corpus"] = Doc(
        "What has it: a run with a result, any network, a run's gates, or a corpus."
    )
    title: str = Doc("As a column's heading.", "")
    unit: str = Doc("The unit in which it is measured.", "")
    decimals: Annotated[int, Ge(0), Le(MOST_DECIMALS)] = Doc("Digits where none are printed.", 2)
    better: Literal["higher", "lower"] | None = Doc("Which end is good.", None)
    within: Within | None = Doc("How far a cell may be off.", None)
    within_task: Within | None = Doc("The same for the cell of one task.", None)

    def tolerance(self, task: str | None) -> Tolerance | None:
        """Return how far a cell of a task (None: of several) may be off; None if nobody says."""
        return self.within if task is None else self.within_task or self.within


class Column(Section):
    """A column that several tables have."""

    title: str = Doc("Its printed heading.")
    value: str | None = Doc("What it shows; without one, the table's value.", None)


class Vocabulary(Section):
    """The keys of config/columns.yaml: measurements and shared columns by name."""

    measurements: dict[str, Measurement]
    columns: dict[str, Column]

    def measurement(self, value: ShownValue) -> Measurement:
        """Return the measurement that a value shows; a plugin's metric says what it is."""
        name, keys = value.measurement, ("unit", "decimals", "better")
        if name in self.measurements:
            return self.measurements[name]
        return Measurement(of="run", **{key: getattr(metric_named(name), key) for key in keys})

    def column(self, name: str) -> Column | None:
        """Return a shared column; a plugin's metric is one."""
        if name in self.columns or not is_plugin("metrics", name):
            return self.columns.get(name)
        return Column(title=metric_named(name).unit, value=f"{name}.test")

    def title(self, column: str) -> str:
        """Return the printed heading of a column."""
        shared = self.column(column)
        return shared.title if shared else column


def read_vocabulary(file: Value) -> Vocabulary:
    """Return what config/columns.yaml says."""
    vocabulary = checked(Vocabulary, file)
    refuse(_faults(vocabulary, file))
    return vocabulary


def _faults(vocabulary: Vocabulary, file: Value) -> Iterator[FathomError]:
    for name in vocabulary.measurements:
        if name not in NAMES and not is_plugin("metrics", name):
            where = file.place("measurements", name)
            yield FathomError(f"nothing measures '{name}'", where, nearest(name, NAMES))
    for name, column in vocabulary.columns.items():
        try:
            if column.value is not None:
                parse(column.value, vocabulary.measurements)
        except FathomError as error:
            where = file.place("columns", name, "value")
            yield FathomError(error.what, where, error.remedy)
