"""A run's settings, each with its value, the line that it comes from, and its source."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fathom.config.project import Project
from fathom.config.scales import leaves
from fathom.config.schema.section import plain
from fathom.config.yaml_values import Value

DEFAULT = "default"
# The keys that a part of a comment names: `clip silent`, `a and b silent: why`, `a: §3`.
_KEYS = re.compile(r"\b\w+(?=(?:(?:, | and )\w+)*(?: silent| is ours|:))")


@dataclass(frozen=True)
class Setting:
    """One setting of a run."""

    path: str  # its key, as `model.width`
    value: Any  # as JSON has it
    where: str  # file and line from which it comes; `default` for a class's default
    source: str  # where the paper gives it, or why it was chosen
    paper: Any = None  # the paper's value if the scale has another
    changed: bool = False  # whether the scale changes it


def describe(project: Project, name: str, scale: str) -> list[Setting]:
    """Return all settings of a run at a scale, in the order of their classes."""
    run, values = project.run(name, scale), project.resolved(name, scale).entry.values
    papers = {path: plain(value) for path, value, _ in leaves(project.run(name))}
    papers_values = project.resolved(name).entry.values
    card = project.methods[run.method.name]
    settings = []
    for path, setting, extra in leaves(run):
        value, where, source = plain(setting), DEFAULT, str(extra.get("source", ""))
        if given := values.find(*path):
            where = f"{given.file}:{given.line}"
            source = source_of(papers_values.find(*path) or given, papers_values)
        elif path[0] == "method" and path[-1] in card.about.settings:
            default = card.file.at(("settings", path[-1]))
            where = f"{default.file}:{default.line}"
            source = card.about.settings[str(path[-1])].source
        changed = path not in papers or papers[path] != value
        before = papers.get(path) if changed else None
        settings.append(Setting(".".join(map(str, path)), value, where, source, before, changed))
    return settings


def source_of(value: Value, entry: Value) -> str:
    """Return what the comment of a value says of it.

    Several values of an entry may have one comment. A part of it, up to a semicolon, that names
    keys, as in `§3; clip silent`, is about these; other parts are about the other values.
    """
    keys = {"like"}.union(*(each.key[2:] for each in _inside(entry)))
    named = {part: keys & {*_KEYS.findall(part)} for part in value.source.split("; ")}
    of_value = [part for part, those in named.items() if those.intersection(value.key[2:])]
    return "; ".join(of_value or [part for part, those in named.items() if not those])


def _inside(value: Value) -> Iterator[Value]:
    yield value
    for _, inner in value.items():
        yield from _inside(inner)
