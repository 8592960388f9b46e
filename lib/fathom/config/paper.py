"""A paper: what it is, its tables and figures, and what it leaves open."""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, overload

from fathom.config import deviations
from fathom.config.check import check
from fathom.config.deviations import Deviation
from fathom.config.figures import Figure, read_figure
from fathom.config.files import ConfigFiles, Parts
from fathom.config.merge import expand
from fathom.config.schema.paper import PaperSettings
from fathom.config.schema.parameters import Parameters
from fathom.config.schema.table import TableSettings
from fathom.config.tables import Table
from fathom.config.vocabulary import Vocabulary
from fathom.config.yaml_values import Value
from fathom.io.errors import FathomError, Findings, nearest


class Paper:
    """A paper of config/papers; each of its files is read when it is first asked for."""

    def __init__(self, name: str, files: ConfigFiles, vocabulary: Callable[[], Vocabulary]):
        self.name = name  # of its folder
        self.folder = files.folders[name]
        self._files = files
        self._vocabulary = vocabulary

    def file(self, kind: str) -> Value | None:
        """Return a file of the paper, such as tables.yaml; None if it has none."""
        return self._files.read(kind, self.name) if self.name in self._files.names(kind) else None

    @cached_property
    def about(self) -> PaperSettings:
        """What paper.yaml says.

        Raises:
            FathomError: If there is none, or anything is wrong in it.
        """
        file = self.file("paper")
        if file is None:
            folder = self._files.name_of(self.folder)
            remedy = f"write it, or delete {folder}"
            raise FathomError("no such file", f"{folder}/paper.yaml", remedy)
        about, findings = check(PaperSettings, file)
        if about is None:
            raise Findings(findings)
        return about

    @property
    def reference(self) -> str:
        """One line that names the paper: authors, title, year."""
        return self.about.reference

    @cached_property
    def tables(self) -> "Parts[Table]":
        """The tables by name, in the order of tables.yaml.

        Raises:
            FathomError: If there is none, and cells of the paper are there.
            Findings: If `for`, `like` or a name is wrong.
        """
        file = self.file("tables")
        if file is None and (printed := sorted(self.folder.glob("reported/[!.]*.csv"))):
            # Without this message a comparison would lose the paper in silence.
            what = f"no such file, and {self._files.name_of(printed[0])} needs it"
            where = f"{self._files.name_of(self.folder)}/tables.yaml"
            raise FathomError(what, where, "restore it")
        (entries,) = expand(file) if file else [{}]
        return Parts(entries, lambda name: self._table(name, entries[name].values))

    def _table(self, name: str, values: Value) -> Table:
        settings, findings = check(TableSettings, values)
        if settings is None:
            raise Findings(findings)
        about, vocabulary = self.about, self._vocabulary()
        marks = about.marks if settings.marks is None else settings.marks
        return Table(self.name, name, settings, values, vocabulary, about.metric, marks)

    @cached_property
    def figures(self) -> "Parts[Figure]":
        """The figures by name, in the order of figures.yaml.

        Raises:
            Findings: If `for`, `like` or a name is wrong.
        """
        file = self.file("figures")
        (entries,) = expand(file) if file else [{}]
        return Parts(entries, lambda name: read_figure(self.name, entries[name]))

    @cached_property
    def deviations(self) -> tuple[Deviation, ...]:
        """What it leaves open, in the order of deviations.yaml.

        Raises:
            Findings: If anything is wrong in the file.
        """
        file = self.file("deviations")
        return deviations.load(file) if file else ()

    @cached_property
    def parameters(self) -> Parameters:
        """What parameters.yaml says of the printed numbers of parameters.

        Raises:
            FathomError: If there is none, or anything is wrong in it.
        """
        file = self.file("parameters")
        if file is None:
            where = f"{self._files.name_of(self.folder)}/parameters.yaml"
            what = "the sizes of the dictionaries are not known"
            raise FathomError(what, where, "write the file")
        parameters, findings = check(Parameters, file)
        if parameters is None:
            raise Findings(findings)
        return parameters

    def reported(self, table: str) -> Path:
        """Return the file of a table's reported cells."""
        return self.folder / "reported" / f"{table}.csv"


@overload
def find(
    papers: Mapping[str, Paper], target: str, verb: Literal["table"]
) -> tuple[Paper, Table]: ...


@overload
def find(
    papers: Mapping[str, Paper], target: str, verb: Literal["figure"]
) -> tuple[Paper, Figure]: ...


def find(papers: Mapping[str, Paper], target: str, verb: str) -> tuple[Paper, Table | Figure]:
    """Return the paper and the table or figure that a target `<paper>_<artefact>` names.

    Args:
        papers: all papers by name.
        target: what the user typed.
        verb: "table" or "figure": which of the two it must be.

    Raises:
        FathomError: If there is no such target, or it is the other of the two.
    """
    for name in papers:
        if not target.startswith(f"{name}_"):
            continue
        paper, artefact = papers[name], target.removeprefix(f"{name}_")
        here = _artefacts(paper, verb)
        if artefact in here:
            return paper, here[artefact]
        other = "figure" if verb == "table" else "table"
        if artefact in _artefacts(paper, other):
            remedy = f"draw it with `fathom {other}`"
            raise FathomError(f"a {other}, not a {verb}", target, remedy)
    names = [f"{name}_{each}" for name, paper in papers.items() for each in _artefacts(paper, verb)]
    raise FathomError(f"no {verb} '{target}'", "target", nearest(target, names))


def _artefacts(paper: Paper, verb: str) -> Mapping[str, Table | Figure]:
    """Return a paper's tables, or its figures."""
    return paper.tables if verb == "table" else paper.figures
