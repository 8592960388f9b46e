"""Tables, figures, claims and verdicts of two trees, compared by their csv files.

All columns are compared but those that repeat others in words. A number of ours that a changed cell
of a table's own csv has is not named again for compare.csv.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from fathom.results.trees.tree import Tree, rows
from fathom.results.trees.values import Difference, both, changed, near, only_in

Row = Mapping[str, str]
Lines = Mapping[tuple[str, ...], Row]
_JUDGED = {"claims": "claims", "compare": "verdicts"}
# What a line is found by.
_KEYS = {
    "claims": ("paper", "claim", "part"),
    "verdicts": ("paper", "table", "row", "column"),
    "cells": ("block", "row", "column"),
}
# They repeat other columns, config, or the name of the folder.
_NOT_COMPARED = ("note", "sentence", "section", "scale")
_ROUNDED = ("numbers", "reported_numbers", "cause")  # texts with numbers
_ANSWERS = ("answer", "verdict")  # named first
# Our numbers of a cell in a table and in compare.csv, and what follows from them there.
_OF_CELL, _OF_VERDICT = ("value", "stderr", "seeds"), ("reproduced", "stderr", "seeds")
_OURS = ("reproduced", "stderr", "seeds", "delta", "cause", "run")
_FIRST = 3  # changed columns of a cell that a line names


def differences(
    first: Tree, second: Tree, tolerance: float = 0.0, chosen: Collection[str] | None = None
) -> Iterator[Difference]:
    """Yield what differs between the artefacts of two trees.

    Args:
        first: a tree.
        second: another one.
        tolerance: how far two numbers may be apart, in their unit.
        chosen: files that are compared alone, as `Tree.files` names them; all if None.

    Raises:
        FathomError: a csv file is damaged.
    """
    names = dict.fromkeys([*first.files, *second.files])
    if chosen is None:
        alone = {*first.scales} ^ {*second.scales}
        for scale in sorted(alone):
            yield only_in("scales", scale, scale in first.scales)
        chosen = [name for name in names if name.partition("/")[0] not in alone]
    scales = {*first.scales, *second.scales}
    tables: dict[str, set[tuple[str, ...]]] = {}
    # Verdicts last: they leave out what tables have.
    for name in sorted(chosen, key=lambda name: name.endswith("/compare")):
        scale, _, artefact = name.partition("/")
        title = name if len(scales) > 1 else artefact
        if name not in first.files or name not in second.files:
            yield only_in("artefacts", title, name in first.files)
            continue
        own, other = (rows(tree.files[name]) for tree in (first, second))
        group = _group(artefact, own or other)
        if group == "figures":
            yield from _points(title, own, other, tolerance)
            continue
        lines = _by(own, _KEYS[group]), _by(other, _KEYS[group])
        if group == "cells":
            tables[name] = _changed_numbers(*lines)
        if group == "verdicts":
            lines = _without_known(*lines, scale, tables)
        yield from _lines(group, f"{title} " if group == "cells" else "", lines, tolerance)


def _group(artefact: str, lines: Sequence[Row]) -> str:
    """Return what the lines of a file are: cells, claims, verdicts, or the points of figures."""
    cells = {*_KEYS["cells"]} <= {*(lines or [{}])[0]}
    return _JUDGED.get(artefact, "cells" if cells else "figures")


def _changed_numbers(own: Lines, other: Lines) -> set[tuple[str, ...]]:
    """Return the column and the numbers, in both trees, of a table's cells whose lines differ."""
    pairs = {key: (own.get(key, {}), other.get(key, {})) for key in {*own, *other}}
    return {_numbers(key[2], pair, _OF_CELL) for key, pair in pairs.items() if pair[0] != pair[1]}


def _numbers(column: str, pair: tuple[Row, Row], names: Sequence[str]) -> tuple[str, ...]:
    return (column, *(row.get(name, "") for row in pair for name in names))


def _without_known(
    own: Lines, other: Lines, scale: str, tables: Mapping[str, Collection[tuple[str, ...]]]
) -> tuple[Lines, Lines]:
    """Return the lines of compare.csv; without our numbers where a table's changed cell has them.

    Args:
        own: those of a tree.
        other: those of the other one.
        scale: of the file.
        tables: changed numbers, by table as `Tree.files` names it.
    """
    left: tuple[dict, dict] = {**own}, {**other}
    for key in {*own} & {*other}:
        pair, (paper, table, _, column) = (own[key], other[key]), key[:4]
        known = tables.get(f"{scale}/{paper}/{table}", ())
        if _numbers(column, pair, _OF_VERDICT) in known:
            for lines, row in zip(left, pair, strict=True):
                lines[key] = {name: text for name, text in row.items() if name not in _OURS}
    return left


def _by(lines: Sequence[Row], keys: Sequence[str]) -> dict[tuple[str, ...], Row]:
    """Return lines by what finds them; the second of equal ones gets a number."""
    by_key: dict[tuple[str, ...], Row] = {}
    for line in lines:
        key = tuple(line.get(name, "") for name in keys)
        times = sum(other[: len(key)] == key for other in by_key) if key in by_key else 0
        by_key[(*key, str(times + 1)) if times else key] = line
    return by_key


def _lines(
    group: str, title: str, lines: tuple[Lines, Lines], tolerance: float
) -> Iterator[Difference]:
    """Yield the lines that one file alone has, and the values that differ in the others."""
    own, other = lines
    for key in dict.fromkeys([*own, *other]):
        place = title + _place(group, key)
        if key not in own or key not in other:
            yield only_in(group, place, key in own)
            continue
        compared = [_values(line) for line in (own[key], other[key])]
        parts = [
            (name, *values)
            for name, *values in changed(*compared, tolerance=tolerance)
            if name not in _ROUNDED or not near(*values, tolerance)
        ]
        if parts:
            parts.sort(key=lambda part: part[0] not in _ANSWERS)
            words = "; ".join(both(*part) for part in parts[:_FIRST])
            more = f"; and {len(parts) - _FIRST} more" if len(parts) > _FIRST else ""
            values = [{name: line.get(name) for name, *_ in parts} for line in compared]
            yield Difference(group, place, words + more, *values)


def _place(group: str, key: tuple[str, ...]) -> str:
    """Return what a line is about: `“12/12” avg`, or `paper/claim [part]`."""
    if group == "claims":
        paper, claim, *part = key
        inner = ", ".join(filter(None, part))
        return f"{paper}/{claim}" + (f" [{inner}]" if inner else "")
    if group == "verdicts":
        paper, table, row, *column = key
        return f"{paper}/{table} “{row}” {' '.join(column)}"
    block, row, *column = key
    return " ".join(filter(None, (block, f"“{row}”", *column)))


def _points(
    title: str, own: Sequence[Row], other: Sequence[Row], tolerance: float
) -> Iterator[Difference]:
    """Yield how many points of a figure differ, and the first of them."""
    if len(own) != len(other):
        words = both("lines", len(own), len(other))
        yield Difference("figures", title, words, len(own), len(other))
        return
    parts = [
        (at, changed(*map(_values, pair), tolerance=tolerance))
        for at, pair in enumerate(zip(own, other, strict=True))
    ]
    parts = [(at, values) for at, values in parts if values]
    if parts:
        at, values = parts[0]
        words = f"{len(parts)} of {len(own)} points, the first in line {at + 2}: {both(*values[0])}"
        yield Difference("figures", title, words, values[0][1], values[0][2])


def _values(row: Row) -> dict[str, str]:
    """Return what is compared of a line; an empty field is like a column that a file lacks."""
    return {name: text for name, text in row.items() if text and name not in _NOT_COMPARED}
