"""What a paper leaves open or what is done differently, and why: deviations.yaml.

A value of runs.yaml or paper.yaml whose source says that it is not the paper's must be explained
by an entry, and so must a setting that a run leaves at its default.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from fathom.config.check import checked
from fathom.config.files import Parts
from fathom.config.merge import Entry
from fathom.config.runs import RunsFile, unknown_setting
from fathom.config.scales import leaves
from fathom.config.schema.method import MethodCard
from fathom.config.schema.paper import DeviationSettings
from fathom.config.schema.run import RunSettings
from fathom.config.yaml_values import Key, Value
from fathom.io.errors import FathomError, nearest, refuse

PAPER = "paper"
# A value whose source has one of these words is not the paper's; an entry must name it.
OPEN = re.compile(r"silent|unstated|released|not in the paper|leaves it open")
# Besides settings of runs an entry may name short forms of runs.yaml and parts of paper.yaml.
_OF_ENTRIES = ("like", "layers")
OF_PAPER = ("metric", "marks")
# Keys that are no choices of a paper, unless the source names them or the line has no others.
_NO_CHOICES = {"name", "run", "for", "like", "group", "seeds"}
# Sections whose defaults need no entry: a method's card has its sources, and the rest is measuring.
_NO_DEFAULTS = ("method", "outcome", "scoring")


class Deviation(DeviationSettings):
    """An entry of deviations.yaml."""

    name: str


def load(file: Value) -> tuple[Deviation, ...]:
    """Read a paper's deviations.yaml."""

    def entry(name: str) -> Deviation:
        return Deviation(name=name, **vars(checked(DeviationSettings, file.at((name,)))))

    entries = Parts((name for name, _ in file.items()), entry)
    refuse(entries.faults())
    return tuple(entries.values())


def apply_faults(
    file: Value, deviations: Iterable[Deviation], names: Collection[str], runs: Collection[str]
) -> Iterator[FathomError]:
    """Yield entries of deviations.yaml that apply to what does not exist, or to a run.

    `names` are the paper's families, tables and figures, all methods, and what it borrows.
    """
    for entry in deviations:
        for number, name in enumerate(entry.applies):
            where = file.place(entry.name, "applies", number)
            if name in {*runs} - {*names}:
                yield FathomError(f"'{name}' is a run", where, "name a family, method or table")
            elif name != PAPER and name not in names:
                what = f"no family, method, table or figure '{name}'"
                yield FathomError(what, where, nearest(name, (PAPER, *names)))


def setting_faults(
    file: Value, deviations: Iterable[Deviation], paper: Value, cards: Collection[MethodCard]
) -> Iterator[FathomError]:
    """Yield the paths of entries that name no setting of runs, methods or paper.yaml."""
    for entry in deviations:
        for number, dotted in enumerate(entry.settings):
            if remedy := _unknown(dotted, paper, cards):
                where = file.place(entry.name, "settings", number)
                yield FathomError(f"no setting '{dotted}'", where, remedy)


def _unknown(dotted: str, paper: Value, cards: Collection[MethodCard]) -> str | None:
    """Return the remedy for a path that neither runs nor paper.yaml have, or None."""
    first, *others = dotted.split(".")
    if first not in OF_PAPER:
        return unknown_setting(dotted, cards, (*_OF_ENTRIES, *OF_PAPER))
    value = paper.at((first,))
    for part in others:
        names = [name for name, _ in value.items()]
        if part not in names:
            return nearest(part, names)
        value = value.at((part,))
    return None


def silent_faults(
    deviations: Collection[Deviation],
    runs: Value,
    entries: RunsFile,
    paper: Value,
    shown: Mapping[str, Collection[str]],
) -> Iterator[FathomError]:
    """Yield the values of runs.yaml and paper.yaml that are not the paper's and in no entry.

    `entries` are the families and runs with all that they inherit, `shown` the tables and figures
    that show a run, by its name.
    """
    names: dict[Key, set[str]] = {}
    for entry in (*entries.families.values(), *entries.runs.values()):
        names.setdefault(entry.values.key, set()).update(_names(entry, shown))
    parts = [part for key in ("families", "runs") for _, part in runs.at((key,)).items()]
    parts += [part for key in OF_PAPER if (part := paper.find(key))]
    for part in parts:
        settings = _settings(deviations, names.get(part.key, {PAPER}))
        above = 0 if part.key[0] in OF_PAPER else len(part.key)
        for path, value in _open_values(part, above).items():
            if not _covered(path, settings):
                what = "the paper is silent, and deviations.yaml says nothing"
                remedy = f"name {path} in the `settings` of an entry"
                remedy += " with applies: [paper]" if part.key[0] in OF_PAPER else ""
                remedy += ", or what is silent in the comment"
                yield FathomError(what, value.where, remedy)


