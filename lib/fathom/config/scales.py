"""Scales: what is cut down, by kind of run, so that a chain fits a machine."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from annotated_types import MinLen
from pydantic import Field, field_validator

from fathom.config.inheritance import Entry
from fathom.config.places import Place
from fathom.config.schema.run import RunSettings
from fathom.config.schema.types import Count, Positive, Seeds, Text
from fathom.config.section import AsTuple, Doc, Section, fields_of, plain
from fathom.config.setting_paths import unknown_part
from fathom.config.validation import check
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import ANY, Dependent, FathomError, nearest

_RATIO = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")
_UPDATES = ("training", "updates")
# What a rule may ask of a run besides its settings.
_ASKED = ("like", "run", "paper")


class Rule(Section):
    """Settings of the runs that fit: `when` holds at the paper's own scale."""

    when: Annotated[
        dict[str, Any],
        Doc("A setting's value, or a list of them; `like: family`, `run: paper/name`, `paper`."),
    ] = Field(default_factory=dict)
    set: Annotated[dict[str, Any], MinLen(1), Doc("The value at each path.")]


class CheckLearning(Section):
    """The run that shows whether a scale works at all."""

    run: Annotated[Text, Doc("The run that must learn, `<paper>/<run>`.")]
    nats_below_unigram: Annotated[Positive, Doc("How much it must learn (nats a token).")]


class Scale(Section):
    """The keys of config/scales/<name>.yaml; a scale that gives none is the papers' own."""

    title: Annotated[Text, Doc("One sentence: what is cut down.")]
    like: Annotated[
        Text | None, Doc("Another scale, whose keys and rules come before this one's.")
    ] = None
    seeds: Annotated[Seeds | None, Doc("The seeds of every run; null: the papers'.")] = None
    times: Annotated[
        dict[str, str], Doc("The ratio of every setting with the unit layers or width.")
    ] = Field(default_factory=dict)
    datasets: Annotated[dict[str, str], Doc("The data set that substitutes another.")] = Field(
        default_factory=dict
    )
    updates: Annotated[
        dict[str, dict[str, Count]],
        Doc("Updates by paper and group; settings in updates follow the run's own ratio."),
    ] = Field(default_factory=dict)
    rules: Annotated[tuple[Rule, ...], AsTuple, Doc("From top to bottom; a later rule wins.")] = ()
    check_learning: Annotated[CheckLearning | None, Field()] = None

    @field_validator("times")
    @classmethod
    def _ratios(cls, times: dict[str, str]) -> dict[str, str]:
        for unit, ratio in times.items():
            if unit not in ("layers", "width"):
                raise ValueError(f"no unit '{unit}'; {nearest(unit, ('layers', 'width'))}")
            if not _RATIO.fullmatch(ratio):
                raise ValueError(f"'{ratio}' is no ratio; write 1/4")
        return times


def scaled(
    entry: Entry,
    paper: RunSettings,
    name: tuple[str, str],
    scale: Scale,
    file: YamlFile,
) -> Entry:
    """Return a run's entry at a scale.

    Factors by unit come first, then the data set and the group's updates, then the rules. Of a
    method a rule sets only what neither the run nor its families give.

    Args:
        entry: the run as runs.yaml gives it.
        paper: the same run, checked and with all defaults.
        name: its paper and its name.
        scale: the scale.
        file: the scale's file, for the places of the values.
    """
    changes: dict[KeyPath, tuple[Any, Place]] = {}
    top = Place(file, ())
    for key in ("dataset", "pieces_of"):
        given = getattr(paper.data, key)
        if given in scale.datasets:
            place = top.below(("datasets", given))
            changes[("data", key)] = scale.datasets[given], place
    changes |= _by_unit(paper, scale, name[0], top)
    for number, rule in enumerate(scale.rules):
        if not applies(rule, entry, paper, name):
            continue
        for dotted, value in rule.set.items():
            path = tuple(dotted.split("."))
            if path[0] == "method" and (path in _given(entry) or not _has(paper, path)):
                continue
            changes[path] = value, top.below(("rules", number, "set", dotted))
    for path, (value, place) in changes.items():
        if value != entry.get(path):
            entry = entry.with_value(path, value, place)
    return entry


