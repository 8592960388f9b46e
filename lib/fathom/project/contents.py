"""What papers print and claim: tables, figures, claims, and the measurements that they name."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.errors import FathomError, Findings, unique
from fathom.project.files import ConfigFiles

# Imported where it is used: a command on one run needs none of it, and it takes as long to import
# as all that the command does need.
if TYPE_CHECKING:
    from fathom.claims.claims import Claim
    from fathom.papers.paper import Paper
    from fathom.papers.vocabulary import Vocabulary

_FILES = ("paper", "runs", "tables", "figures", "deviations")


class Contents:
    """The contents of all papers, read when they are first asked for.

    Attributes:
        findings: what is wrong in them; empty until they are read.
    """

    def __init__(self, root: Path, files: ConfigFiles):
        """Read nothing yet.

        Args:
            root: the project's folder.
            files: the files of config/.
        """
        self.root, self.files = root, files
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
        from fathom.papers.vocabulary import load

        if "columns" not in self.files["columns"]:
            return None
        try:
            return load(self.files["columns"]["columns"])
        except Findings as error:
            self._refuse(error.findings)
            return None

    @cached_property
    def papers(self) -> "Mapping[str, Paper]":
        """Each paper with its tables and figures."""
        from fathom.figures import kinds
        from fathom.papers.paper import load

        vocabulary = self.vocabulary
        if vocabulary is None:
            return {}
        papers, findings = {}, []
        for name in self.files["paper"]:
            try:
                folder = self.root / "config" / "papers" / name
                own = {kind: self.files[kind][name] for kind in _FILES if name in self.files[kind]}
                papers[name] = load(folder, own, vocabulary, kinds.classes())
            except FathomError as error:
                findings += error.findings if isinstance(error, Findings) else [error]
        self._refuse(findings)
        return papers

    @cached_property
    def claims(self) -> "Mapping[str, Mapping[str, Claim]]":
        """The claims of each paper that has some."""
        from fathom.claims.claims import load

        claims, findings = {}, []
        for paper, file in self.files["claims"].items():
            try:
                claims[paper] = load(file, paper)
            except Findings as error:
                findings += error.findings
        self._refuse(findings)
        return claims

    def _refuse(self, findings: Iterable[FathomError]) -> None:
        """Keep findings where all are asked for; else raise them, if there are any."""
        self.findings += findings
        if self.findings and not self._partial:
            raise unique(self.findings)
