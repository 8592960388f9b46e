"""Scales: a scale's file on top of the one it is like, and a run's entry at a scale."""

from collections.abc import Iterator
from typing import Any

from fathom.config.check import check
from fathom.config.files import ConfigFiles
from fathom.config.merge import Entry, merge
from fathom.config.runs import Resolved
from fathom.config.schema.run import length
from fathom.config.schema.scale import PaperScale, Rule, Scale
from fathom.config.schema.section import Section, fields_of, plain
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, refuse, unknown

UPDATES: Key = ("training", "updates")
# What a rule may ask of a run besides its settings.
ASKED = ("like", "run", "paper")


def layered(name: str, files: ConfigFiles, paper: str | None = None) -> Value:
    """Return a scale's file with all that comes before it, and what papers say of each.

    It is for the runs of a paper: updates and rules of other papers are left out. Data sets of all
    papers are substituted, for corpora are of no paper.
    """
    layers: list[Value] = []
    for scale in _chain(name, files):
        # Before papers' parts are laid over it, which would hide a wrong value.
        refuse(check(Scale, files.read("scale", scale), partial=True)[1])
        layers.append(files.read("scale", scale))
        for of_paper, file in files.all("scales").items():
            part = file.find(scale)
            if part is None:
                continue
            if of_paper != paper and isinstance(part.value, dict):
                part = part.without("updates", "rules")
            refuse(check(PaperScale, part)[1])
            layers.append(_of_paper(of_paper, part))
    value = layers[0]
    for layer in layers[1:]:
        value = merge(value, layer, join=True)
    # A key that is missing is missing in the scale's own file.
    return files.read("scale", name).over(value.value)


def gives_updates(name: str, files: ConfigFiles) -> bool:
    """Return whether a scale gives runs their updates, itself or in what any paper says of it."""
    parts = files.all("scales").values()
    return any(
        files.read("scale", scale).get("updates")
        or any(part.get(scale, "updates") for part in parts)
        for scale in _chain(name, files)
    )


def _chain(name: str, files: ConfigFiles) -> list[str]:
    """Return the scales whose values a scale has, itself last."""
    chain = [name]
    while isinstance(like := files.read("scale", chain[0]).get("like"), str):
        where = files.read("scale", chain[0]).place("like")
        if like in chain:
            what = f"`like` goes in a circle: {' > '.join((*reversed(chain), like))}"
            raise FathomError(what, where, "delete one of these `like`")
        if like not in files.names("scale"):
            raise unknown("scale", like, where, files.names("scale"))
        chain.insert(0, like)
    return chain


def _of_paper(paper: str, part: Value) -> Value:
    """Return a scale's part of a paper's scales.yaml with the keys of a scale's own file."""
    inside = dict(part.value)
    if "updates" in inside:
        inside["updates"] = part.over({paper: inside["updates"]})
    if "rules" in inside:
        rules = []
        for rule in inside["rules"].value:
            if (run := rule.find("when", "run")) is not None:
                names = run.wrap([f"{paper}/{name}" for name in _as_list(run.plain)])
                rule = rule.put(("when", "run"), names)
            rules.append(rule)
        inside["rules"] = inside["rules"].over(rules)
    return part.over(inside)


