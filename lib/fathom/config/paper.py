"""A paper: what it is, its tables and figures, and what it leaves open."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fathom.config import deviations
from fathom.config.check import checked
from fathom.config.deviations import Deviation
from fathom.config.files import ConfigFiles, Parts
from fathom.config.merge import expand
from fathom.config.reported import Reported, read
from fathom.config.schema.columns import Vocabulary
from fathom.config.schema.figures import KINDS, FigureSettings
from fathom.config.schema.paper import PaperSettings, Parameters, StudySettings
from fathom.config.schema.table import TableSettings
from fathom.config.tables import Cell, Table
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, unknown


@dataclass(frozen=True)
class Figure:
    """A figure of a paper; its kind is the name of the module that draws it."""

    paper: str
    name: str  # its key in figures.yaml
    settings: Any  # of the class of its kind
    values: Value = field(repr=False)  # the same with places


def read_figure(paper: str, name: str, values: Value) -> Figure:
    """Return a figure."""
    kind = values.get("kind")
    if kind is not None and str(kind) not in KINDS:
        raise unknown("kind of figure", kind, values.place("kind"), KINDS)
    # A figure without a kind is refused for that.
    settings = checked(KINDS.get(str(kind), FigureSettings), values)
    return Figure(paper, name, settings, values)


class Paper:
    """A paper of config/papers; each of its files is read and checked when it is asked for.

    What is wrong in a file is raised as Findings; that a file is missing, as a FathomError.
    """

    def __init__(self, name: str, files: ConfigFiles, vocabulary: Callable[[], Vocabulary]):
        self.name = name  # of its folder
        self.folder = files.folders[name]
        self.is_study = files.is_study(name)  # without printed numbers
        self._files = files
        self._vocabulary = vocabulary

    def file(self, kind: str) -> Value | None:
        """Return a file of the paper, such as tables.yaml; None if it has none."""
        return self._files.read(kind, self.name) if self.name in self._files.names(kind) else None

    @cached_property
    def about(self) -> PaperSettings:
        """What paper.yaml says."""
        file = self.file("paper")
        if file is None:
            folder = self._files.name_of(self.folder)
            remedy = f"write it, or delete {folder}"
            raise FathomError("no such file", f"{folder}/paper.yaml", remedy)
        return checked(StudySettings if self.is_study else PaperSettings, file)

    @cached_property
    def tables(self) -> Parts[Table]:
        """The tables by name, in the order of tables.yaml; only reported cells need the file."""
        file = self.file("tables")
        if file is None and (printed := sorted(self.folder.glob("reported/[!.]*.csv"))):
            # Without this message a comparison would lose the paper in silence.
            needed_by = f"{self._files.name_of(printed[0])} needs it"
            raise self._files.missing("tables", self.name, needed_by)
        (entries,) = expand(file) if file else [{}]
        return Parts(entries, lambda name: self._table(name, entries[name].values))

    def _table(self, name: str, values: Value) -> Table:
        settings, about = checked(TableSettings, values), self.about
        marks = about.marks if settings.marks is None else settings.marks
        return Table(self.name, name, settings, values, self._vocabulary(), about.metric, marks)

    @cached_property
    def figures(self) -> Parts[Figure]:
        """The figures by name, in the order of figures.yaml."""
        file = self.file("figures")
        (entries,) = expand(file) if file else [{}]
        return Parts(entries, lambda name: read_figure(self.name, name, entries[name].values))

    @cached_property
    def deviations(self) -> tuple[Deviation, ...]:
        """What it leaves open, in the order of deviations.yaml."""
        file = self.file("deviations")
        return deviations.load(file) if file else ()

    @cached_property
    def parameters(self) -> Parameters:
        """What parameters.yaml says of the printed numbers of parameters; nothing without it."""
        file = self.file("parameters")
        return checked(Parameters, file) if file else Parameters.model_construct(vocabularies=())

    def printed(self, table: str, cells: Iterable[Cell]) -> tuple[Reported, ...]:
        """Return the reported cells of a table; a study has none."""
        return () if self.is_study else read(self.reported(table), cells, self._files.root)

    def reported(self, table: str) -> Path:
        """Return the file of a table's reported cells."""
        return self.folder / "reported" / f"{table}.csv"
