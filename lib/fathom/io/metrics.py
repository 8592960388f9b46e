"""metrics.tsv: one row for each logged update; a missing value is an empty field."""

import math
import os
from pathlib import Path

from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import appending, naming, require_file, write_lines

Row = dict[str, float | None]


class Metrics:
    """The series of one training; a row is written at once, so a killed run keeps its history."""

    def __init__(self, path: Path, columns: tuple[str, ...]):
        self.path = path
        # The names in the first line; the first is `update`.
        self.columns = columns

    def cut(self, update: int) -> int:
        """Drop the rows after an update, or start a new file.

        Rows that are incomplete, not numbers, or out of order are dropped, too; their count is
        returned. A file of another version may lack columns, which become empty fields, or have
        more, which are dropped.
        """
        rows, damaged, last = ["\t".join(self.columns)], 0, 0
        lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        columns = self._columns_of(lines)
        for line in lines[1:-1]:
            row = _row(line, columns)
            number = row[self.columns[0]] if row else None
            if number is None or number <= last:
                damaged += 1
            elif number <= update:
                fields = dict(zip(columns, line.decode("utf-8").split("\t"), strict=True))
                rows.append("\t".join(fields.get(column, "") for column in self.columns))
                last = number
        write_lines(self.path, rows)
        return damaged + any(lines[-1:])

    def _columns_of(self, lines: list[bytes]) -> tuple[str, ...]:
        """Return the columns that a file's rows have: this series', some of them, or more."""
        names = tuple(lines[0].decode("utf-8", "replace").split("\t")) if lines else ()
        matches = {*names} <= {*self.columns} or {*names} >= {*self.columns}
        return names if matches and names[:1] == self.columns[:1] else self.columns

    def append(self, values: dict[str, float | int | None]) -> None:
        """Append a row of values by column; what is missing or not finite is an empty field."""
        row = "\t".join(_field(values.get(column)) for column in self.columns)
        with appending(self.path) as stream:
            stream.write(row + "\n")

    def sync(self) -> None:
        """Wait until all rows are on the disk."""
        with naming(self.path), open(self.path, "rb") as stream:
            os.fsync(stream.fileno())


def read(path: Path) -> list[Row]:
    """Return the rows of a metrics file; an empty field is None, a damaged row is refused."""
    require_file(path, again(path))
    first, *lines = path.read_bytes().split(b"\n")[:-1] or [b""]
    columns = tuple(first.decode("utf-8", "replace").split("\t"))
    rows = [_row(line, columns) for line in lines]
    for number, (row, line) in enumerate(zip(rows, lines, strict=True), 2):
        if row is None:
            count = line.count(b"\t") + 1
            matches = count == len(columns)
            what = "not a row of numbers" if matches else f"{count} fields, not {len(columns)}"
            raise FathomError(what, f"{path}:{number}", again(path))
    return [row for row in rows if row is not None]


def _row(line: bytes, columns: tuple[str, ...]) -> Row | None:
    """Return the numbers of a line by column; None if it has others, or no numbers."""
    fields = line.split(b"\t")
    try:
        numbers = [float(field) if field else None for field in fields]
    except ValueError:
        return None
    finite = all(number is None or math.isfinite(number) for number in numbers)
    matches = finite and len(numbers) == len(columns)
    return dict(zip(columns, numbers, strict=True)) if matches else None


def _field(value: float | int | None) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return str(value) if isinstance(value, int) else f"{value:.6g}"
