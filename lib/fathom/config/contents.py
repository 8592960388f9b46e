"""What papers print and claim: tables, figures, claims, and the measurements that they name."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.causes import Causes
from fathom.config.files import ConfigFiles
from fathom.config.yaml_files import name_of
from fathom.io.errors import FathomError, Findings, right_and_wrong

# Imported where it is used: a command on one run needs none of it, and it takes as long to import
# as all that the command does need.
if TYPE_CHECKING:
    from fathom.config.claims import Claim
    from fathom.config.paper import Paper
    from fathom.config.vocabulary import Vocabulary

_FILES = ("paper", "runs", "tables", "figures", "deviations")


class Contents:
    """The contents of all papers, read when they are first asked for.

    Attributes:
        findings: what is wrong in them; empty until they are read.
    """

    def __init__(self, root: Path, files: ConfigFiles, causes: Causes):
        """Read nothing yet.

        Args:
            root: the project's folder.
            files: the files of config/.
            causes: gets the names that are wrong.
        """
        self.root, self.files, self.causes = root, files, causes
        self.findings: list[FathomError] = []
        self._partial = False

    def read(self) -> list[FathomError]:
        """Read everything; return what is wrong, which then no longer refuses the rest."""
        self._partial = True
        for part in (self.vocabulary, self.papers, self.claims):
            del part
        return self.findings

    @cached_property
    def vocabulary(self) -> "Vocabulary | None":
        """The measurements and the shared columns; None where they cannot be read."""
        from fathom.config.vocabulary import load

        if "columns" not in self.files["columns"]:
            return None
        try:
            return load(self.files["columns"]["columns"])
        except Findings as error:
            self._refuse(error.findings)
            return None

    @cached_property
    def papers(self) -> "Mapping[str, Paper]":
        """Each paper with its tables and figures; what is wrong in them is left out."""
        from fathom.config.paper import load
        from fathom.config.vocabulary import Vocabulary

        kinds_of_files = list(_FILES)
        if self.vocabulary is None:
            # Nothing of a table means anything without the measurements.
            self.causes.add("table", *(f"{name}/*" for name in self.files.papers))
            kinds_of_files.remove("tables")
        vocabulary = self.vocabulary or Vocabulary({}, {})
        papers, findings = {}, []
        for name in self.files.papers:
            folder = self.files.folders[name]
            own = {
                kind: self.files[kind][name] for kind in kinds_of_files if name in self.files[kind]
            }
            papers[name], wrong, left_out = load(folder, own, vocabulary)
            findings += wrong
            for kind, part in left_out:
                self.causes.add(kind, f"{name}/{part}")
            findings += self._incomplete(name, folder)
        self._refuse(findings)
        return papers

    @cached_property
    def claims(self) -> "Mapping[str, Mapping[str, Claim]]":
        """The claims of each paper that has some; what is wrong in them is left out."""
        from fathom.config.claims import load

        claims, findings = {}, []
        for paper, file in self.files["claims"].items():
            right, wrong, _ = right_and_wrong(load, file, paper)
            claims[paper] = dict(right)
            findings += wrong
        self._refuse(findings)
        return claims

    def _incomplete(self, paper: str, folder: Path) -> Iterator[FathomError]:
        """Yield that a paper has no paper.yaml, or neither tables nor figures."""
        if not (folder / "paper.yaml").exists():
            self.causes.add("paper", paper)
            where = name_of(folder / "paper.yaml", self.root)
            remedy = f"write it, or delete {name_of(folder, self.root)}"
            yield FathomError("no such file", where, remedy)
        if not any((folder / f"{kind}.yaml").exists() for kind in ("tables", "figures")):
            for kind in ("table", "figure"):
                self.causes.add(kind, f"{paper}/*")
            where = name_of(folder, self.root)
            what = "a paper without tables and figures"
            yield FathomError(what, where, "add tables.yaml or figures.yaml")

    def _refuse(self, findings: Iterable[FathomError]) -> None:
        """Keep findings where all are asked for; else raise them, if there are any."""
        self.findings += findings
        own = [] if self._partial else self.causes.among(self.findings)
        if own:
            raise Findings(own)
