"""Two trees of results compared: all differences, in groups, and how they read."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from fathom.io.errors import FathomError, nearest
from fathom.results.trees import artefacts, runs
from fathom.results.trees.tree import Tree
from fathom.results.trees.values import Difference

# In this order they are printed.
GROUPS = (
    "scales", "artefacts", "runs", "settings", "recipe", "data", "outcomes", "cells", "figures",
    "claims", "verdicts", "measurements", "series", "costs",
)  # fmt: skip
HOUR = 3600
_ONE = {"files": "file", "runs": "run"}


@dataclass(frozen=True)
class Compared:
    """What differs between two trees.

    Attributes:
        differences: in results, by group.
        apart: what is no result: code, packages, devices and costs.
        counts: how much was compared, by what it is.
    """

    differences: tuple[Difference, ...]
    apart: tuple[Difference, ...]
    counts: dict[str, int]

    @property
    def equal(self) -> bool:
        """Whether the results are the same."""
        return not self.differences


def compare(
    first: Tree,
    second: Tree,
    tolerance: float = 0.0,
    *,
    table: str = "",
    scale: str = "",
    costs: bool = False,
) -> Compared:
    """Compare two trees of results.

    Args:
        first: a tree.
        second: another one.
        tolerance: how far two numbers may be apart, in their unit.
        table: a table or figure that is compared alone, `<paper>_<name>`; all if empty.
        scale: whose tables, figures, claims and verdicts are compared alone; all if empty.
        costs: whether other costs are differences.

    Raises:
        FathomError: a file is damaged, or no tree has the table or the scale.
    """
    shared = {*first.files} & {*second.files}
    if table or scale:
        chosen = _chosen(first, second, table, scale)
        own = tuple(artefacts.differences(first, second, tolerance, chosen))
        return Compared(own, (), {"files": len(shared.intersection(chosen))})
    pairs, differences = runs.pairs(first, second)
    differences += runs.gathered(runs.differences(pairs, tolerance))
    differences += artefacts.differences(first, second, tolerance)
    spent = list(runs.costs(pairs))
    differences += spent if costs else []
    differences.sort(key=lambda one: GROUPS.index(one.group))
    apart = [*runs.gathered(runs.code(pairs)), *([] if costs else _in_all(spent))]
    counts = {"runs": len(pairs), "tables, figures and lists": len(shared)}
    return Compared(tuple(differences), tuple(apart), counts)


def _chosen(first: Tree, second: Tree, table: str, scale: str) -> list[str]:
    """Return the files of a table or figure, of a scale, or of both.

    Raises:
        FathomError: no tree has them.
    """
    where = f"{first.folder}, {second.folder}"
    names = list(dict.fromkeys((*first.files, *second.files)))
    if scale:
        scales = dict.fromkeys((*first.scales, *second.scales))
        if scale not in scales:
            raise FathomError(f"no scale '{scale}'", where, nearest(scale, scales))
        names = [name for name in names if name.startswith(f"{scale}/")]
    if table:
        targets = {name: name.partition("/")[2].replace("/", "_", 1) for name in names}
        names = [name for name in names if targets[name] == table]
        if not names:
            known = {target for name, target in targets.items() if name.count("/") > 1}
            raise FathomError(f"no table or figure '{table}'", where, nearest(table, sorted(known)))
    return names


def _in_all(spent: list[Difference]) -> Iterator[Difference]:
    """Yield the costs of all runs that took other times."""
    if spent:
        own, other = (
            sum(values) for values in zip(*((one.first, one.second) for one in spent), strict=True)
        )
        place = f"{len(spent)} runs" if len(spent) > 1 else spent[0].place
        words = f"{own / HOUR:.2f} hours of training in A, {other / HOUR:.2f} in B"
        yield Difference("costs", place, words, own, other)


def lines(compared: Compared) -> Iterator[str]:
    """Yield what a reader sees: a line for each difference, in groups, then counts."""
    for group, items in groupby(compared.differences, lambda one: one.group):
        own = list(items)
        yield f"{group} ({len(own)})"
        yield from (f"  {one.line}" for one in own)
    if compared.apart:
        yield "no results, and not counted"
        yield from (f"  {one.group}: {one.line}" for one in compared.apart)
    counted = ", ".join(
        f"{count} {_ONE.get(name, name) if count == 1 else name}"
        for name, count in compared.counts.items()
    )
    if compared.equal:
        yield f"equal: {counted}"
    else:
        groups = Counter(one.group for one in compared.differences)
        parts = ", ".join(f"{groups[group]} {group}" for group in GROUPS if groups[group])
        yield f"{len(compared.differences)} differences: {parts}; compared: {counted}"


def record(compared: Compared) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "equal": compared.equal,
        "compared": compared.counts,
        "counts": dict(Counter(one.group for one in compared.differences)),
        "differences": [asdict(one) for one in compared.differences],
        "apart": [asdict(one) for one in compared.apart],
    }
