"""What a paper leaves open or what is done differently, and why: deviations.yaml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from fathom.config.settings import About, Part, Several
from fathom.config.validation import check
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.errors import ANY, Dependent, FathomError, Partly, closest, nearest, right_and_wrong
from fathom.runs.families import read_families, read_runs
from fathom.runs.setting_paths import unknown_part

PAPER = "paper"
# A value whose source has one of these words is not the paper's; an entry must name it.
OPEN = re.compile(r"silent|unstated|released|not in the paper|leaves it open")
# Besides settings of runs an entry may name short forms of runs.yaml and parts of paper.yaml.
_OF_ENTRIES = ("like", "layers")
_OF_PAPER = ("metric", "marks")
# Keys that are no choices of a paper, unless the source names them or the line has no others.
_NO_CHOICES = {"name", "run", "for", "like", "group", "seeds"}


class DeviationSettings(Part):
    """The form of an entry."""

    title: Annotated[str, About("A few words that name the choice.")]
    paper: Annotated[str, About("What the paper says, with the place, or that it is silent.")]
    released: Annotated[str, About("What the released code does, where there is any.")] = ""
    ours: Annotated[str, About("What is done here, at the paper's own scale.")]
    why: Annotated[str, About("What speaks for it.")]
    applies: Annotated[
        tuple[str, ...],
        Several,
        Field(min_length=1),
        About("Families, methods, tables, figures, or `paper` for all of it; never runs."),
    ]
    settings: Annotated[
        tuple[str, ...],
        Several,
        About("What it decides, as training.clip or metric.tokenize."),
    ] = ()


@dataclass(frozen=True)
class Deviation:
    """An entry of deviations.yaml.

    Attributes:
        name: its key.
        title: a few words that name the choice.
        paper, released, ours, why: what the paper says, what the released code does, what is done
            here, and what speaks for it.
        applies: families, methods, tables, figures, or `paper`.
        settings: paths of runs.yaml and paper.yaml that it decides.
    """

    name: str
    title: str
    paper: str
    released: str
    ours: str
    why: str
    applies: tuple[str, ...]
    settings: tuple[str, ...]


def load(file: YamlFile) -> dict[str, Deviation]:
    """Read a paper's deviations.yaml.

    Raises:
        Partly: everything that is wrong in the file alone.
    """
    entries: dict[str, Deviation] = {}
    findings: list[FathomError] = []
    for name, value in file.value.items():
        settings, wrong = check(DeviationSettings, value, file.where, (name,))
        findings += wrong
        if settings is not None:
            entries[name] = Deviation(name=name, **settings.model_dump())
    if findings:
        raise Partly(findings, entries, [name for name in file.value if name not in entries])
    return entries


def findings(
    deviations: Iterable[Deviation],
    file: YamlFile,
    names: Collection[str],
    runs: Collection[str],
) -> Iterator[FathomError]:
    """Yield entries that apply to what does not exist, or to a run.

    Args:
        deviations: the entries.
        file: deviations.yaml.
        names: the paper's families, tables and figures, and all methods.
        runs: the names of the paper's runs, which no entry lists.
    """
    for entry in deviations:
        for position, name in enumerate(entry.applies):
            where = file.where((entry.name, "applies", position))
            if name in runs:
                yield FathomError(f"'{name}' is a run", where, "name a family, method or table")
            elif name != PAPER and name not in names:
                what, valid = f"no family, method, table or figure '{name}'", (PAPER, *names)
                on = [(kind, name) for kind in ("family", "method", "table", "figure")]
                like = closest(name, valid) is not None
                yield Dependent(what, where, nearest(name, valid), on, like)


def setting_findings(
    deviations: Iterable[Deviation],
    files: Mapping[str, YamlFile],
    methods: Mapping[str, type[Part]],
) -> Iterator[FathomError]:
    """Yield the paths of entries that name no setting, with the nearest valid one.

    Args:
        deviations: the entries.
        files: the paper's files by kind, deviations.yaml among them.
        methods: the classes of all methods' settings.
    """
    for entry in deviations:
        for position, dotted in enumerate(entry.settings):
            wrong = _unknown(dotted, files.get("paper"), methods)
            if wrong and dotted not in _OF_ENTRIES:
                where = files["deviations"].where((entry.name, "settings", position))
                on = [(kind, ANY) for kind in ("method", "mark")]
                yield Dependent(f"no setting '{dotted}'", where, nearest(*wrong), on)


def _unknown(
    dotted: str, paper: YamlFile | None, methods: Mapping[str, type[Part]]
) -> tuple[str, Collection[str]] | None:
    """Return the part of a path that neither runs nor paper.yaml have, and what is possible."""
    first, *others = dotted.split(".")
    if paper is None or first not in _OF_PAPER:
        part, names = unknown_part(dotted, methods) or ("", [])
        top = [*_OF_ENTRIES, *_OF_PAPER] if part == first else []
        return (part, [*names, *top]) if part else None
    value = paper.value.get(first)
    for part in others:
        names = value if isinstance(value, Mapping) else {}
        if part not in names:
            return part, names
        value = names[part]
    return None


def silent_findings(
    deviations: Iterable[Deviation],
    files: Mapping[str, YamlFile],
    shown: Mapping[str, Collection[str]],
) -> Iterator[FathomError]:
    """Yield the values of runs.yaml and paper.yaml that are not the paper's and in no entry.

    Args:
        deviations: the paper's entries.
        files: its files by kind.
        shown: the tables and figures that show a run, by its name.
    """
    deviations = list(deviations)
    if "runs" in files:
        names = _names(files["runs"], shown)
        yield from _unexplained(deviations, files["runs"], 2, names)
    if "paper" in files:
        yield from _unexplained(deviations, files["paper"], 0, {})


def _unexplained(
    deviations: Collection[Deviation],
    file: YamlFile,
    above: int,
    names: Mapping[KeyPath, set[str]],
) -> Iterator[FathomError]:
    """Yield the open values of a file that no entry has.

    Args:
        deviations: the paper's entries.
        file: runs.yaml or paper.yaml.
        above: how many keys are above a setting's path in it.
        names: what an entry may apply to, by those keys.
    """
    for place in _open_values(file, above):
        own = names.get(place[:above], set()) | {PAPER}
        fitting = [entry for entry in deviations if own.intersection(entry.applies)]
        path = ".".join(map(str, place[above:]))
        if not any(_covers(setting, path) for entry in fitting for setting in entry.settings):
            remedy = (
                f"name {path} in the `settings` of an entry, or what is silent in the comment"
            )
            what = "the paper is silent, and deviations.yaml says nothing"
            on = [(kind, ANY) for kind in ("deviation", "entry", "table", "figure")]
            yield Dependent(what, file.where(place), remedy, on)


def _names(runs: YamlFile, shown: Mapping[str, Collection[str]]) -> dict[KeyPath, set[str]]:
    """Return what an entry may apply to where it explains a family or run, by its key.

    These are the family or run itself, what it is like, its method, and what shows it.
    """
    names: dict[KeyPath, set[str]] = {}
    for read in (read_families, read_runs):
        for entry in right_and_wrong(read, runs)[0].values():
            own = names.setdefault(entry.place(()).path[:2], set())
            method = str(entry.get(("method", "name")))
            own |= {method, *entry.ancestors, *shown.get(entry.name, ())}
    return names


def _open_values(file: YamlFile, above: int) -> list[KeyPath]:
    """Return the values that a source calls open, as those of the line that has it.

    A part of a source, up to a semicolon, is about the values whose keys it names, as in
    `§3; clip silent`. If it names none, it is about all values that no other part names.
    """
    lines: dict[tuple[int, str], list[KeyPath]] = {}
    for path, source in file.sources.items():
        if not OPEN.search(source) or (len(path) < 2 if above else path[0] not in _OF_PAPER):
            continue
        value: Any = file.value
        for key in path:
            value = value[key]
        places = lines.setdefault((file.lines[path], source), [])
        places += [leaf for leaf in _leaves(value, path) if leaf not in places]
    opened: list[KeyPath] = []
    for (_, source), places in lines.items():
        places = [place for place in places if len(place) > above]
        choices = [place for place in places if not set(place[above:]) & _NO_CHOICES] or places
        parts = {part: _named(part, places, above) for part in source.split(";")}
        others = [place for place in choices if not any(place in own for own in parts.values())]
        for part, own in parts.items():
            opened += (own or others or choices) if OPEN.search(part) else []
    return list(dict.fromkeys(opened))


def _named(part: str, places: Iterable[KeyPath], above: int) -> list[KeyPath]:
    """Return the values of which a part of a source has a key as a word."""
    words = set(re.findall(r"\w+", part))
    return [place for place in places if words.intersection(map(str, place[above:]))]


def _leaves(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path


def _covers(setting: str, path: str) -> bool:
    """Return whether a setting is a value, a part that holds it, or a part of it."""
    return f"{path}.".startswith(f"{setting}.") or f"{setting}.".startswith(f"{path}.")
