"""What a paper leaves open or what is done differently, and why: deviations.yaml.

A value of runs.yaml or paper.yaml whose source says that it is not the paper's must be explained
by an entry.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fathom.config.check import check
from fathom.config.runs import RunsFile, unknown_setting
from fathom.config.schema.deviations import DeviationSettings
from fathom.config.schema.method import MethodCard
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


@dataclass(frozen=True)
class Deviation:
    """An entry of deviations.yaml; the fields are those of `DeviationSettings`."""

    name: str
    title: str
    paper: str
    released: str
    ours: str
    why: str
    applies: tuple[str, ...]
    settings: tuple[str, ...]
    values: Value = field(default=Value(None), repr=False, compare=False)


def load(file: Value) -> tuple[Deviation, ...]:
    """Read a paper's deviations.yaml.

    Raises:
        Findings: If anything is wrong in an entry.
    """
    entries: list[Deviation] = []
    findings: list[FathomError] = []
    for name, values in file.items():
        settings, wrong = check(DeviationSettings, values)
        findings += wrong
        if settings is not None:
            entries.append(Deviation(name=name, **settings.model_dump(), values=values))
    refuse(findings)
    return tuple(entries)


def apply_faults(
    deviations: Iterable[Deviation], names: Collection[str], runs: Collection[str]
) -> Iterator[FathomError]:
    """Yield entries that apply to what does not exist, or to a run.

    Args:
        deviations: the entries.
        names: the paper's families, tables and figures, and all methods.
        runs: the names of the paper's runs, which no entry lists.
    """
    for entry in deviations:
        for number, name in enumerate(entry.applies):
            where = entry.values.place("applies", number)
            if name in {*runs} - {*names}:
                yield FathomError(f"'{name}' is a run", where, "name a family, method or table")
            elif name != PAPER and name not in names:
                what = f"no family, method, table or figure '{name}'"
                yield FathomError(what, where, nearest(name, (PAPER, *names)))


def setting_faults(
    deviations: Iterable[Deviation], paper: Value, cards: Collection[MethodCard]
) -> Iterator[FathomError]:
    """Yield the paths of entries that name no setting, with the nearest valid one.

    Args:
        deviations: the entries.
        paper: paper.yaml.
        cards: of all methods.
    """
    for entry in deviations:
        for number, dotted in enumerate(entry.settings):
            if remedy := _unknown(dotted, paper, cards):
                where = entry.values.place("settings", number)
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
    deviations: Iterable[Deviation],
    runs: Value,
    entries: RunsFile,
    paper: Value,
    shown: Mapping[str, Collection[str]],
) -> Iterator[FathomError]:
    """Yield the values of runs.yaml and paper.yaml that are not the paper's and in no entry.

    Args:
        deviations: the paper's entries.
        runs: runs.yaml.
        entries: its families and runs with all that they inherit.
        paper: paper.yaml.
        shown: the tables and figures that show a run, by its name.
    """
    deviations = list(deviations)
    names = _names(entries, shown)
    for section in ("families", "runs"):
        for _, entry in runs.at((section,)).items():
            here = names.get(entry.key, set())
            yield from _unexplained(deviations, _open_values(entry, len(entry.key)), here)
    for key in OF_PAPER:
        if part := paper.find(key):
            yield from _unexplained(deviations, _open_values(part, 0), set())


def _names(entries: RunsFile, shown: Mapping[str, Collection[str]]) -> dict[Key, set[str]]:
    """Return what an entry may apply to where it explains a family or run, by its key.

    These are the family or run itself, what it is like, its method, and what shows it.
    """
    names: dict[Key, set[str]] = {}
    for entry in (*entries.families.values(), *entries.runs.values()):
        here = names.setdefault(entry.values.key, set())
        method = str(entry.values.get("method", "name"))
        here |= {method, *entry.ancestors, *shown.get(entry.name, ())}
    return names


def _unexplained(
    deviations: Collection[Deviation], values: Mapping[str, Value], names: Collection[str]
) -> Iterator[FathomError]:
    """Yield the open values that no entry has.

    Args:
        deviations: the paper's entries.
        values: the values by their path, such as `training.clip`.
        names: what an entry may apply to besides the whole paper.
    """
    fitting = [entry for entry in deviations if {*names, PAPER}.intersection(entry.applies)]
    settings = [setting for entry in fitting for setting in entry.settings]
    for path, value in values.items():
        if not any(_covers(setting, path) for setting in settings):
            what = "the paper is silent, and deviations.yaml says nothing"
            remedy = f"name {path} in the `settings` of an entry, or what is silent in the comment"
            yield FathomError(what, value.where, remedy)


def _open_values(section: Value, above: int) -> dict[str, Value]:
    """Return the values that a source calls open, by path; `above` keys are no part of a path.

    A part of a source, up to a semicolon, is about the values whose keys it names, as in
    `§3; clip silent`. If it names none, it is about all values that no other part names.
    """
    opened: dict[str, Value] = {}
    for source, values in _by_source(section):
        if not OPEN.search(source):
            continue
        named = [value for value in values if len(value.key) > above]
        choices = [v for v in named if not {*v.key[above:]} & _NO_CHOICES] or named
        parts = {part: _about(part, named, above) for part in source.split(";")}
        others = [v for v in choices if not any(v in own for own in parts.values())]
        for part, own in parts.items():
            for value in (own or others or choices) if OPEN.search(part) else ():
                opened[".".join(map(str, value.key[above:]))] = value
    return opened


def _by_source(section: Value) -> Iterator[tuple[str, list[Value]]]:
    """Yield each source with the values of which it is the source."""
    values: dict[tuple[int, str], list[Value]] = {}

    def add(value: Value, comment: tuple[int, str]) -> None:
        if not isinstance(value.value, dict):
            values.setdefault(comment, []).append(value)
        for _, inside in value.items():
            # A comment belongs to a key and all below it that have no other.
            own = (inside.line, inside.source)
            add(inside, comment if inside.source == value.source else own)

    add(section, (section.line, section.source))
    for (_, source), own in values.items():
        yield source, own


def _about(part: str, values: Iterable[Value], above: int) -> list[Value]:
    """Return the values of which a part of a source has a key as a word."""
    words = {*re.findall(r"\w+", part)}
    return [value for value in values if words.intersection(map(str, value.key[above:]))]


def _covers(setting: str, path: str) -> bool:
    """Return whether a setting is a value, a part that holds it, or a part of it."""
    return f"{path}.".startswith(f"{setting}.") or f"{setting}.".startswith(f"{path}.")
