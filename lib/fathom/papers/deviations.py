"""What a paper leaves open or what is done differently, and why: deviations.yaml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from fathom.config.settings import About, Part, Several
from fathom.config.validation import check
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.errors import FathomError, Findings, nearest

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


def load(file: YamlFile) -> tuple[Deviation, ...]:
    """Read a paper's deviations.yaml.

    Raises:
        Findings: everything that is wrong in the file alone.
    """
    entries: list[Deviation] = []
    findings: list[FathomError] = []
    for name, value in file.value.items():
        settings, wrong = check(DeviationSettings, value, file.where, (name,))
        findings += wrong
        if settings is not None:
            entries.append(Deviation(name=name, **settings.model_dump()))
    if findings:
        raise Findings(findings)
    return tuple(entries)


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
                what = f"no family, method, table or figure '{name}'"
                yield FathomError(what, where, nearest(name, (PAPER, *names)))


def silent_findings(deviations: Iterable[Deviation], runs: YamlFile) -> Iterator[FathomError]:
    """Yield the lines of runs.yaml whose value is not the paper's and that no entry explains.

    Args:
        deviations: the paper's entries.
        runs: its runs.yaml.
    """
    settings = {path for entry in deviations for path in entry.settings}
    for places in _silent_lines(runs).values():
        paths = [".".join(map(str, place[2:])) for place in places]
        if not any(_covers(setting, path) for setting in settings for path in paths):
            remedy = f"name one of its values in the `settings` of an entry, as {paths[-1]}"
            what = "the paper is silent, and deviations.yaml says nothing"
            yield FathomError(what, runs.where(places[-1]), remedy)


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
