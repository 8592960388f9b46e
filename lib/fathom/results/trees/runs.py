"""Runs of two trees, compared by their manifests: settings, outcomes, measurements, provenance."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.config.yaml_values import read
from fathom.io import metrics
from fathom.results.manifest import Manifest
from fathom.results.trees.tree import RunKey, Tree, TreeRun
from fathom.results.trees.values import Difference, both, changed, flat, only_in

SPEC, METRICS = "spec.yaml", "metrics.tsv"
_SERIES = (METRICS, "diagnostics/")
_HASH = 8  # digits of a hash that a line shows
_ALIKE = ("recipe", "data", "code")  # groups in which many runs have the same difference


@dataclass(frozen=True)
class Pair:
    """A training that both trees have.

    Attributes:
        name: what lines call it.
        first: its folder and manifest in the first tree.
        second: those in the second one.
    """

    name: str
    first: TreeRun
    second: TreeRun


def pairs(first: Tree, second: Tree) -> tuple[list[Pair], list[Difference]]:
    """Return the trainings that both trees have, and those that one has alone.

    A run of one name and seed whose settings differ is the same run, with other settings.

    Raises:
        FathomError: a manifest is damaged.
    """
    own, other = dict(first.runs()), dict(second.runs())
    shared = {key: key for key in own if key in other}
    left = _alone(own, shared), _alone(other, shared.values())
    shared |= {key: left[1][name] for name, key in left[0].items() if name in left[1]}
    taken = {*shared.values()}
    alone = [only_in("runs", _name(key), True) for key in own if key not in shared]
    alone += [only_in("runs", _name(key), False) for key in other if key not in taken]
    return [Pair(_name(key), own[key], other[to]) for key, to in shared.items()], alone


def _alone(runs: Iterable[RunKey], taken: Iterable[RunKey]) -> dict[tuple[str, int], RunKey]:
    """Return by name and seed the runs that are not taken, where a name and seed has one."""
    taken = {*taken}
    left = [key for key in runs if key not in taken]
    counts = Counter((name, seed) for name, _, seed in left)
    return {(key[0], key[2]): key for key in left if counts[key[0], key[2]] == 1}


def _name(key: RunKey) -> str:
    name, _, seed = key
    return name if seed == 1 else f"{name}, seed {seed}"


def differences(pairs: Iterable[Pair], tolerance: float = 0.0) -> Iterator[Difference]:
    """Yield what differs between trainings.

    Args:
        pairs: the trainings.
        tolerance: how far two numbers may be apart, in their unit. Above 0, diagnostics are not
            compared, of which only hashes are known.

    Raises:
        FathomError: the settings or the metrics of a run are damaged.
    """
    for pair in pairs:
        own, other = pair.first.manifest, pair.second.manifest
        if own is None or other is None:
            if own is not other:
                tree = "A" if own is None else "B"
                yield Difference("runs", pair.name, f"no manifest in {tree}: not finished")
            continue
        yield from _settings(pair, own, other)
        yield from _outcome(pair.name, own, other)
        yield from _named("recipe", pair.name, own.recipe, other.recipe)
        yield from _named("data", pair.name, *map(_data, (own, other)))
        yield from _measurements(pair.name, own, other, tolerance)
        yield from _series(pair, own, other, tolerance)


def _settings(pair: Pair, own: Manifest, other: Manifest) -> Iterator[Difference]:
    if own.files.get(SPEC) == other.files.get(SPEC) and own.identity == other.identity:
        return
    values = [_values(run.folder) for run in (pair.first, pair.second)]
    parts = changed(*values)
    for key, before, after in parts:
        yield Difference("settings", pair.name, both(key, before, after), before, after)
    if not parts and own.identity != other.identity:
        words = both("identity", own.identity[:_HASH], other.identity[:_HASH])
        yield Difference("settings", pair.name, words, own.identity, other.identity)


def _values(folder: Path) -> dict[str, Any]:
    path = folder / SPEC
    if not path.is_file():
        return {}
    return {".".join(key): value for key, value in flat(read(path, folder.parent).value)}


def _outcome(name: str, own: Manifest, other: Manifest) -> Iterator[Difference]:
    values = [
        {
            "outcome": one.outcome.kind,
            "at update": one.outcome.update,
            "updates": one.totals.updates,
            "target tokens": one.totals.target_tokens,
        }
        for one in (own, other)
    ]
    yield from _named("outcomes", name, *values)


def _data(file: Manifest) -> dict[str, Any]:
    return {
        "data set": file.data.dataset,
        "direction": file.data.direction,
        "text": file.data.corpus_sha256[:_HASH],
        "encoded text": file.data.tensors_sha256[:_HASH],
    }


def _named(
    group: str, name: str, own: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[Difference]:
    for key, before, after in changed(own, other):
        yield Difference(group, name, both(key, before, after), before, after)


def _measurements(
    name: str, own: Manifest, other: Manifest, tolerance: float
) -> Iterator[Difference]:
    for key in sorted({*own.measurements, *other.measurements}):
        place = f"{name}, {key}"
        if key not in own.measurements or key not in other.measurements:
            yield only_in("measurements", place, key in own.measurements)
            continue
        records = (file.measurements[key].model_dump() for file in (own, other))
        parts = changed(*(dict(flat(record)) for record in records), tolerance=tolerance)
        if parts:
            at, before, after = parts[0]
            more = f", and {len(parts) - 1} more values" if len(parts) > 1 else ""
            words = both(".".join(at), before, after) + more
            yield Difference("measurements", place, words, before, after)


def _series(pair: Pair, own: Manifest, other: Manifest, tolerance: float) -> Iterator[Difference]:
    """Yield the series of a training that differ, of which no one has times."""
    hashes = [
        {path: digits for path, digits in file.files.items() if path.startswith(_SERIES)}
        for file in (own, other)
    ]
    others = [path for path, _, _ in changed(*hashes)]
    if METRICS in others:
        others.remove(METRICS)
        yield from _metrics(pair, tolerance)
    if others and not tolerance:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        values = [[path for path in one if path in others] for one in hashes]
        yield Difference("series", pair.name, f"another {others[0]}{more}", *values)


def _metrics(pair: Pair, tolerance: float) -> Iterator[Difference]:
    """Yield the first number of the metrics that differs; a column without numbers is none."""
    parts = changed(
        *(_points(run.folder / METRICS) for run in (pair.first, pair.second)), tolerance=tolerance
    )
    if parts:
        (update, column), before, after = parts[0]
        more = f", and {len(parts) - 1} more numbers" if len(parts) > 1 else ""
        words = f"{both(column, before, after)} at update {update:g}{more}"
        yield Difference("series", pair.name, words, before, after)


def _points(path: Path) -> dict[tuple[float, str], float]:
    rows = metrics.read(path) if path.is_file() else []
    return {
        (row["update"] or 0.0, column): value
        for row in rows
        for column, value in row.items()
        if value is not None
    }


def code(pairs: Iterable[Pair]) -> Iterator[Difference]:
    """Yield what computed the runs: sources, packages and devices, which are no results."""
    for pair in pairs:
        if pair.first.manifest and pair.second.manifest:
            yield from _named("code", pair.name, *map(_code, (pair.first, pair.second)))


def _code(run: TreeRun) -> dict[str, Any]:
    file = run.manifest
    if file is None:
        return {}
    device = {f"device {'.'.join(key)}": value for key, value in flat(file.device)}
    return {"commit": (file.commit or "")[:_HASH], **file.versions, **device}


def costs(pairs: Iterable[Pair]) -> Iterator[Difference]:
    """Yield the seconds of training of each run that took others."""
    for pair in pairs:
        if pair.first.manifest and pair.second.manifest:
            own, other = (
                run.manifest.totals.seconds for run in (pair.first, pair.second) if run.manifest
            )
            for _, before, after in changed({"": own}, {"": other}):
                words = both("seconds of training", before, after)
                yield Difference("costs", pair.name, words, before, after)


def gathered(differences: Iterable[Difference]) -> Iterator[Difference]:
    """Yield differences; of those that many runs share in equal words, one that counts the runs."""
    shared: dict[tuple[str, str], list[Difference]] = {}
    for one in differences:
        if one.group in _ALIKE:
            shared.setdefault((one.group, one.what), []).append(one)
        else:
            yield one
    for same in shared.values():
        place = same[0].place if len(same) == 1 else f"{len(same)} runs"
        yield Difference(same[0].group, place, same[0].what, same[0].first, same[0].second)
