"""A run's settings, each with its value, the line that it comes from, and its source."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fathom.config.project import Project
from fathom.config.section import Section, plain
from fathom.config.yaml_files import KeyPath

DEFAULT = "default"


@dataclass(frozen=True)
class Setting:
    """One setting of a run.

    Attributes:
        path: its key, as `model.width`.
        value: as JSON has it.
        where: file and line from which it comes; `default` for a class's default.
        source: where the paper gives it, or why it was chosen.
        paper: the paper's value where the scale has another, else None.
        changed: whether the scale changes it.
    """

    path: str
    value: Any
    where: str
    source: str
    paper: Any = None
    changed: bool = False


def describe(project: Project, name: str, scale: str) -> list[Setting]:
    """Return all settings of a run at a scale, in the order of their classes.

    Args:
        project: the project.
        name: the run's full name.
        scale: the scale.
    """
    run, paper = project.run(name, scale), project.run(name)
    entry = project.resolved(name, scale).entry
    original = project.resolved(name).entry
    card = project.methods[run.method.name]
    papers = {path: value for path, value in leaves(paper)}
    settings = []
    for path, value in leaves(run):
        where, source = DEFAULT, _default_source(run, path)
        if _given(entry.node.plain, path):
            where = entry.where(path).partition(": ")[0]
            source = (original if _given(original.node.plain, path) else entry).source(path)
        elif path[0] == "method" and path[-1] in card.about.settings:
            where = card.file.where(("settings", path[-1])).partition(": ")[0]
            source = card.about.settings[path[-1]].source
        changed = path not in papers or papers[path] != value
        before = papers.get(path) if changed else None
        settings.append(Setting(".".join(map(str, path)), value, where, source, before, changed))
    return settings


def leaves(part: Section, above: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield path and value of each setting; a part that is null is one value."""
    for key in type(part).model_fields:
        value = getattr(part, key)
        if isinstance(value, Section):
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), plain(value)


def _default_source(run: Section, path: KeyPath) -> str:
    """Return where the default of a class is from."""
    part: Any = run
    for key in path[:-1]:
        part = getattr(part, str(key))
    extra = type(part).model_fields[str(path[-1])].json_schema_extra
    return str(extra.get("source", "")) if isinstance(extra, dict) else ""


def _given(values: Any, path: KeyPath) -> bool:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