def applies(rule: Rule, entry: Entry, paper: RunSettings, name: tuple[str, str]) -> bool:
    """Return whether a rule applies to a run, by its settings at the paper's own scale."""
    origins = _origins(entry, name)
    return all(
        any(
            plain(value) == given
            for value in _several(origins[key] if key in origins else _value(paper, key))
            for given in _several(values)
        )
        for key, values in rule.when.items()
    )


def missing_values(
    rule: Rule, runs: Iterable[tuple[Entry, RunSettings, tuple[str, str]]]
) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield the key and the value of a rule's `when` that no run has, and those that runs have.

    Args:
        rule: the rule.
        runs: entry, settings at the paper's own scale, and name of each run.
    """
    runs = list(runs)
    for key, values in rule.when.items():
        known = [
            plain(value)
            for entry, run, name in runs
            for value in _several(_origins(entry, name).get(key) or _value(run, key))
        ]
        for given in _several(values):
            if given not in known:
                yield key, given, [value for value in known if value is not None]


def units(run: RunSettings) -> Iterator[tuple[KeyPath, str, Any]]:
    """Yield path, unit and value of each setting of a run that has a unit."""
    waiting: list[tuple[KeyPath, Section]] = [((), run)]
    while waiting:
        above, part = waiting.pop()
        for key, field in fields_of(type(part)).items():
            value, extra = getattr(part, key), field.json_schema_extra
            if isinstance(value, Section):
                waiting.append(((*above, key), value))
            elif isinstance(extra, dict) and "unit" in extra and value is not None:
                yield (*above, key), str(extra["unit"]), value


def _by_unit(
    paper: RunSettings, scale: Scale, paper_name: str, top: Place
) -> dict[KeyPath, tuple[Any, Place]]:
    """Return the changes of the scale's ratios, and of the updates of the run's group."""
    changes: dict[KeyPath, tuple[Any, Place]] = {}
    updates = scale.updates.get(paper_name, {}).get(paper.group or "")
    updates_place = top.below(("updates", paper_name, paper.group or ""))
    for path, unit, value in units(paper):
        if unit in scale.times and value:
            up, down = (int(part) for part in scale.times[unit].split("/"))
            number = max(1, int(value * up / down + 0.5))
            changes[path] = type(value)(number), top.below(("times", unit))
        elif unit == "updates" and updates is not None and path != _UPDATES:
            # Where the run's length is in epochs, the ratio is known only with the corpus.
            whole = paper.training.updates
            if isinstance(whole, int) and isinstance(value, int):
                # Rounded up, in whole numbers.
                changes[path] = -(-value * updates // whole), updates_place
    if updates is not None:
        changes[_UPDATES] = updates, updates_place
    return changes


def _origins(entry: Entry, name: tuple[str, str]) -> dict[str, Any]:
    """Return what a rule may ask of a run besides its settings."""
    return {"run": "/".join(name), "paper": name[0], "like": entry.ancestors}


def _given(entry: Entry) -> set[KeyPath]:
    """Return the settings of the method that the run or a family gives, null included."""
    method = entry.node.get(("method",))
    return {("method", key) for key in (method.value if method else {})}


def _has(paper: RunSettings, path: KeyPath) -> bool:
    return len(path) == 2 and path[1] in type(paper.method).model_fields


def _value(part: Any, dotted: str) -> Any:
    """Return the value at a path of settings; None where there is none."""
    for key in dotted.split("."):
        part = getattr(part, key, None)
    return part


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def read_scale(file: YamlFile) -> tuple[Scale | None, list[FathomError]]:
    """Check a scale's file."""
    return check(Scale, file.value, file.where)


def path_findings(
    scale: Scale, file: YamlFile, methods: Mapping[str, type[Section]]
) -> Iterator[FathomError]:
    """Yield the paths of rules that no run can have, with the nearest valid one.

    Args:
        scale: the scale.
        file: its file.
        methods: the classes of all methods' settings.
    """
    for number, rule in enumerate(scale.rules):
        for part, paths in (("when", rule.when), ("set", rule.set)):
            for dotted in paths:
                if part == "when" and dotted in _ASKED:
                    continue
                wrong = unknown_part(dotted, methods)
                if wrong:
                    where = file.where(("rules", number, part, dotted))
                    what, on = f"no setting '{dotted}'", [("method", ANY)]
                    yield Dependent(what, where, nearest(*wrong), on)
