"""Figures of a paper: figures.yaml read; what a kind of figure needs is its own class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict

from fathom.config.inheritance import Entry, expand
from fathom.config.settings import About, Part
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, Findings, nearest


class FigureSettings(Part):
    """The keys that every figure has; all others belong to its kind."""

    model_config = Part.model_config | ConfigDict(extra="allow")

    kind: Annotated[str, About("A module of figures/.")]
    title: Annotated[str, About("A short heading.")]
    section: Annotated[str, About("Where the paper discusses it.")]
    caption: Annotated[str, About("What a reader must know to read it.")] = ""

    def own(self) -> dict[str, object]:
        """Return the keys that belong to the kind."""
        return dict(self.__pydantic_extra__ or {})


class KindSettings(Part):
    """The base of each kind's settings; title and section are read with the figure."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs that it draws, as figures.yaml names them."""
        return ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it is drawn from."""
        return ()

    def measurements(self, run: str) -> tuple[str, ...]:
        """Return the keys of the measurements that it draws of a run."""
        return ()


@dataclass(frozen=True)
class Figure:
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
    settings: KindSettings
    entry: Entry


def load(file: YamlFile, paper: str, kinds: Mapping[str, type[KindSettings]]) -> dict[str, Figure]:
    """Read a paper's figures.yaml.

    Args:
        file: figures.yaml.
        paper: the paper's name.
        kinds: the class of each kind's own keys.

    Raises:
        Findings: everything that is wrong in the file alone.
    """
    figures: dict[str, Figure] = {}
    findings: list[FathomError] = []
    for name, entry in expand(file).items():
        common, wrong = check(FigureSettings, entry.values, entry.where)
        findings += wrong
        if common is None:
            continue
        if common.kind not in kinds:
            where, remedy = entry.where(("kind",)), nearest(common.kind, kinds)
            findings.append(FathomError(f"no kind of figure '{common.kind}'", where, remedy))
            continue
        settings, wrong = check(kinds[common.kind], common.own(), entry.where)
        findings += wrong
        if settings is not None:
            texts = (common.kind, common.title, common.section, common.caption)
            figures[name] = Figure(paper, name, *texts, settings, entry)
    if findings:
        raise Findings({str(finding): finding for finding in findings}.values())
    return figures
