"""metrics.tsv: one row for each logged update; a missing value is an empty field."""

import math
from pathlib import Path

from fathom.errors import FathomError
from fathom.io.files import read_lines, write_lines


class Metrics:
    """The series of one training; a row is written at once, so a killed run keeps its history."""

    def __init__(self, path: Path, columns: tuple[str, ...]):
        """Open a series.

        Args:
            path: the file.
            columns: the names in the first line; the first is `update`.
        """
        self.path, self.columns = path, columns

    def cut(self, update: int) -> None:
        """Drop the rows after an update and incomplete rows, or start a new file."""
        rows = ["\t".join(self.columns)]
        if self.path.exists():
            for line in self.path.read_bytes().decode("utf-8").split("\n")[1:-1]:
                fields = line.split("\t")
                if len(fields) == len(self.columns) and int(fields[0]) <= update:
                    rows.append(line)
        write_lines(self.path, rows)

    def append(self, values: dict[str, float | int | None]) -> None:
        """Append a row.

        Args:
            values: by column; missing columns and values that are not finite are empty.
        """
        row = "\t".join(_field(values.get(column)) for column in self.columns)
        with open(self.path, "a", encoding="utf-8", newline="\n") as stream:
            stream.write(row + "\n")


def read(path: Path) -> list[dict[str, float | None]]:
    """Return the rows of a metrics file; an empty field is None.

    Raises:
        FathomError: a row has more or fewer fields than there are columns.
    """
    columns, *rows = (line.split("\t") for line in read_lines(path) or [""])
    for number, row in enumerate(rows, 2):
        if len(row) != len(columns):
            what = f"{len(row)} fields, not {len(columns)}"
            raise FathomError(what, f"{path}:{number}", "train the run again")
    return [
        {column: float(text) if text else None for column, text in zip(columns, row, strict=True)}
        for row in rows
    ]


def _field(value: float | int | None) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"
