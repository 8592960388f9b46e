"""A run's settings, each with its value, the line that it comes from, and its source."""

from dataclasses import dataclass
from typing import Any

from fathom.config.project import Project
from fathom.config.scales import leaves
from fathom.config.schema.section import plain

DEFAULT = "default"


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
            source = (papers_values.find(*path) or given).source
        elif path[0] == "method" and path[-1] in card.about.settings:
            default = card.file.at(("settings", path[-1]))
            where = f"{default.file}:{default.line}"
            source = card.about.settings[str(path[-1])].source
        changed = path not in papers or papers[path] != value
        before = papers.get(path) if changed else None
        settings.append(Setting(".".join(map(str, path)), value, where, source, before, changed))
    return settings
