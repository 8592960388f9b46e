"""The YAML files of config/, by kind and name."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fathom.config.inheritance import NAME, NAME_RULE
from fathom.config.yaml_files import YamlFile, read
from fathom.errors import FathomError, Findings, nearest

_KINDS = {"scale": "scales", "source": "sources", "dataset": "datasets", "method": "methods"}
# What says what there is to train; the other files say what papers print of it.
OF_RUNS = ("config", *_KINDS, "runs")
_OF_PAPERS = ("paper", "runs", "tables", "figures", "claims", "deviations", "parameters")


class ConfigFiles(Mapping[str, Mapping[str, YamlFile]]):
    """Every YAML file of config/, by kind and name; a kind is read when it is first asked for."""

    def __init__(self, root: Path):
        """Find the files; none is read yet.

        Args:
            root: the project's folder.
        """
        config = root / "config"
        self.root = root
        self._folders = sorted(path for path in config.glob("papers/*") if path.is_dir())
        self._places: dict[str, dict[str, Path]] = {
            "config": {"config": config / "config.yaml"},
            "columns": {"columns": config / "columns.yaml"},
        }
        for kind, folder in _KINDS.items():
            self._places[kind] = {path.stem: path for path in (config / folder).glob("*.yaml")}
        for kind in _OF_PAPERS:
            named = {folder.name: folder / f"{kind}.yaml" for folder in self._folders}
            self._places[kind] = {name: path for name, path in named.items() if path.exists()}
        self._read: dict[str, dict[str, YamlFile]] = {}
        self._unreadable: dict[str, list[str]] = {}

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
        """Read files of some kinds; yield what cannot be read, and what nothing reads."""
        for folder in self._folders:
            yield from self._unread(folder)
        for kind in self._places:
            if kind in {*kinds}:
                yield from self._reading(kind)

    def _reading(self, kind: str) -> Iterator[FathomError]:
        """Read the files of a kind; yield what cannot be read."""
        files: dict[str, YamlFile] = {}
        wrong: list[str] = []
        for name, path in sorted(self._places[kind].items()):
            try:
                if not NAME.fullmatch(name):
                    at = path.parent if kind in _OF_PAPERS else path
                    where = str(at.relative_to(self.root))
                    raise FathomError(NAME_RULE, where, "choose another name")
                files[name] = read(path, self.root)
            except FathomError as error:
                yield from error.findings if isinstance(error, Findings) else [error]
                wrong.append(name)
        self._read[kind], self._unreadable[kind] = files, wrong

    def _unread(self, folder: Path) -> Iterator[FathomError]:
        """Yield what nothing reads in a paper's folder; hidden files and notes may be there."""
        known = [*(f"{kind}.yaml" for kind in _OF_PAPERS), "reported"]
        for path in sorted(folder.iterdir()):
            if path.name not in known and path.name[0] != "." and path.suffix != ".md":
                where = str(path.relative_to(self.root))
                yield FathomError("nothing reads this file", where, nearest(path.name, known))
