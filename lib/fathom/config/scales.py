"""Scales: a scale's file on top of the one it is like, and a run's entry at a scale."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fathom.config.check import check
from fathom.config.merge import Entry, merge
from fathom.config.schema.run import RunSettings
from fathom.config.schema.scale import PaperScale, Rule, Scale
from fathom.config.schema.section import Section, fields_of, plain
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, refuse, unknown

UPDATES: Key = ("training", "updates")
# What a rule may ask of a run besides its settings.
ASKED = ("like", "run", "paper")


def layered(
    name: str, read: Callable[[str], Value], names: set[str], papers: Mapping[str, Value]
) -> Value:
    """Return a scale's file with all that comes before it, and what papers say of each.

    Args:
        name: the scale.
        read: returns a scale's file.
        names: those of all scales.
        papers: scales.yaml of the papers that have one.

    Raises:
        Findings: If a `like` names no scale or goes in a circle, or a paper's part is wrong.
    """
    chain = [name]
    while isinstance(like := read(chain[0]).get("like"), str):
        where = read(chain[0]).place("like")
        if like in chain:
            what = f"`like` goes in a circle: {' > '.join((*reversed(chain), like))}"
            refuse([FathomError(what, where, "delete one of these `like`")])
        if like not in names:
            refuse([unknown("scale", like, where, names)])
        chain.insert(0, like)
    layers: list[Value] = []
    for layer in chain:
        parts = {paper: part for paper, file in papers.items() if (part := file.find(layer))}
        refuse(finding for part in parts.values() for finding in check(PaperScale, part)[1])
        # Before papers' parts are laid over it, which would hide a wrong value.
        refuse(check(Scale, read(layer), partial=True)[1])
        layers += [read(layer), *(_of_paper(paper, part) for paper, part in parts.items())]
    value = layers[0]
    for layer in layers[1:]:
        value = merge(value, layer, join=True)
    # A key that is missing is missing in the scale's own file.
    return read(name).over(value.value)


def _of_paper(paper: str, part: Value) -> Value:
    """Return a scale's part of a paper's scales.yaml with the keys of a scale's own file."""
    inside = dict(part.value)
    if "updates" in inside:
        inside["updates"] = part.over({paper: inside["updates"]})
    if "rules" in inside:
        rules = inside["rules"]
        inside["rules"] = rules.over([_of_papers_runs(paper, rule) for rule in rules.value])
    return part.over(inside)


def _of_papers_runs(paper: str, rule: Value) -> Value:
    """Return a rule of a paper, which asks also that a run is the paper's."""
    when = rule.at(("when",))
    asked = {"paper": when.over(paper), **(when.value or {})}
    if (run := when.find("run")) is not None:
        asked["run"] = run.wrap([f"{paper}/{name}" for name in _as_list(run.plain)])
    return rule.put(("when",), when.over(asked))


def scaled(entry: Entry, run: RunSettings, name: str, scale: Scale, file: Value) -> Entry:
    """Return a run's entry at a scale; the entry itself if nothing changes.

    The data set comes first, then ratios by unit and the group's updates, then the rules, of which
    a later one wins.

    Args:
        entry: the run as runs.yaml gives it, its preset written out.
        run: the same, checked and with all defaults.
        name: `<paper>/<run>`.
        scale: the scale.
        file: its values, for their places.
    """
    changes: dict[Key, Value] = {}
    for key in ("dataset", "pieces_of"):
        if (dataset := getattr(run.data, key)) in scale.datasets:
            changes["data", key] = file.at(("datasets", dataset))
    changes |= _by_unit(run, name.partition("/")[0], scale, file)
    for number, rule in enumerate(scale.rules):
        if not applies(rule, entry, run, name):
            continue
        for dotted in rule.set:
            path = tuple(dotted.split("."))
            if _may_set(path, entry, run):
                # What was set before loses its place too, so that a later rule comes later.
                changes.pop(path, None)
                changes[path] = file.at(("rules", number, "set", dotted))
    values = entry.values
    for path, value in changes.items():
        if value.plain != values.get(*path):
            values = values.put(path, value)
    return entry if values is entry.values else Entry(entry.name, values, entry.ancestors)


def _may_set(path: Key, entry: Entry, run: RunSettings) -> bool:
    """Return whether a rule may set a path: of a method only what no run or family gives."""
    if path[0] != "method":
        return True
    known = len(path) == 2 and path[1] in fields_of(type(run.method))
    return known and entry.values.find(*path) is None


def applies(rule: Rule, entry: Entry, run: RunSettings, name: str) -> bool:
    """Return whether a rule applies to a run, by its settings at the paper's own scale."""
    return all(
        any(value in _as_list(wanted) for value in values_of(key, entry, run, name))
        for key, wanted in rule.when.items()
    )


def values_of(key: str, entry: Entry, run: RunSettings, name: str) -> list[Any]:
    """Return what a run has for a key of `when`; several values where it has a list."""
    origins = {"run": name, "paper": name.partition("/")[0], "like": entry.ancestors}
    if key in origins:
        return _as_list(origins[key])
    value: Any = run
    for part in key.split("."):
        value = getattr(value, part, None)
    return [plain(item) for item in _as_list(value)]


def units(section: Section, above: Key = ()) -> Iterator[tuple[Key, str, Any]]:
    """Yield path, unit and value of each setting of a run that has a unit."""
    for key, field in fields_of(type(section)).items():
        value, extra = getattr(section, key), field.json_schema_extra
        if isinstance(value, Section):
            yield from units(value, (*above, key))
        elif isinstance(extra, dict) and "unit" in extra and value is not None:
            yield (*above, key), str(extra["unit"]), value


def _by_unit(run: RunSettings, paper: str, scale: Scale, file: Value) -> dict[Key, Value]:
    """Return the changes of the scale's ratios, and of the updates of the run's group."""
    changes: dict[Key, Value] = {}
    group, whole = run.group or "", run.training.updates
    updates = scale.updates.get(paper, {}).get(group)
    updates_place = file.at(("updates", paper, group))
    for path, unit, value in units(run):
        if unit in scale.times and value:
            up, down = map(int, scale.times[unit].split("/"))
            number = max(1, int(value * up / down + 0.5))
            changes[path] = file.at(("times", unit)).over(type(value)(number))
        if unit != "updates" or updates is None or path == UPDATES:
            continue
        # Where the run's length is in epochs, the ratio is known only with the corpus.
        if isinstance(whole, int) and isinstance(value, int):
            # Rounded up, in whole numbers.
            changes[path] = updates_place.over(-(-value * updates // whole))
    if updates is not None:
        changes[UPDATES] = updates_place
    return changes


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
