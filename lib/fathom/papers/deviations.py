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

PAPER = "paper"
# A value whose source has one of these words is not the paper's; an entry must name it.
OPEN = re.compile(r"silent|unstated|released|not in the paper|leaves it open")


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
        tuple[str, ...], Several, About("Paths of runs.yaml that it decides, as training.clip.")
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
        settings: paths of runs.yaml that it decides.
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


def silent_findings(
    deviations: Iterable[Deviation], runs: YamlFile, shown: Mapping[str, Collection[str]]
) -> Iterator[FathomError]:
    """Yield the lines of runs.yaml whose value is not the paper's and that no entry explains.

    Args:
        deviations: the paper's entries.
        runs: its runs.yaml.
        shown: the tables and figures that show a run, by its name.
    """
    deviations, names = list(deviations), _names(runs, shown)
    for places in _silent_lines(runs).values():
        own = names.get(places[-1][:2], set()) | {PAPER}
        fitting = (entry for entry in deviations if own.intersection(entry.applies))
        settings = {path for entry in fitting for path in entry.settings}
        paths = [".".join(map(str, place[2:])) for place in places]
        if not any(_covers(setting, path) for setting in settings for path in paths):
            remedy = f"name one of its values in the `settings` of an entry, as {paths[-1]}"
            what = "the paper is silent, and deviations.yaml says nothing"
            on = [(kind, ANY) for kind in ("deviation", "entry", "table", "figure")]
            yield Dependent(what, runs.where(places[-1]), remedy, on)


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


def _silent_lines(runs: YamlFile) -> dict[tuple[int, str], list[KeyPath]]:
    """Return the values of each line whose source says so, by line and source."""
    lines: dict[tuple[int, str], list[KeyPath]] = {}
    for path, source in runs.sources.items():
        if not OPEN.search(source) or len(path) < 2:
            continue
        value: Any = runs.value
        for key in path:
            value = value[key]
        places = lines.setdefault((runs.lines[path], source), [])
        places += [leaf for leaf in _leaves(value, path) if leaf not in places and len(leaf) > 2]
    return lines


def _leaves(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path


def _covers(setting: str, path: str) -> bool:
    """Return whether a setting is a value, a part that holds it, or a part of it."""
    return f"{path}.".startswith(f"{setting}.") or f"{setting}.".startswith(f"{path}.")
