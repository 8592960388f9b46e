"""Figures of a paper: figures.yaml read; what a kind of figure needs is its own class."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Generic, TypeVar

from fathom.config.inheritance import Entry, expand
from fathom.config.section import Doc, Section
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import FathomError, Partly, brief, nearest, right_and_wrong


class FigureSettings(Section):
    """The keys that every figure has; all others belong to its kind."""

    kind: Annotated[str, Doc("Its kind, whose keys it has besides these.")]
    title: Annotated[str, Doc("A short heading.")]
    section: Annotated[str, Doc("Where the paper discusses it.")]
    caption: Annotated[str, Doc("What a reader must know to read it.")] = ""


@dataclass(frozen=True)
class Drawn:
    """A curve or a picture that a figure draws, as claims name it.

    Attributes:
        panel: the title of its panel; empty in a figure without panels.
        label: of a curve; empty for a picture.
        axes: of a curve its one axis; of a picture those of rows and columns.
        run: that is drawn, as figures.yaml names it.
        rows: the labels of a picture's rows where they are no places of the axis.
    """

    panel: str
    label: str
    axes: tuple[str, ...]
    run: str
    rows: tuple[str, ...] = ()


class KindSettings(Section):
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

    def drawn(self) -> tuple[Drawn, ...]:
        """Return the curves and pictures that claims can read."""
        return ()


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


def load(file: YamlFile, paper: str, kinds: Mapping[str, type[KindSettings]]) -> dict[str, Figure]:
    """Read a paper's figures.yaml.

    Args:
        file: figures.yaml.
        paper: the paper's name.
        kinds: the class of each kind's own keys.

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
        if not isinstance(kind, str) or kind not in kinds:
            where, remedy = entry.where(("kind",)), nearest(kind, kinds)
            findings.append(FathomError(f"no kind of figure '{brief(kind)}'", where, remedy))
            continue
        settings, wrong = check(form(kinds[kind]), entry.values, entry.where)
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