def scaled(resolved: Resolved, scale: Scale, file: Value, lent: int | str | None) -> Entry:
    """Return a run's entry at a scale; the entry itself if nothing changes.

    The data set comes first, then ratios by unit and the group's updates, then the rules, of which
    a later one wins. The run has the paper's own settings; `file` are the scale's values. Of what a
    study writes, its own `scales` alone change anything but the data set; where it writes the
    updates, `lent` are those that the recipe has without it.
    """
    entry, run = resolved.entry, resolved.run
    changes: dict[Key, Value] = {}
    for key in ("dataset", "pieces_of"):
        if (dataset := getattr(run.data, key)) in scale.datasets:
            changes["data", key] = file.at(("datasets", dataset))
    by_unit = _by_unit(resolved, scale, file, lent)
    changes |= {path: new for path, new in by_unit.items() if _may_change(path, resolved, new)}
    for number, rule in enumerate(scale.rules):
        if not applies(rule, resolved):
            continue
        for dotted in rule.set:
            path = tuple(dotted.split("."))
            new = file.at(("rules", number, "set", dotted))
            if _may_change(path, resolved, new) and _may_set(path, resolved):
                # What was set before loses its place too, so that a later rule comes later.
                changes.pop(path, None)
                changes[path] = new
    values = entry.values
    for path, value in changes.items():
        if value.plain != values.get(*path):
            values = values.put(path, value)
    return entry if values is entry.values else Entry(entry.name, values, entry.ancestors)


def _may_change(path: Key, resolved: Resolved, new: Value) -> bool:
    """Return whether a scale may change a path: what a study writes only by the same file."""
    given = resolved.entry.values.find(*path)
    return given is None or not given.file.endswith("study.yaml") or given.file == new.file


def _may_set(path: Key, resolved: Resolved) -> bool:
    """Return whether a rule may set a path: of a method only what no run or family gives."""
    if path[0] != "method":
        return True
    exists = len(path) == 2 and path[1] in fields_of(type(resolved.run.method))
    return exists and resolved.entry.values.find(*path) is None


def applies(rule: Rule, resolved: Resolved) -> bool:
    """Return whether a rule applies to a run, by its settings at the paper's own scale."""
    return all(
        any(value in _as_list(wanted) for value in values_of(key, resolved))
        for key, wanted in rule.when.items()
    )


def values_of(key: str, resolved: Resolved) -> list[Any]:
    """Return what a run has for a key of `when`; several values where it has a list."""
    paper, ancestors = resolved.paper, resolved.entry.ancestors
    if key == "paper":
        return [paper]
    if key in ("run", "like"):
        # What another paper lends is there by its full name; that paper's rules have the short one.
        lent = [each for each in ancestors if each.startswith(f"{paper}/")]
        like = [*ancestors, *(each.removeprefix(f"{paper}/") for each in lent)]
        return [resolved.name, *lent] if key == "run" else like
    value: Any = resolved.run
    for part in key.split("."):
        value = getattr(value, part, None)
    return [plain(item) for item in _as_list(value)]


def leaves(section: Section, above: Key = ()) -> Iterator[tuple[Key, Any, dict[str, Any]]]:
    """Yield path, value and what is known of each setting; a null section is one value."""
    for key, field in fields_of(type(section)).items():
        value, extra = getattr(section, key), field.json_schema_extra
        if isinstance(value, Section):
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), value, extra if isinstance(extra, dict) else {}


def _by_unit(
    resolved: Resolved, scale: Scale, file: Value, lent: int | str | None
) -> dict[Key, Value]:
    """Return the changes of the scale's ratios, and of the updates of the run's group."""
    changes: dict[Key, Value] = {}
    run, paper, group = resolved.run, resolved.paper, resolved.run.group or ""
    updates = scale.updates.get(paper, {}).get(group)
    updates_place = file.at(("updates", paper, group))
    written = not _may_change(UPDATES, resolved, updates_place)
    whole = lent if written and lent is not None else run.training.updates
    for path, value, extra in leaves(run):
        unit = extra.get("unit")
        if unit in scale.times and value:
            up, down = map(int, scale.times[unit].split("/"))
            number = max(1, int(value * up / down + 0.5))
            changes[path] = file.at(("times", unit)).over(type(value)(number))
        if unit != "updates" or updates is None or value is None or path == UPDATES:
            continue
        # Between updates and epochs, the ratio is known only with the corpus.
        if type(value) is type(whole):
            # Rounded up, in whole numbers.
            changes[path] = updates_place.over(-(-length(value) * updates // length(whole)))
    if updates is not None:
        changes[UPDATES] = updates_place
    return changes


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
