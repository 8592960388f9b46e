"""The YAML files of config/, by kind and name."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fathom.config.inheritance import NAME, NAME_RULE
from fathom.config.paper_scales import with_papers
from fathom.config.yaml_files import YamlFile, name_of, read
from fathom.io.errors import FathomError, Findings, nearest

_KINDS = {"scale": "scales", "source": "sources", "dataset": "datasets", "method": "methods"}
# What says what there is to train; the other files say what papers print of it.
OF_RUNS = ("config", "scales", *_KINDS, "runs")
_OF_PAPERS = ("paper", "scales", "runs", "tables", "figures", "claims", "deviations", "parameters")
# What a paper's folder may have in folders of its own.
_OWN = {"source": "sources", "dataset": "datasets"}


class ConfigFiles(Mapping[str, Mapping[str, YamlFile]]):
    """Every YAML file of config/, by kind and name; a kind is read when it is first asked for.

    Attributes:
        root: the project's folder.
        folders: the papers' folders by name.
    """

    def __init__(self, root: Path):
        """Find the files of the project; none is read yet.

        Args:
            root: the project's folder.
        """
        config = root / "config"
        self.root = root
        self.folders: dict[str, Path] = {}
        self._taken: list[tuple[Path, Path]] = []
        self._places: dict[str, dict[str, Path]] = {kind: {} for kind in ("config", "columns")}
        self._places |= {kind: {} for kind in (*_KINDS, *_OF_PAPERS)}
        self._places["config"]["config"] = config / "config.yaml"
        self._places["columns"]["columns"] = config / "columns.yaml"
        for kind, folder in _KINDS.items():
            self._find(kind, config / folder)
        for folder in sorted(path for path in config.glob("papers/*") if path.is_dir()):
            self._include(folder)
        self._read: dict[str, dict[str, YamlFile]] = {}
        self._unreadable: dict[str, list[str]] = {}

    def include(self, folders: Iterable[Path], where: str) -> Iterator[FathomError]:
        """Add papers from outside the project; yield folders that are none.

        Args:
            folders: one for each paper, with the files that config/papers/<paper> would have.
            where: the switch that names them.
        """
        for folder in folders:
            name, other = folder.name, self.folders.get(folder.name)
            if not folder.is_dir():
                yield FathomError("no such folder", f"{where} {folder}", "correct the path")
            elif other is None:
                self._include(folder)
            elif not other.samefile(folder):
                what = f"the name '{name}' is taken by {name_of(other, self.root)}"
                yield FathomError(what, f"{where} {folder}", "rename the folder")

    def _include(self, folder: Path) -> None:
        self.folders[folder.name] = folder
        for kind in _OF_PAPERS:
            if (folder / f"{kind}.yaml").exists():
                self._places[kind][folder.name] = folder / f"{kind}.yaml"
        for kind, name in _OWN.items():
            self._find(kind, folder / name)

    def _find(self, kind: str, folder: Path) -> None:
        """Add the files of a folder; of two of one name, the one that was there is read."""
        for path in sorted(folder.glob("*.yaml")):
            first = self._places[kind].setdefault(path.stem, path)
            if first != path:
                self._taken.append((path, first))

    @property
    def papers(self) -> list[str]:
        """The names of the papers, which have a file of any kind; none is read for this."""
        places = [self._places[kind] for kind in _OF_PAPERS]
        return sorted({name for named in places for name in named if NAME.fullmatch(name)})

    def unreadable(self) -> Iterator[tuple[str, str]]:
        """Yield kind and name of the files that were asked for and cannot be read."""
        for kind, names in self._unreadable.items():
            yield from ((kind, name) for name in names)

    def __getitem__(self, kind: str) -> Mapping[str, YamlFile]:
        """Return the files of a kind by name.

        Raises:
            Findings: what cannot be read.
        """
        if kind not in self._read:
            findings = list(self._reading(kind))
            if findings:
                raise Findings(findings)
        return self._read[kind]

    def __iter__(self) -> Iterator[str]:
        """Yield the kinds."""
        return iter(self._places)

    def __len__(self) -> int:
        """Return the number of kinds."""
        return len(self._places)

    def findings(self, kinds: Iterable[str]) -> Iterator[FathomError]:
        """Read files of some kinds that were not asked for before; yield what cannot be read."""
        for kind in self._places:
            if kind in {*kinds} - self._read.keys():
                yield from self._reading(kind)

    def unread(self) -> Iterator[FathomError]:
        """Yield the files that nothing reads."""
        for path, first in self._taken:
            what = f"the name '{path.stem}' is taken by {name_of(first, self.root)}"
            yield FathomError(what, name_of(path, self.root), "choose another name")
        for folder in self.folders.values():
            yield from self._unread_in(folder)

    def _reading(self, kind: str) -> Iterator[FathomError]:
        """Read the files of a kind; yield what cannot be read."""
        files: dict[str, YamlFile] = {}
        wrong: list[str] = []
        for name, path in sorted(self._places[kind].items()):
            try:
                if not NAME.fullmatch(name):
                    at = path.parent if kind in _OF_PAPERS else path
                    raise FathomError(NAME_RULE, name_of(at, self.root), "choose another name")
                files[name] = read(path, self.root)
            except FathomError as error:
                yield from error.findings if isinstance(error, Findings) else [error]
                wrong.append(name)
        if kind == "scale":
            yield from self.findings(["scales"])
            files, findings = with_papers(files, self["scales"])
            yield from findings
            wrong += self._places[kind].keys() - {*files, *wrong}
        self._read[kind], self._unreadable[kind] = files, wrong

    def _unread_in(self, folder: Path) -> Iterator[FathomError]:
        """Yield what nothing reads in a paper's folder; hidden files and notes may be there."""
        known = [*(f"{kind}.yaml" for kind in _OF_PAPERS), "reported", *_OWN.values()]
        for path in sorted(folder.iterdir()):
            if path.name not in known and path.name[0] != "." and path.suffix != ".md":
                where = name_of(path, self.root)
                yield FathomError("nothing reads this file", where, nearest(path.name, known))
