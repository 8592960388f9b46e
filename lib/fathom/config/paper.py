"""A paper's files as one object, and the checks between them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

from fathom.config import deviations, figures, reported, silent, tables
from fathom.config.deviations import Deviation
from fathom.config.figures import Figure
from fathom.config.known import Known
from fathom.config.schema.paper import PaperSettings
from fathom.config.tables import Table
from fathom.config.validation import check
from fathom.config.vocabulary import Vocabulary
from fathom.config.yaml_files import YamlFile, name_of
from fathom.io.errors import Dependent, FathomError, Partly, closest, nearest, right_and_wrong


@dataclass(frozen=True)
class Paper:
    """A paper: what it is, its tables and figures by name, and what it leaves open.

    Attributes:
        name: of its folder.
        folder: config/papers/<name>.
        about: paper.yaml.
        tables, figures: in the order of their files.
        deviations: in the order of deviations.yaml.
        files: the files they were read from, by kind: paper, runs, tables, figures, deviations.
    """

    name: str
    folder: Path
    about: PaperSettings
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure]
    deviations: tuple[Deviation, ...]
    files: Mapping[str, YamlFile]

    @property
    def reference(self) -> str:
        """One line that names the paper: authors, title, year."""
        return self.about.reference

    def reported(self, table: str) -> Path:
        """Return the file of a table's reported cells."""
        return self.folder / "reported" / f"{table}.csv"


def load(
    folder: Path, files: Mapping[str, YamlFile], vocabulary: Vocabulary
) -> tuple[Paper, list[FathomError], list[tuple[str, str]]]:
    """Build a paper from its files.

    Args:
        folder: config/papers/<name>.
        files: its files by kind: paper, runs, tables, figures, deviations, where they can be read.
        vocabulary: measurements and shared columns.

    Returns:
        The paper of what is right; everything that is wrong in each file alone; and the kinds and
        names of what is left out.
    """
    name, about, findings = folder.name, None, []
    if "paper" in files:
        about, findings = check(PaperSettings, files["paper"].value, files["paper"].where)
    left_out = [] if about else [("mark", "*")]
    # What cannot be read gets its defaults, so that the other files can be checked.
    about = about or PaperSettings.model_construct()
    builders: dict[str, Callable[[YamlFile], Mapping[str, Any]]] = {
        "table": lambda file: tables.load(file, name, vocabulary, about.metric, about.marks),
        "figure": lambda file: figures.load(file, name),
        "deviation": deviations.load,
    }
    built = {}
    for kind, build in builders.items():
        file = files.get(f"{kind}s")
        built[kind], wrong, names = right_and_wrong(build, file) if file else ({}, [], ())
        findings += wrong
        left_out += [(kind, item) for item in names]
    paper = Paper(
        name=name,
        folder=folder,
        about=about,
        tables=built["table"],
        figures=built["figure"],
        deviations=tuple(built["deviation"].values()),
        files=files,
    )
    return paper, findings, left_out


def findings(paper: Paper, known: Known, root: Path) -> Iterator[FathomError]:
    """Yield what is wrong between a paper's files, its reported cells, and the runs.

    Args:
        paper: the paper.
        known: what it may name.
        root: the project's folder, which messages leave out.
    """
    for table in paper.tables.values():
        yield from _table_findings(paper, table, known, root)
    for path in sorted((paper.folder / "reported").glob("[!.]*")):
        if path.stem not in paper.tables or path.suffix != ".csv":
            names = [f"{name}.csv" for name in paper.tables]
            what, where = "nothing reads this file", name_of(path, root)
            on, misspelled = [("table", path.stem)], closest(path.stem, paper.tables) is not None
            yield Dependent(what, where, nearest(path.name, names), on, misspelled)
    if "deviations" in paper.files:
        families = known.families.get(paper.name, ())
        names = [*families, *known.methods, *paper.tables, *paper.figures]
        start = f"{paper.name}/"
        runs = (*known.runs, *known.unresolved)
        own = {name.removeprefix(start) for name in runs if name.startswith(start)}
        file = paper.files["deviations"]
        yield from deviations.findings(paper.deviations, file, names, own - {*names})
    shown = _shown(paper, known)
    yield from silent.findings(paper.deviations, paper.files, shown)


def _shown(paper: Paper, known: Known) -> dict[str, set[str]]:
    """Return the tables and figures that show each of a paper's runs, by the run's short name."""
    shown: dict[str, set[str]] = defaultdict(set)
    for table in paper.tables.values():
        for cell in table.resolve(known)[0]:
            shown[cell.source.removeprefix(f"{paper.name}/")].add(table.name)
    for figure in paper.figures.values():
        for run in figure.settings.runs:
            shown[run.removeprefix(f"{paper.name}/")].add(figure.name)
    return shown


def _table_findings(paper: Paper, table: Table, known: Known, root: Path) -> Iterator[FathomError]:
    cells, unresolved = table.resolve(known)
    if unresolved:
        yield from unresolved
        yield from reported.faults_of_form(paper.reported(table.name), root)
        return
    yield from tables.findings(table, cells, known)
    try:
        printed = reported.read(paper.reported(table.name), cells, root)
    except Partly as error:
        yield from error.findings
        printed = error.right.values()
    except FathomError as error:
        yield error
        return
    yield from reported.findings(table, cells, printed, known)


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
        FathomError: there is no such target, or it is the other of the two.
    """
    targets: dict[str, tuple[str, Paper, Table | Figure]] = {}
    for paper in papers.values():
        for kind, artefacts in (("table", paper.tables), ("figure", paper.figures)):
            for name, artefact in artefacts.items():
                targets[f"{paper.name}_{name}"] = (kind, paper, artefact)
    if target not in targets:
        names = [name for name, (kind, *_) in targets.items() if kind == verb]
        raise FathomError(f"no {verb} '{target}'", "target", nearest(target, names))
    kind, paper, artefact = targets[target]
    if kind != verb:
        raise FathomError(f"a {kind}, not a {verb}", target, f"draw it with `fathom {kind}`")
    return paper, artefact
