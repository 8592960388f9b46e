"""Figures of a paper: figures.yaml read; what a kind of figure needs is a class of its own."""

from dataclasses import dataclass, field
from typing import Any

from fathom.config.check import checked
from fathom.config.merge import Entry
from fathom.config.schema.figures import KINDS, FigureSettings
from fathom.config.yaml_values import Value
from fathom.io.errors import unknown


@dataclass(frozen=True)
class Figure:
    """A figure of a paper; its kind is the name of the module that draws it."""

    paper: str
    name: str  # its key in figures.yaml
    settings: Any  # of the class of its kind
    values: Value = field(repr=False)  # the same with places


def read_figure(paper: str, entry: Entry) -> Figure:
    """Return a figure."""
    kind = entry.values.get("kind")
    if kind is not None and str(kind) not in KINDS:
        raise unknown("kind of figure", kind, entry.values.place("kind"), KINDS)
    # A figure without a kind is refused for that.
    settings = checked(KINDS.get(str(kind), FigureSettings), entry.values)
    return Figure(paper, entry.name, settings, entry.values)
