"""Tables, scores and gates as rows, each a value by column, for `fathom.api`."""

from collections.abc import Iterator, Mapping
from typing import Any

from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.formats import numbers
from fathom.results.measurements import Measurements, Record

Row = dict[str, Any]


def of_table(compared: ComparedTable) -> Iterator[Row]:
    """Yield the columns of a table's csv, the reported number and the verdict, cell by cell."""
    shown = (item for item in compared.cells if item.result.shown)
    for row, item in zip(numbers(compared), shown, strict=True):
        verdict = item.verdict and item.verdict.words
        yield row | {"reported": item.reported and item.reported.number, "verdict": verdict}


def of_scores(file: Measurements | None) -> Iterator[Row]:
    """Yield a row for each measurement and task of a file."""
    for key, record in file.measurements.items() if file else ():
        for task, number in record.tasks.items():
            yield {"measurement": key, "task": task} | number.model_dump(exclude={"spread"})


def of_gates(records: Mapping[str, Record]) -> Iterator[Row]:
    """Yield a row for each stack, task and layer, of the records of decode/gates.py."""
    for key, record in records.items():
        if key.startswith("gates."):
            place = {"stack": key.removeprefix("gates.")}
            for task, values in zip(record.labels["task"], record.values or (), strict=True):
                for layer, value in enumerate(values, start=1):
                    yield place | {"task": task, "layer": layer, "probability": value}
