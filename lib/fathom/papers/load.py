"""A paper's folder read: paper.yaml, tables.yaml, figures.yaml, deviations.yaml."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fathom.config.settings import Part
from fathom.config.validation import check
from fathom.config.yaml_files import read
from fathom.errors import FathomError, Findings, nearest
from fathom.papers import figures, reported, tables
from fathom.papers.about import PaperSettings
from fathom.papers.figures import Figure
from fathom.papers.known import Known
from fathom.papers.tables import Table
from fathom.papers.vocabulary import Vocabulary


@dataclass(frozen=True)
class Paper:
    """A paper: what it is, and its tables and figures by name.

    Attributes:
        name: of its folder.
        folder: config/papers/<name>.
        about: paper.yaml.
        tables, figures: in the order of their files.
    """

    name: str
    folder: Path
    about: PaperSettings
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure]

    def reported(self, table: str) -> Path:
        """Return the file of a table's reported cells."""
        return self.folder / "reported" / f"{table}.csv"


def load(
    folder: Path, root: Path, vocabulary: Vocabulary, kinds: Mapping[str, type[Part]]
) -> Paper:
    """Read a paper's folder.

    Args:
        folder: config/papers/<name>.
        root: the project's folder, which messages leave out.
        vocabulary: measurements and shared columns.
        kinds: the class of each kind of figure.

    Raises:
        Findings: everything that is wrong in each file alone.
    """
    wrong: list[FathomError] = []
    file = read(folder / "paper.yaml", root)
    about, findings = check(PaperSettings, file.value, file.where)
    wrong += findings
    metric, marks = (about.metric, about.marks) if about else (PaperSettings.metric, {})
    made: dict[str, Mapping] = {}
    for name, build in (
        ("tables", lambda file: tables.load(file, folder.name, vocabulary, metric, marks)),
        ("figures", lambda file: figures.load(file, folder.name, kinds)),
    ):
        path = folder / f"{name}.yaml"
        try:
            made[name] = build(read(path, root)) if path.exists() else {}
        except Findings as error:
            wrong += error.findings
        except FathomError as error:
            wrong.append(error)
    if not wrong and not any(made.values()):
        what = "a paper without tables and figures"
        wrong.append(FathomError(what, file.name, "add tables.yaml or figures.yaml"))
    if wrong or about is None:
        raise Findings(wrong)
    return Paper(folder.name, folder, about, made["tables"], made["figures"])


def findings(paper: Paper, known: Known, root: Path) -> Iterator[FathomError]:
    """Yield what is wrong between a paper's tables, its reported cells, and the runs.

    Args:
        paper: the paper.
        known: runs and corpora that it may name.
        root: the project's folder, which messages leave out.
    """
    for table in paper.tables.values():
        wrong = list(tables.findings(table, known))
        yield from wrong
        cells, unresolved = table.resolve(known)
        if unresolved:
            continue
        try:
            printed = reported.read(paper.reported(table.name), cells, root)
        except Findings as error:
            yield from error.findings
        except FathomError as error:
            yield error
        else:
            yield from reported.findings(table, cells, printed, known)


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
