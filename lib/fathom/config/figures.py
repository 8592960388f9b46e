"""Figures of a paper: figures.yaml read; what a kind of figure needs is its own class."""

from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from fathom.config.inheritance import Entry, expand
from fathom.config.schema.figures import KINDS, FigureSettings, KindSettings
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, Partly, brief, nearest, right_and_wrong

KindT = TypeVar("KindT", bound=KindSettings, covariant=True)


@dataclass(frozen=True)
class Figure(Generic[KindT]):
    """A figure of a paper.

    Attributes:
        paper: the paper's name.
        name: its key in figures.yaml.
        kind: the name of the module that draws it.
        title, section, caption: what is printed with it, and where the paper discusses it.
        settings: an instance of the kind's class.
        entry: all keys with the file and line of each value.
    """

    paper: str
    name: str
    kind: str
    title: str
    section: str
    caption: str
    settings: KindT
    entry: Entry


def load(file: YamlFile, paper: str) -> dict[str, Figure]:
    """Read a paper's figures.yaml.

    Args:
        file: figures.yaml.
        paper: the paper's name.

    Raises:
        Partly: everything that is wrong in the file alone.
    """
    figures: dict[str, Figure] = {}
    entries, findings, left_out = right_and_wrong(expand, file)
    for name, entry in entries.items():
        kind = entry.get(("kind",))
        if kind is None:
            findings += check(FigureSettings, entry.values, entry.where)[1]
            continue
        if not isinstance(kind, str) or kind not in KINDS:
            where, remedy = entry.where(("kind",)), nearest(kind, KINDS)
            findings.append(FathomError(f"no kind of figure '{brief(kind)}'", where, remedy))
            continue
        settings, wrong = check(form(KINDS[kind]), entry.values, entry.where)
        findings += wrong
        if settings is not None:
            common = {key: getattr(settings, key) for key in FigureSettings.model_fields}
            figures[name] = Figure(paper, name, **common, settings=settings, entry=entry)
    if findings:
        raise Partly(findings, figures, [*left_out, *(entries.keys() - figures.keys())])
    return figures


@cache
def form(kind: type[KindSettings]) -> type[KindSettings]:
    """Return the class of a kind's settings together with the keys of every figure."""
    return type(kind.__name__, (FigureSettings, kind), {"__module__": __name__})