def default_faults(
    deviations: Collection[Deviation],
    entries: RunsFile,
    settings: Mapping[str, RunSettings],
    shown: Mapping[str, Collection[str]],
) -> Iterator[FathomError]:
    """Yield the settings that runs leave at a default, and that no entry explains.

    Null leaves a setting out, and a run that is like one of another paper has what its entries
    explain. `settings` are those of each run; the rest is as for `silent_faults`.
    """
    groups: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for name, entry in entries.runs.items():
        explained = _settings(deviations, _names(entry, shown))
        defaults = [
            dotted
            for path, value, extra in leaves(settings[name])
            if value is not None and path[0] not in _NO_DEFAULTS and "no_choice" not in extra
            if entry.values.find(*path) is None
            if not _covered(dotted := ".".join(map(str, path)), explained)
        ]
        if defaults and not any("/" in ancestor for ancestor in entry.ancestors):
            groups[tuple(defaults)].append(entry)
    for defaults, (first, *others) in groups.items():
        also = f" and {len(others)} more runs" if others else ""
        what = f"no entry of deviations.yaml explains defaults of {first.name}{also}"
        remedy = "in the `settings` of an entry, or write the paper's values"
        yield FathomError(what, first.values.where, f"name {', '.join(defaults)} {remedy}")


def _names(entry: Entry, shown: Mapping[str, Collection[str]]) -> set[str]:
    """Return what an entry of deviations.yaml may apply to where it explains a family or run."""
    method = str(entry.values.get("method", "name"))
    return {PAPER, method, *entry.ancestors, *shown.get(entry.name, ())}


def _settings(deviations: Iterable[Deviation], names: Collection[str]) -> list[str]:
    fitting = (entry for entry in deviations if {*names}.intersection(entry.applies))
    return [setting for entry in fitting for setting in entry.settings]


def _open_values(section: Value, above: int) -> dict[str, Value]:
    """Return the values that a source calls open, by path; `above` keys are no part of a path.

    A part of a source, up to a semicolon, is about the values whose keys it names, as in
    `§3; clip silent`. If it names none, it is about all values that no other part names.
    """
    values_of: dict[tuple[int, str], list[Value]] = {}
    _sort(section, (section.line, section.source), values_of)
    opened: dict[str, Value] = {}
    for (_, source), all_values in values_of.items():
        if not OPEN.search(source):
            continue
        values = [value for value in all_values if len(value.key) > above]
        choices = [v for v in values if not {*v.key[above:]} & _NO_CHOICES] or values
        named = {part: _named(part, values, above) for part in source.split(";")}
        others = [v for v in choices if not any(v in some for some in named.values())]
        for part, some in named.items():
            for value in (some or others or choices) if OPEN.search(part) else ():
                opened[".".join(map(str, value.key[above:]))] = value
    return opened


def _sort(
    value: Value, comment: tuple[int, str], values_of: dict[tuple[int, str], list[Value]]
) -> None:
    """Add a value, or those inside a mapping, to the values of their comment.

    A comment, by line and text, belongs to a key and all below it that have no other.
    """
    if not isinstance(value.value, dict):
        values_of.setdefault(comment, []).append(value)
    for _, inside in value.items():
        same = inside.source == value.source
        _sort(inside, comment if same else (inside.line, inside.source), values_of)


def _named(part: str, values: Iterable[Value], above: int) -> list[Value]:
    """Return the values of which a part of a source has a key as a word."""
    words = {*re.findall(r"\w+", part)}
    return [value for value in values if words.intersection(map(str, value.key[above:]))]


def _covered(path: str, settings: Iterable[str]) -> bool:
    """Return whether one of some settings is a value, a part that holds it, or a part of it."""
    return any(
        f"{path}.".startswith(f"{setting}.") or f"{setting}.".startswith(f"{path}.")
        for setting in settings
    )
