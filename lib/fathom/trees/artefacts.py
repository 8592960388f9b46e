"""Tables, figures, claims and verdicts of two trees, compared by their csv files."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from fathom.trees.tree import Tree, rows
from fathom.trees.values import Difference, both, changed, only_in

Row = Mapping[str, str]
# What a cell, a claim and a verdict is found by, and what of it is compared; of a table all but
# notes, which repeat numbers in words.
_CLAIM = (("paper", "claim", "part"), ("expression", "guard", "answer", "reported_answer"))
_VERDICT = (("paper", "table", "row", "column"), ("reported", "reported_stderr", "verdict"))
_CELL = ("block", "row", "column")
_NOTES = ("note", "scale")
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
    for name in chosen:
        artefact = name.partition("/")[2]
        title = name if len(scales) > 1 else artefact
        if name in first.files and name in second.files:
            paths = first.files[name], second.files[name]
            yield from _of_file(title, artefact, paths, tolerance)
        else:
            yield only_in("artefacts", title, name in first.files)


def _of_file(
    title: str, artefact: str, paths: tuple[Path, Path], tolerance: float
) -> Iterator[Difference]:
    own, other = (rows(path) for path in paths)
    if artefact in ("claims", "compare"):
        keys, columns = _CLAIM if artefact == "claims" else _VERDICT
        group = "claims" if artefact == "claims" else "verdicts"
        lines = (_by(own, keys), _by(other, keys))
        yield from _lines(group, "", lines, tolerance, columns)
    elif {*_CELL} <= {*(own or other or [{}])[0]}:
        yield from _lines("cells", f"{title} ", (_by(own, _CELL), _by(other, _CELL)), tolerance)
    else:
        yield from _points(title, own, other, tolerance)


def _by(lines: Sequence[Row], keys: Sequence[str]) -> dict[tuple[str, ...], Row]:
    """Return lines by what finds them; the second of equal ones gets a number."""
    by_key: dict[tuple[str, ...], Row] = {}
    for line in lines:
        key = tuple(line.get(name, "") for name in keys)
        times = sum(other[: len(key)] == key for other in by_key) if key in by_key else 0
        by_key[(*key, str(times + 1)) if times else key] = line
    return by_key


def _lines(
    group: str,
    title: str,
    lines: tuple[Mapping[tuple[str, ...], Row], Mapping[tuple[str, ...], Row]],
    tolerance: float,
    columns: Sequence[str] = (),
) -> Iterator[Difference]:
    """Yield the lines that one file alone has, and the values that differ in the others."""
    own, other = lines
    for key in dict.fromkeys([*own, *other]):
        place = title + _place(group, key)
        if key not in own or key not in other:
            yield only_in(group, place, key in own)
            continue
        compared = [_values(line, columns) for line in (own[key], other[key])]
        parts = changed(*compared, tolerance=tolerance)
        if parts:
            words = "; ".join(both(*part) for part in parts[:_FIRST])
            more = f"; and {len(parts) - _FIRST} more" if len(parts) > _FIRST else ""
            values = [{name: line.get(name) for name, _, _ in parts} for line in compared]
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


def _values(row: Row, columns: Sequence[str] = ()) -> dict[str, str]:
    """Return what is compared of a line; an empty field is like a column that a file lacks."""
    names = columns or [name for name in row if name not in _NOTES]
    return {name: row[name] for name in names if row.get(name)}
