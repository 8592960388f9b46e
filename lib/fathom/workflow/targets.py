"""Targets a user can request, and the files each one needs: the look-ups of the rules."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fathom.artefacts.needs import Artefact, Needs
from fathom.config.figures import Figure
from fathom.config.known import full_name
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.io.errors import FathomError, nearest
from fathom.io.hashes import identity, short
from fathom.workflow.corpora import Corpora
from fathom.workflow.runs import Runs

SUFFIXES = {"table": ("csv", "md", "tex", "html"), "figure": ("csv", "pdf", "png")}
ALL, COMPARE, CLAIMS, PAGE = "all", "compare", "claims", "page"
STATISTICS, ROW = "data_statistics", "_row"
# Targets that read what exists and wait for nothing.
READING = (COMPARE, CLAIMS, PAGE)


@dataclass(frozen=True)
class Targets:
    """The targets at one scale, and the files of each.

    Attributes:
        demands: tables and figures at the scale, with what they ask for.
        paths: the places of the files.
        gpus: GPUs that a training asks Snakemake for.
    """

    demands: Needs
    paths: Paths
    gpus: int = 0
    runs: Runs = field(init=False)
    corpora: Corpora = field(init=False)

    def __post_init__(self) -> None:
        """Add the look-ups of runs and corpora."""
        object.__setattr__(self, "runs", Runs(self.demands, self.paths))
        object.__setattr__(self, "corpora", Corpora(self.demands, self.paths))

    @property
    def project(self) -> Project:
        """Everything in config/."""
        return self.demands.project

    @property
    def scale(self) -> str:
        """The scale's name."""
        return self.demands.scale

    @property
    def artefacts(self) -> dict[str, Artefact]:
        """Every table and figure by its target, `<paper>_<artefact>`."""
        return self.demands.artefacts

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every target that a user can type."""
        rows = tuple(f"{target}{ROW}" for target in self.tables)
        return (ALL, *READING, STATISTICS, *self.project.papers, *self.artefacts, *rows)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The targets of tables whose rows are runs, which can be made row by row."""
        return tuple(
            name for name, item in self.artefacts.items() if item.verb == "table" and item.rows
        )

    def unknown(self, target: str) -> FathomError:
        """Return the message about a mistyped target."""
        return FathomError(f"no target '{target}'", "command line", nearest(target, self.names))

    @cached_property
    def not_built(self) -> dict[str, str]:
        """Why a table or figure cannot be made yet, by target; what is built is left out."""
        reasons = {name: self.demands.not_built(item) for name, item in self.artefacts.items()}
        return {name: reason for name, reason in reasons.items() if reason}

    def names_of(self, target: str) -> list[str]:
        """Return the full names of the runs that a target needs, those that are built.

        Raises:
            FathomError: the target cannot be made; the message says why.
        """
        if self.project.switches.row is not None and not target.endswith(ROW):
            what, remedy = f"row={self.project.switches.row} has no effect", f"write {target}{ROW}"
            raise FathomError(what, target, remedy if target in self.artefacts else "delete it")
        if target == ALL:
            return list(self.runs.built)
        if target in (*READING, STATISTICS):
            return []
        if target in self.project.papers:
            items = [item for item in self.artefacts.values() if item.paper.name == target]
            runs = dict.fromkeys(run for item in items for run in item.runs)
            return [run for run in runs if run in self.runs.built]
        if target in self.artefacts:
            return list(self.artefact(target).runs)
        return list(self._row(target))

    def files(self, target: str) -> list[Path]:
        """Return the files of a target.

        Those that a table is drawn from are among them: Snakemake makes a lost file again only
        where it is asked for.

        Raises:
            FathomError: the target cannot be made; the message says why.
        """
        files = [path for name in self.names_of(target) for path in self.runs.files(name)]
        for artefact in self.drawn(target):
            files += [*self.artefact_files(artefact), *self.measured(artefact)]
        if target == ALL:
            pages = map(self.paths.page, self.project.papers)
            files += [self.paths.compare, self.paths.claims, *pages]
        return list(dict.fromkeys(files))

    def drawn(self, target: str) -> list[Artefact]:
        """Return the tables and figures of a target that can be made.

        Raises:
            FathomError: a paper of which nothing can be made yet.
        """
        if target in self.artefacts:
            return [self.artefacts[target]]
        items = [
            item
            for item in self.artefacts.values()
            if target in (ALL, item.paper.name) or (target == STATISTICS and not item.runs)
        ]
        built = [item for item in items if item.target not in self.not_built]
        if target in self.project.papers and not built:
            what = "none of its tables and figures is built yet"
            raise FathomError(what, target, "`fathom list artefacts` shows what each waits for")
        return built

    def artefact(self, target: str) -> Artefact:
        """Return a table or figure that is built.

        Raises:
            FathomError: there is none of that name, or it is not built yet.
        """
        if target not in self.artefacts:
            raise self.unknown(target)
        if target in self.not_built:
            what = f"cannot be made yet: {self.not_built[target]}"
            raise FathomError(what, target, "ask for another target: fathom list artefacts")
        return self.artefacts[target]

    def _row(self, target: str) -> tuple[str, ...]:
        """Return the runs of the row that the user named.

        Raises:
            FathomError: no row is named, the artefact has none of that name, or it is not built.
        """
        rows, row = self.artefacts[target.removesuffix(ROW)].rows, self.project.switches.row
        if row is None:
            raise FathomError("no row is named", target, "add --config row=<row> at the end")
        if row not in rows:
            raise FathomError(f"no row '{row}'", target, nearest(row, rows))
        for name in rows[row]:
            self.runs.require_built(name)
        return rows[row]

    def artefact_files(self, artefact: Artefact) -> list[Path]:
        """Return the files of a table or figure."""
        paper, name = artefact.paper.name, artefact.spec.name
        suffixes = SUFFIXES[artefact.verb]
        return [self.paths.artefact(paper, name, suffix) for suffix in suffixes]

    def measured(self, artefact: Artefact) -> list[Path]:
        """Return the files of runs and corpora that a table or figure shows, all seeds.

        Of what a training records by itself, training.json is the file: it is written last.
        """
        drawn = artefact.spec
        series = drawn.settings.runs if isinstance(drawn, Figure) else ()
        recorded = {full_name(artefact.paper.name, run) for run in series}
        files = [
            path
            for name, keys in artefact.keys.items()
            for seed in self.runs.seeds(name)
            for path in self.runs.measured(name, seed, keys, series=name in recorded)
        ]
        files += [self.corpora.statistics(name) for name in artefact.corpora]
        return list(dict.fromkeys(files))

    @cached_property
    def table_names(self) -> str:
        """A pattern of the names of all tables."""
        names = {item.spec.name for item in self.artefacts.values() if item.verb == "table"}
        return "|".join(sorted(map(re.escape, names))) or "none"

    @property
    def other_names(self) -> str:
        """A pattern of all other names: figures, and what `artefact` refuses."""
        return rf"(?!(?:{self.table_names})(?:\.|$))[a-z0-9_]+"

    def definition(self, artefact: Artefact) -> str:
        """Return the hash of an artefact's definition: a changed one is drawn again."""
        files = [str(path) for path in self.measured(artefact)]
        cells = [[cell.id, cell.column, cell.source, cell.key] for cell in artefact.cells]
        return short(identity([artefact.spec.entry.values, files, cells]))

    def reduced(self, artefact: Artefact) -> str:
        """Return a sentence on the runs that do not have the paper's own settings; or nothing."""
        runs = artefact.runs
        other = [name for name in runs if not self.project.comparable(name, self.scale)]
        if not other:
            return ""
        return (
            f"{len(other)} of {len(runs)} runs do not have the paper's own settings, "
            "so their numbers say nothing about the paper."
        )

    def printed(self, artefact: Artefact) -> list[Path]:
        """Return the files of config that a table or figure is drawn from."""
        drawn = artefact.spec
        names = drawn.settings.tables if isinstance(drawn, Figure) else [drawn.name]
        columns = self.project.root / "config" / "columns.yaml"
        return self._shown([columns, *(artefact.paper.reported(name) for name in names)])

    def compared_with(self) -> list[Path]:
        """Return the files by which cells are judged: reported cells, tolerances, deviations."""
        files = [self.project.root / "config" / "columns.yaml"]
        for paper in self.project.papers.values():
            files += [paper.folder / f"{name}.yaml" for name in ("paper", "tables", "deviations")]
            files += [paper.reported(name) for name in paper.tables]
        return self._shown(files)

    def claimed(self) -> list[Path]:
        """Return the files by which claims are judged: those of the comparison, and the claims."""
        kinds = ("claims", "figures")
        papers = self.project.papers.values()
        files = [paper.folder / f"{name}.yaml" for paper in papers for name in kinds]
        return [*self.compared_with(), *self._shown(files)]

    def page_results(self, paper: str) -> list[Path]:
        """Return the files of results that a paper's page is made of, those that are built."""
        items = [item for item in self.artefacts.values() if item.paper.name == paper]
        built = [item for item in items if item.target not in self.not_built]
        names = dict.fromkeys(run for item in items for run in item.runs if run in self.runs.built)
        files = [path for name in names for path in self.runs.files(name)]
        files += [path for item in built for path in self.measured(item)]
        return list(dict.fromkeys(files))

    def page_config(self, paper: str) -> list[Path]:
        """Return the files of config that a paper's page shows."""
        about = self.project.papers[paper]
        kinds = ("paper", "tables", "figures", "claims", "deviations")
        files = [about.folder / f"{kind}.yaml" for kind in kinds]
        files += [about.reported(name) for name in about.tables]
        return self._shown([self.project.root / "config" / "columns.yaml", *files])

    def _shown(self, files: list[Path]) -> list[Path]:
        """Return the files that exist, relative to the working folder where they are inside."""
        here = Path.cwd()
        return [
            path.relative_to(here) if path.is_relative_to(here) else path
            for path in files
            if path.exists()
        ]

    def all_results(self) -> list[Path]:
        """Return the last files of all runs that are built."""
        return [path for name in self.runs.built for path in self.runs.files(name)]

    @cached_property
    def all_results_hash(self) -> str:
        """Return the hash of the list of these files: another list is compared again."""
        return short(identity([str(path) for path in self.all_results()]))


def plain_text(text: str) -> str:
    """Return text as reStructuredText that shows it as it is: every sign is escaped."""
    return re.sub(r"([^\w\s]|_)", r"\\\1", " ".join(text.split()))


def script_text(text: str) -> str:
    """Return text as the report's script can hold it: after `<` comes a sign that prints nothing.

    Snakemake writes titles and labels into a script, which a `</script>` in them would end.
    """
    return text.replace("<", "<\u2060")
