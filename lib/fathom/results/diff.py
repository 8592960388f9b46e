"""Two trees of results compared: each is values by group, place and name.

A place is what a line of the answer is about: a cell, a claim, a run, a measurement of a run. All
columns of csv files are compared but those that repeat others in words. Where both trees have a
table, our numbers in compare.csv are left out. Files of a run that have the same recorded hash in
both trees are not read.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from fathom.config import yaml_values
from fathom.io import metrics
from fathom.io.errors import unknown
from fathom.results.tree import SEEDS, RunResults, Tree, read_run, rows

Line = dict[str, str]  # of a csv file: texts by column
Places = Mapping[str, Mapping[str, Any]]

# In this order they are printed.
GROUPS = (
    "scales", "artefacts", "runs", "settings", "recipe", "data", "outcomes", "cells", "figures",
    "claims", "verdicts", "measurements", "series",
)  # fmt: skip
# Each value of a place in these groups is a line by itself.
_LINE_EACH = ("settings", "recipe", "data", "outcomes", "code", "costs")
_SHOWN = 3  # values that another line names
_LONG = 60  # characters of a value for which a line has room
_ANSWERS = ("answer", "verdict")  # named first
_TEXTS_WITH_NUMBERS = ("numbers", "reported_numbers", "cause")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]\d+)?")
_HASH = re.compile(r"[0-9a-f]{40}(-dirty)?|[0-9a-f]{64}")
_HASH_SHOWN = 8  # digits
# Many runs have the same line.
_SHARED = ("recipe", "data", "code")
_HOUR = 3600

# What is compared of training.json, by group: the beginnings of keys.
_OF_TRAINING = {
    "outcomes": ("outcome kind", "outcome update", "totals updates", "totals target_tokens"),
    "data": ("corpus_sha256", "tensors_sha256"),
    "code": ("commit", "versions", "device"),
    "costs": ("totals seconds",),
}

# What finds a line of a csv file, by group.
_KEYS = {
    "claims": ("paper", "claim", "part"),
    "verdicts": ("paper", "table", "row", "column"),
    "cells": ("block", "row", "column", "seed"),
}
# Columns that repeat other columns, config, or the name of the folder.
_REPEATED = ("note", "sentence", "section", "scale")
# What compare.csv repeats of a table, and what follows from that.
_OF_TABLE = ("reproduced", "stderr", "seeds", "delta", "cause", "run")


@dataclass(frozen=True)
class TreeDifference:
    """What two trees do not have in common."""

    group: str
    place: str
    what: str
    first: Any = None  # the value in the first tree; None where it has none
    second: Any = None

    @property
    def line(self) -> str:
        """The difference as it is printed."""
        return f"{self.place}: {self.what}"


@dataclass(frozen=True)
class Comparison:
    """What differs between two trees."""

    differences: tuple[TreeDifference, ...]  # in results, by group
    apart: tuple[TreeDifference, ...]  # in code, packages, devices and costs
    counts: dict[str, int]  # how much was compared, by what it is

    @property
    def equal(self) -> bool:
        """Whether the results are the same."""
        return not self.differences

    def lines(self) -> Iterator[str]:
        """Yield what a reader sees: a line for each difference, in groups, then counts."""
        for group, items in groupby(self.differences, lambda item: item.group):
            of_group = list(items)
            yield f"{group} ({len(of_group)})"
            yield from (f"  {item.line}" for item in of_group)
        if self.apart:
            yield "no results, and not counted"
            yield from (f"  {item.group}: {item.line}" for item in self.apart)
        compared = ", ".join(
            f"{count} {name.removesuffix('s') if count == 1 and ',' not in name else name}"
            for name, count in self.counts.items()
        )
        if self.equal:
            yield f"equal: {compared}"
        else:
            groups = Counter(item.group for item in self.differences)
            parts = ", ".join(f"{groups[group]} {group}" for group in GROUPS if groups[group])
            total = len(self.differences)
            yield f"{total} difference{'s' * (total > 1)}: {parts}; compared: {compared}"


def compare(
    first: Tree,
    second: Tree,
    tolerance: float = 0.0,
    *,
    table: str = "",
    scale: str = "",
) -> Comparison:
    """Compare two trees of results.

    Args:
        tolerance: how far two numbers may be apart, in their unit.
        table: a table or figure that is compared alone, `<paper>_<name>`; all if empty.
        scale: whose tables, figures, claims and verdicts are compared alone; all if empty.
    """
    shared = {*first.files} & {*second.files}
    if table or scale:
        chosen = _chosen(first, second, table, scale)
        items = _in_groups(_artefacts(first, second, tolerance, chosen))
        return Comparison(items, (), {"files": len(shared.intersection(chosen))})
    pairs, items = _pairs(first, second)
    of_runs = [item for pair in pairs for item in _of_pair(*pair, tolerance)]
    spent = [item for item in of_runs if item.group == "costs"]
    code = [item for item in of_runs if item.group == "code"]
    items += _gathered(item for item in of_runs if item.group not in ("costs", "code"))
    items += _artefacts(first, second, tolerance)
    counts = {"runs": len(pairs), "tables, figures and lists": len(shared)}
    return Comparison(_in_groups(items), (*_gathered(code), *_in_all(spent)), counts)


def _in_groups(items: Iterable[TreeDifference]) -> tuple[TreeDifference, ...]:
    return tuple(sorted(items, key=lambda item: GROUPS.index(item.group)))


def _chosen(first: Tree, second: Tree, table: str, scale: str) -> list[str]:
    """Return the files of a table or figure, of a scale, or of both."""
    where = f"{first.folder}, {second.folder}"
    names = list(dict.fromkeys((*first.files, *second.files)))
    if scale:
        scales = dict.fromkeys((*first.scales, *second.scales))
        if scale not in scales:
            raise unknown("scale", scale, where, scales)
        names = [name for name in names if name.startswith(f"{scale}/")]
    if table:
        targets = {name: name.partition("/")[2].replace("/", "_", 1) for name in names}
        names = [name for name in names if targets[name] == table]
        if not names:
            valid = {target for name, target in targets.items() if name.count("/") > 1}
            raise unknown("table or figure", table, where, sorted(valid))
    return names


# Csv files


def _artefacts(
    first: Tree, second: Tree, tolerance: float, chosen: Collection[str] | None = None
) -> Iterator[TreeDifference]:
    """Yield what differs between tables, figures, claims and verdicts; `chosen` alone if given."""
    if chosen is None:
        alone = {*first.scales} ^ {*second.scales}
        for scale in sorted(alone):
            yield only_in("scales", scale, scale in first.scales)
        names = dict.fromkeys([*first.files, *second.files])
        chosen = [name for name in names if name.partition("/")[0] not in alone]
    several = len({*first.scales, *second.scales}) > 1
    for name in chosen:
        scale, _, artefact = name.partition("/")
        title = name if several else artefact
        # A file whose heading is damaged is there, too: `rows` refuses it.
        paths = [tree.folder / f"{name}.csv" for tree in (first, second)]
        if not all(path.is_file() for path in paths):
            # compare.csv follows from the tables, and some trees do not keep it.
            if artefact != "compare":
                yield only_in("artefacts", title, name in first.files)
            continue
        lines = [rows(path) for path in paths]
        # Trees of earlier versions have no numbers by seed.
        by_seed = [path.with_name(f"{path.stem}{SEEDS}") for path in paths]
        if all(path.is_file() for path in by_seed):
            lines = [of_table + rows(path) for of_table, path in zip(lines, by_seed, strict=True)]
        group = _group(artefact, lines[0] or lines[1])
        a, b = (_places(group, title, of_tree) for of_tree in lines)
        for line in (*a.values(), *b.values()) if group == "verdicts" else ():
            table = f"{scale}/{line.get('paper')}/{line.get('table')}"
            if table in first.files and table in second.files:
                for column in _OF_TABLE:
                    line.pop(column, None)
        yield from differences(group, a, b, tolerance)


def _group(artefact: str, lines: list[Line]) -> str:
    """Return what the lines of a file are: cells, claims, verdicts, or the points of figures."""
    if artefact in ("claims", "compare"):
        return "claims" if artefact == "claims" else "verdicts"
    return "cells" if {"block", "row", "column"} <= {*(lines or [{}])[0]} else "figures"


def _places(group: str, title: str, lines: list[Line]) -> dict[str, Line]:
    """Return the values of a csv file's lines by place; the second line of a place is numbered.

    An empty field is like a column that a file does not have.
    """
    values = [
        {name: text for name, text in line.items() if text and name not in _REPEATED}
        for line in lines
    ]
    if group == "figures":
        points = {
            f"line {number} {name}": text
            for number, line in enumerate(values, start=2)
            for name, text in line.items()
        }
        return {title: {"lines": str(len(values)), **points}}
    places: dict[str, Line] = {}
    times: Counter[str] = Counter()
    for line, of_line in zip(lines, values, strict=True):
        seed = f"seed {line['seed']}" if "seed" in line else ""
        named = {**line, "row": f"“{line.get('row', '')}”", "seed": seed}
        key = [named.get(name, "") for name in _KEYS[group]]
        place = " ".join(filter(None, [title, *key] if group == "cells" else key))
        times[place] += 1
        places[f"{place} {times[place]}" if times[place] > 1 else place] = of_line
    return places


# Runs


def _pairs(
    first: Tree, second: Tree
) -> tuple[list[tuple[str, RunResults, RunResults]], list[TreeDifference]]:
    """Return the trainings that ended in both trees, and those that a tree has alone.

    Runs are found by name, so that one run with two settings is a pair. Where a tree has several
    runs of a name, which scales have, the identity finds them too.
    """
    counts = [Counter(map(_name, tree.run_folders)) for tree in (first, second)]
    several = {name for count in counts for name in count if count[name] > 1}
    a, b = (
        {_name(folder, _name(folder) in several): folder for folder in tree.run_folders}
        for tree in (first, second)
    )
    pairs, alone = [], []
    for name in dict.fromkeys([*a, *b]):
        if name not in a or name not in b:
            alone.append(only_in("runs", name, name in a))
            continue
        runs = read_run(a[name]), read_run(b[name])
        if runs[0] and runs[1]:
            pairs.append((name, *runs))
        elif any(runs):
            alone.append(
                TreeDifference("runs", name, f"has not ended in {'B' if runs[0] else 'A'}")
            )
    return pairs, alone


def _name(folder: Path, with_hash: bool = False) -> str:
    """Return what lines call a training: `<paper>/<run>`, and its seed if that is not 1."""
    run, _, digits = folder.parent.name.rpartition("-")
    name = f"{folder.parts[-3]}/{run}-{digits}" if with_hash else f"{folder.parts[-3]}/{run}"
    return name if folder.name == "1" else f"{name}, seed {folder.name}"


def _of_pair(
    name: str, first: RunResults, second: RunResults, tolerance: float
) -> Iterator[TreeDifference]:
    """Yield what differs between two trainings, its code and costs included."""
    files = first.training.files, second.training.files
    equal = {path for path, digits in files[0].items() if files[1].get(path) == digits}
    a, b = (_of_run(name, run, equal, tolerance) for run in (first, second))
    if a["settings"] == b["settings"]:
        for groups, run in ((a, first), (b, second)):
            digits = run.folder.parent.name.rpartition("-")[2]
            groups["settings"] = {name: {"identity": digits}}
    for group in a:
        yield from differences(group, a[group], b[group], tolerance)


def _of_run(
    name: str, run: RunResults, equal: Collection[str], tolerance: float
) -> dict[str, Places]:
    """Return what is compared of a training, by group; `equal` are files that both trees have.

    With a tolerance diagnostics are not compared, of which only hashes are known.
    """
    changed = {path: digits for path, digits in run.training.files.items() if path not in equal}
    record = {" ".join(key): value for key, value in flat(run.training.model_dump())}
    settings, series = run.folder / "spec.yaml", run.folder / "metrics.tsv"
    points: dict[str, Any] = {}
    if series.name in changed and series.is_file():
        for row in metrics.read(series):
            update = f"update {row['update'] or 0:g}"
            # A column without numbers has none.
            points |= {f"{update} {key}": value for key, value in row.items() if value is not None}
    if not tolerance:
        points |= {path: changed[path] for path in changed if path.startswith("diagnostics/")}
    plain = {}
    if settings.name in changed and settings.is_file():
        plain = yaml_values.read(settings, run.folder.parent).plain
    return {
        "settings": {name: {".".join(key): value for key, value in flat(plain)}},
        "recipe": {name: run.recipe},
        "measurements": {
            f"{name}, {key}": {".".join(at): value for at, value in flat(measured.model_dump())}
            for key, measured in run.measurements.items()
        },
        "series": {name: points},
        **{
            group: {name: {key: record[key] for key in record if key.startswith(keys)}}
            for group, keys in _OF_TRAINING.items()
        },
    }


def _gathered(differences: Iterable[TreeDifference]) -> Iterator[TreeDifference]:
    """Yield differences; those that many runs share in equal words become one line."""
    shared: dict[tuple[str, str], list[TreeDifference]] = {}
    for item in differences:
        if item.group in _SHARED:
            shared.setdefault((item.group, item.what), []).append(item)
        else:
            yield item
    for same in shared.values():
        place = same[0].place if len(same) == 1 else f"{len(same)} runs"
        yield TreeDifference(same[0].group, place, same[0].what, same[0].first, same[0].second)


def _in_all(spent: list[TreeDifference]) -> Iterator[TreeDifference]:
    """Yield the costs of all runs that took other times."""
    if spent:
        a, b = sum(item.first for item in spent), sum(item.second for item in spent)
        place = f"{len(spent)} runs" if len(spent) > 1 else spent[0].place
        words = f"{a / _HOUR:.2f} hours of training in A, {b / _HOUR:.2f} in B"
        yield TreeDifference("costs", place, words, a, b)


# Values of both trees, by place and name


def flat(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the values within nested mappings and lists, each with its keys."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, (*place, str(key)))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value, start=1):
            yield from flat(inner, (*place, str(number)))
    else:
        yield place, value


def differences(
    group: str, first: Places, second: Places, tolerance: float
) -> Iterator[TreeDifference]:
    """Yield the places that one tree alone has, and those whose values differ."""
    for place in dict.fromkeys([*first, *second]):
        if place not in first or place not in second:
            yield only_in(group, place, place in first)
            continue
        names = dict.fromkeys([*first[place], *second[place]])
        pairs = {name: (first[place].get(name), second[place].get(name)) for name in names}
        changed = {
            name: pairs[name]
            for name in sorted(names, key=lambda name: name not in _ANSWERS)
            if not _alike(name, *pairs[name], tolerance)
        }
        if group in _LINE_EACH:
            for name, pair in changed.items():
                yield TreeDifference(group, place, _both(name, *pair), *pair)
        elif changed:
            words = "; ".join(_both(name, *changed[name]) for name in [*changed][:_SHOWN])
            more = f"; and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            values = ({name: pair[side] for name, pair in changed.items()} for side in (0, 1))
            yield TreeDifference(group, place, words + more, *values)


def only_in(group: str, place: str, first: bool) -> TreeDifference:
    """Return a difference that one tree alone has something."""
    values = (place, None) if first else (None, place)
    return TreeDifference(group, place, f"only in {'A' if first else 'B'}", *values)


def _alike(name: str, first: Any, second: Any, tolerance: float) -> bool:
    """Return whether two values are equal, or numbers that are near; text may be a number."""
    if first == second:
        return True
    if name in _TEXTS_WITH_NUMBERS and tolerance:
        # Their numbers are those of tables and figures.
        return _NUMBER.sub("", first or "") == _NUMBER.sub("", second or "")
    numbers = _number(first), _number(second)
    if numbers[0] is None or numbers[1] is None:
        return False
    # Not a number is equal to itself, and to nothing else.
    return abs(numbers[0] - numbers[1]) <= tolerance or str(first) == str(second)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return None


def _both(name: str, first: Any, second: Any) -> str:
    """Return two values in words; long texts from a little before the place where they differ."""
    texts, start = [_text(first), _text(second)], 0
    if max(map(len, texts)) > _LONG:
        pairs = enumerate(zip(*texts, strict=False))
        equal = next((at for at, (a, b) in pairs if a != b), min(map(len, texts)))
        start = texts[0].rfind(" ", 0, max(equal - _LONG // 2, 0)) + 1
    shown = [_cut(text, start) for text in texts]
    return f"{name} {shown[0]} in A, {shown[1]} in B"


def _text(value: Any) -> str:
    if value in (None, ""):
        return "nothing"
    text = f"{value:.10g}" if isinstance(value, float) else str(value)
    return text[:_HASH_SHOWN] if _HASH.fullmatch(text) else text


def _cut(text: str, start: int) -> str:
    before, after = ("…" if start else ""), ("…" if len(text) > start + _LONG else "")
    return f"{before}{text[start : start + _LONG]}{after}"
