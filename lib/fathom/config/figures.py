"""Figures of a paper: figures.yaml read; what a kind of figure needs is a class of its own."""

from dataclasses import dataclass, field
from typing import Any

from fathom.config.check import checked
from fathom.config.merge import Entry
from fathom.config.schema.figures import KINDS, FigureSettings
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, brief, nearest


@dataclass(frozen=True)
class Figure:
    """A figure of a paper; its kind is the name of the module that draws it."""

    paper: str
    name: str  # its key in figures.yaml
    settings: Any  # of the class of its kind
    values: Value = field(repr=False)  # the same with places


def read_figure(paper: str, entry: Entry) -> Figure:
    """Return a figure.

    Raises:
        Findings: If there is no such kind, or a key is wrong.
    """
    kind = entry.values.get("kind")
    if kind is None:
        checked(FigureSettings, entry.values)
    if not isinstance(kind, str) or kind not in KINDS:
        what, where = f"no kind of figure '{brief(kind)}'", entry.values.place("kind")
        raise FathomError(what, where, nearest(kind, KINDS))
    return Figure(paper, entry.name, checked(KINDS[kind], entry.values), entry.values)
