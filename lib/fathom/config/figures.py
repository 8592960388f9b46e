"""Figures of a paper: figures.yaml read; what a kind of figure needs is a class of its own."""

from dataclasses import dataclass, field
from functools import cache
from typing import Generic, TypeVar

from fathom.config.check import check
from fathom.config.merge import Entry
from fathom.config.schema.figures import KINDS, FigureSettings, KindSettings
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, Findings, brief, nearest

KindT = TypeVar("KindT", bound=KindSettings, covariant=True)


@dataclass(frozen=True)
class Figure(Generic[KindT]):
    """A figure of a paper."""

    paper: str
    name: str  # its key in figures.yaml
    kind: str  # the name of the module that draws it
    title: str
    section: str  # where the paper discusses it
    caption: str
    settings: KindT
    values: Value = field(repr=False)  # all keys with places


def read_figure(paper: str, entry: Entry) -> Figure:
    """Return a figure.

    Raises:
        Findings: If there is no such kind, or a key is wrong.
    """
    kind = entry.values.get("kind")
    if kind is None:
        raise Findings(check(FigureSettings, entry.values)[1])
    if not isinstance(kind, str) or kind not in KINDS:
        what, where = f"no kind of figure '{brief(kind)}'", entry.values.place("kind")
        raise FathomError(what, where, nearest(kind, KINDS))
    settings, findings = check(form(KINDS[kind]), entry.values)
    if settings is None:
        raise Findings(findings)
    common = {key: getattr(settings, key) for key in FigureSettings.model_fields}
    return Figure(paper, entry.name, **common, settings=settings, values=entry.values)


@cache
def form(kind: type[KindSettings]) -> type[KindSettings]:
    """Return the class of a kind's settings together with the keys of every figure."""
    return type(kind.__name__, (FigureSettings, kind), {"__module__": __name__})
