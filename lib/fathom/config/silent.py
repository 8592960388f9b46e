"""Values that are not the paper's own, by the comments of runs.yaml and paper.yaml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from fathom.config.deviations import OF_PAPER, PAPER, Deviation
from fathom.config.families import read_families, read_runs
from fathom.config.yaml_files import KeyPath, YamlFile
from fathom.io.errors import ANY, Dependent, FathomError, right_and_wrong

# A value whose source has one of these words is not the paper's; an entry must name it.
OPEN = re.compile(r"silent|unstated|released|not in the paper|leaves it open")
# Keys that are no choices of a paper, unless the source names them or the line has no others.
_NO_CHOICES = {"name", "run", "for", "like", "group", "seeds"}


def findings(
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
            remedy = f"name {path} in the `settings` of an entry, or what is silent in the comment"
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
        if not OPEN.search(source) or (len(path) < 2 if above else path[0] not in OF_PAPER):
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
