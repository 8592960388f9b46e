"""What can be asked for, and which files each wish needs: the look-ups behind the rules."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from fathom.errors import FathomError, nearest
from fathom.io.hashes import identity, short
from fathom.project.project import Catalog
from fathom.runs.paths import Paths
from fathom.runs.spec import Data, Spec

SUFFIXES = {"table": ("csv", "md", "tex", "html"), "figure": ("csv", "pdf", "png")}


@dataclass(frozen=True)
class Targets:
    """The wishes of one start: a catalog, a scale, and the places of its files.

    Attributes:
        catalog: the checked config.
        scale: the scale's name.
        paths: where the scale's files stand.
        requested: the targets typed by the user; none means the default, all.
        row: the row for a target that ends in `_row`.
    """

    catalog: Catalog
    scale: str
    paths: Paths
    requested: tuple[str, ...] = ()
    row: str | None = None

    @cached_property
    def artefacts(self) -> dict[str, tuple[str, str]]:
        """Paper and artefact by target, for example <paper>_table1."""
        return {
            f"{paper.name}_{artefact}": (paper.name, artefact)
            for paper in self.catalog.papers.values()
            for artefact in paper.artefacts
        }

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every target that a user can type."""
        rows = tuple(f"{target}_row" for target in self.artefacts)
        return ("all", "compare", *self.catalog.papers, *self.artefacts, *rows)

    def check(self) -> None:
        """Refuse a mistyped target; a path is Snakemake's to judge.

        Raises:
            FathomError: with the nearest valid name.
        """
        for target in self.requested:
            if target not in self.names and "/" not in target:
                raise FathomError(f"no target '{target}'", "command", nearest(target, self.names))
            if target.endswith("_row") and target in self.names:
                self.row_run(target.removesuffix("_row"))

    def row_run(self, target: str) -> str:
        """Return the run of the row that the user named.

        Raises:
            FathomError: no row is named, or the artefact has none of that name.
        """
        paper, artefact = self.artefacts[target]
        rows = self.catalog.papers[paper].artefacts[artefact].rows
        if self.row is None:
            raise FathomError(
                "no row is named", f"{target}_row", "add --config row=<row> at the end"
            )
        if self.row not in rows:
            raise FathomError(f"no row '{self.row}'", f"{target}_row", nearest(self.row, rows))
        return rows[self.row]

    @cached_property
    def specs(self) -> dict[str, Spec]:
        """Every run's specification, by the name of its folder."""
        specs = (self.catalog.spec(run, self.scale) for run in self.catalog.paper_of)
        return {spec.folder: spec for spec in specs}

    @cached_property
    def _data(self) -> dict[str, Data]:
        return {
            name: spec.data
            for spec in self.specs.values()
            for name in (spec.data.folder, spec.data.corpus_folder)
        }

    def data(self, folder: str) -> Data:
        """Return the data of a corpus, subword or tensor folder."""
        return self._data[folder]

    def sources(self, folder: str) -> list[Path]:
        """Return the sources that a corpus is made of."""
        names = self.catalog.datasets[self.data(folder).dataset].sources
        return [self.paths.source(name) / "source.json" for name in names]

    def tensors(self, run: str) -> Path:
        """Return the encoded text that a run's folder is trained on."""
        return self.paths.tensors(self.specs[run].data) / "tensors.json"

    def base(self, run: str, seed: str) -> list[Path]:
        """Return the end of the training whose weights a run's folder starts from, if it does."""
        folder = self.paths.base(self.specs[run], int(seed))
        return [folder / "training.json"] if folder else []

    def corpus(self, run: str) -> Path:
        """Return the text that a run's folder is tested on."""
        return self.paths.corpus(self.specs[run].data) / "corpus.json"

    def scores(self, run: str, seed: str) -> list[Path]:
        """Return the scores of every decoding of a run."""
        spec = self.specs[run]
        return [
            self.paths.decoding(spec, int(seed), gates) / "scores.tsv"
            for gates in self.catalog.gates(spec)
        ]

    def decoding_settings(self, run: str) -> str:
        """Return the hash of what decides a run's hypotheses besides its training."""
        return short(identity(asdict(self.specs[run].evaluation.decoding)))

    def scoring_settings(self, run: str) -> str:
        """Return the hash of what decides a run's scores besides its hypotheses."""
        return short(identity(asdict(self.specs[run].evaluation.scoring)))

    def compared_settings(self, run: str) -> str:
        """Return with which gates and in which metric a run is compared."""
        evaluation = self.specs[run].evaluation
        return f"{evaluation.compared_gates} {evaluation.scoring.compared_metric}"

    def runs(self, paper: str, artefact: str) -> list[str]:
        """Return the runs of an artefact, each once, in the order of its rows."""
        rows = self.catalog.papers[paper].artefacts[artefact].rows
        return list(dict.fromkeys(rows.values()))

    def manifests_of(self, runs: Iterable[str]) -> list[Path]:
        """Return the manifests of runs, all seeds."""
        return [
            self.paths.manifest(self.catalog.spec(run, self.scale), seed)
            for run in runs
            for seed in self.catalog.seeds(run, self.scale)
        ]

    def manifests(self, paper: str, artefact: str) -> list[Path]:
        """Return the manifests that an artefact is drawn from."""
        return self.manifests_of(self.runs(paper, artefact))

    def files(self, paper: str, artefact: str) -> list[Path]:
        """Return the files of an artefact."""
        kind = self.catalog.papers[paper].artefacts[artefact].kind
        suffixes = SUFFIXES["table" if kind == "table" else "figure"]
        return [self.paths.artefact(paper, artefact, suffix) for suffix in suffixes]

    def wanted(self, paper: str, artefact: str) -> list[Path]:
        """Return what a user wants who asks for an artefact: its files and its manifests.

        The manifests too, since Snakemake makes a lost file anew only where it is asked for.
        """
        return [*self.files(paper, artefact), *self.manifests(paper, artefact)]

    def pattern(self, kind: str) -> str:
        """Return a pattern of the ids of all tables ("table") or all figures ("figure")."""
        names = {
            artefact.name
            for paper in self.catalog.papers.values()
            for artefact in paper.artefacts.values()
            if (artefact.kind == "table") == (kind == "table")
        }
        return "|".join(sorted(names)) or "none"

    def definition(self, paper: str, artefact: str) -> str:
        """Return the hash of what config says of an artefact, so that a changed one is redrawn."""
        return short(identity(asdict(self.catalog.papers[paper].artefacts[artefact])))

    def judged_by(self) -> list[Path]:
        """Return the files by which cells are judged: reported numbers, tolerances, ledger."""
        folder = Path("config") / "papers"
        root = self.catalog.root
        reported = [path.relative_to(root) for _, _, path in self.catalog.reported()]
        said = [folder / name / "paper.yaml" for name in self.catalog.papers]
        return [*reported, *said, *(folder / name / "deviations.yaml" for name in self.ledgers)]

    @cached_property
    def ledgers(self) -> tuple[str, ...]:
        """The papers that have a ledger of deviations."""
        papers = self.catalog.root / "config" / "papers"
        return tuple(
            each for each in self.catalog.papers if (papers / each / "deviations.yaml").exists()
        )

    def caption(self, paper: str, artefact: str) -> str:
        """Return an artefact's caption, for the report."""
        return self.catalog.papers[paper].artefacts[artefact].caption

    def paper(self, paper: str) -> list[Path]:
        """Return what a user wants who asks for all of a paper's artefacts, each file once."""
        artefacts = self.catalog.papers[paper].artefacts
        paths = (path for artefact in artefacts for path in self.wanted(paper, artefact))
        return list(dict.fromkeys(paths))

    def compared(self) -> list[Path]:
        """Return the manifests that the comparison waits for.

        Alone it trains nothing: it reads what exists. Beside other targets, or in `all`, it waits
        for what they make, so that it comes last.
        """
        wanted = self.requested or ("all",)
        every = self.manifests_of(self.catalog.paper_of)
        if "all" in wanted:
            return every
        needed = {path for target in wanted for path in self.behind(target)}
        return [path for path in every if path in needed or path.exists()]

    def behind(self, target: str) -> list[Path]:
        """Return the manifests behind one target."""
        if target in self.artefacts:
            return self.manifests(*self.artefacts[target])
        if target in self.catalog.papers:
            artefacts = self.catalog.papers[target].artefacts
            return [path for artefact in artefacts for path in self.manifests(target, artefact)]
        if target.endswith("_row") and target in self.names:
            return self.manifests_of([self.row_run(target.removesuffix("_row"))])
        return []
