"""Parquet files: columns of the type that a reader was written for, one row group at a time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow.parquet import ParquetFile

from fathom.data.archives import REMEDY
from fathom.io.errors import FathomError


def opened(path: Path, columns: Mapping[str, pyarrow.DataType]) -> ParquetFile:
    """Open a file, which must have these columns with these types."""
    try:
        file = ParquetFile(path)
        schema = file.schema_arrow
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(error, path) from None
    for column, wanted in columns.items():
        place = schema.get_field_index(column)
        if place < 0 or schema.types[place] != wanted:
            raise FathomError(f"it has no column '{column}' of type {wanted}", _place(path), REMEDY)
    return file


def row_group(path: Path, file: ParquetFile, group: int, *columns: str) -> list[list[Any]]:
    """Return these columns of a row group, as lists of the same length."""
    try:
        read = file.read_row_group(group, columns=[*columns])
        return [read.column(column).to_pylist() for column in columns]
    except (pyarrow.ArrowException, OSError) as error:
        raise _unreadable(error, path) from None


def _place(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _unreadable(error: Exception, path: Path) -> Exception:
    """Return why a file cannot be read; an error of the disk as it is."""
    if isinstance(error, OSError) and error.errno:
        return error
    what = f"not a readable parquet file ({type(error).__name__})"
    return FathomError(what, _place(path), REMEDY)
