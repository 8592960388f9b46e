"""Causes and consequences: a file that cannot be read is one finding, and not one for each name.

Findings that depend on something else say so (`errors.Dependent`). Those whose cause is a finding
already are left out, so that one round has all causes and nothing else.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from fathom.config.yaml_files import name_of
from fathom.io.errors import ANY, Dependent, FathomError

# The kinds of names that each file of a paper has; a run's entry also says what it starts from.
KINDS = {
    "runs": ("run", "entry", "family"),
    "tables": ("table",),
    "figures": ("figure",),
    "deviations": ("deviation",),
    "paper": ("mark",),
}
# A paper may have either; a name that is like one of the other's is a typing error.
_EITHER = ("table", "figure")


class Causes:
    """The names that exist and are wrong: their own findings say why."""

    def __init__(self, root: Path, folders: Mapping[str, Path]):
        """Begin with nothing wrong.

        Args:
            root: the project's folder, which messages leave out.
            folders: the papers' folders by name.
        """
        self._root, self._folders = root, folders
        self._wrong: dict[str, set[str]] = defaultdict(set)

    def add(self, kind: str, *names: str) -> None:
        """Add names whose own findings are reported.

        Args:
            kind: of what they name.
            *names: with their paper where they are parts of one; `*` is for any letters.
        """
        self._wrong[kind].update(names)

    def among(self, findings: Iterable[FathomError]) -> list[FathomError]:
        """Return findings without those that follow from others, each once.

        Names of a file that a paper does not have are one finding: the file is missing.
        """
        findings = list(findings)
        missing: dict[str, FathomError] = {}
        for finding in findings:
            if isinstance(finding, Dependent) and not self._explain(finding):
                for kinds, paper, file in self._absent(finding):
                    what = f"no such file, and {finding.where.partition(': ')[0]} needs it"
                    missing.setdefault(file, FathomError(what, file, "restore it"))
                    for kind in kinds:
                        self.add(kind, f"{paper}/*")
        own = [item for item in findings if not isinstance(item, Dependent) or self._stays(item)]
        return list({str(finding): finding for finding in [*missing.values(), *own]}.values())

    def _stays(self, finding: Dependent) -> bool:
        return not self._explain(finding)

    def _explain(self, finding: Dependent) -> bool:
        """Return whether something on which a finding depends is wrong."""
        return any(
            fnmatchcase(name, wrong) or fnmatchcase(wrong, name)
            for kind, name in finding.on
            for wrong in self._wrong.get(kind, ())
        )

    def _absent(self, finding: Dependent) -> Iterable[tuple[tuple[str, ...], str, str]]:
        """Yield kinds, paper and path of the missing files that would have a finding's name."""
        for kind, full in finding.on:
            paper, _, name = full.partition("/")
            if paper not in self._folders:
                continue
            optional = kind in _EITHER and (finding.misspelled or name == ANY)
            for file, kinds in KINDS.items():
                path = self._folders[paper] / f"{file}.yaml"
                if kind in kinds and not optional and not path.exists():
                    yield kinds, paper, name_of(path, self._root)
