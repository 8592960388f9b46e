"""The YAML files of config/ and of papers elsewhere, by kind and name.

study.yaml is a comparison without printed numbers. The code that reads a paper's files reads it.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from fathom.config import measurement_keys, plugins
from fathom.config.merge import combinations, entry_name, fill_text, name_fault
from fathom.config.yaml_values import Value, name_of, read
from fathom.io.errors import FathomError, findings_in, nearest

_SHARED = {"scale": "scales", "source": "sources", "dataset": "datasets", "method": "methods"}
_ALONE = ("config", "columns")
# The files of a paper that a study has as sections; `paper` is all of it, `runs` two sections.
VIEWS = ("paper", "scales", "runs", "tables", "figures", "claims")
# What an entry has that a paper must say, and a study need not.
_DEFAULTS = {kind: {"title": None, "section": ""} for kind in ("tables", "figures")}
_DEFAULTS |= {"claims": {"section": "", "supports": "not printed"}}
# What a borrowed recipe says of its text, and of the direction of translation.
_TEXT, _DIRECTION = ("dataset", "pieces_of"), ("direction", "target_token")
_OF_PAPERS = ("study", *VIEWS, "deviations", "parameters")
KINDS = (*_SHARED, *_OF_PAPERS, *_ALONE)
# What a paper's folder may have in folders of its own.
_IN_PAPERS = {"source": "sources", "dataset": "datasets", "method": "methods"}
_FOLDERS = (*_IN_PAPERS.values(), "metrics", "readers")
# Files of editors and of other programs, which are nobody's: locks, copies, rejected changes.
_NOT_READ = re.compile(r"[.#].*|.*(~|\.(swp|orig|rej|bak))|__pycache__|README\.md")
T = TypeVar("T")


def listed(folder: Path) -> list[Path]:
    """Return what a folder of config has, sorted, without what editors leave there."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in paths if not _NOT_READ.fullmatch(path.name)]


class Parts(Mapping[str, T], Generic[T]):
    """Parts of config by name; each is read and checked when it is first asked for.

    Names are known without reading. To ask for a part raises what is wrong with it.
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], T]):
        self._names = dict.fromkeys(names)
        self._read = read
        self._parts: dict[str, T | FathomError] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._parts and name in self._names:
            try:
                self._parts[name] = self._read(name)
            except FathomError as error:
                self._parts[name] = error
        part = self._parts[name]
        if isinstance(part, FathomError):
            raise part
        return part

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def faults(self) -> Iterator[FathomError]:
        """Read all parts; yield what is wrong with them."""
        for name in self._names:
            try:
                self[name]
            except FathomError as error:
                yield from findings_in(error)


class ConfigFiles:
    """Every YAML file of config/, by kind and name; a file is read when it is first asked for."""

    def __init__(self, root: Path):
        config = root / "config"
        self.root = root
        self.folders: dict[str, Path] = {}  # the papers' folders by name
        self.absent: dict[str, FathomError] = {}  # folders that a switch names in vain
        self._paths: dict[str, dict[str, Path]] = {kind: {} for kind in KINDS}
        for kind in _ALONE:
            self._paths[kind][kind] = config / f"{kind}.yaml"
        self._taken: dict[Path, FathomError] = {}
        # Modules of metrics and readers; those of methods have the names of their cards.
        self._modules = {kind: plugins.modules(place) for kind, place in plugins.FATHOM.items()}
        # Their files in measurements/ have the names of metrics and of what else is measured.
        self._modules["metrics"] |= dict.fromkeys(
            measurement_keys.OTHER_NAMES, Path(measurement_keys.__file__)
        )
        self._files: dict[str, Parts[Value]] = {}
        for kind, folder in _SHARED.items():
            self._find(kind, config / folder)
        for folder in filter(Path.is_dir, listed(config / "papers")):
            self._include(folder.name, folder)

    def include(self, folders: Iterable[tuple[str, Path]], where: str) -> Iterator[FathomError]:
        """Add papers and plugins from outside the project; yield folders that cannot be added.

        `folders` are a name and a folder each, which a switch or a group of entry points names.
        """
        for name, folder in folders:
            first = self.folders.get(name)
            if not folder.is_dir():
                remedy = "correct the path, or take it off the list"
                self.absent[name] = FathomError("no such folder", f"{where} {folder}", remedy)
            elif first is None:
                self._include(name, folder)
            elif not first.samefile(folder):
                what = f"the name '{name}' is taken by {self.name_of(first)}"
                yield FathomError(what, f"{where} {folder}", "rename the folder")

    def absent_for(self, text: str) -> FathomError | None:
        """Return which folder is not there that a run, table or paper is of, as a user names it."""
        return next(
            (
                fault
                for name, fault in self.absent.items()
                if re.match(rf"{re.escape(name)}([/_]|$)", text)
            ),
            None,
        )

    def name_of(self, path: Path) -> str:
        """Return a path as messages print it."""
        return name_of(path, self.root)

    @property
    def papers(self) -> list[str]:
        """The names of the papers, which have a file of any kind."""
        return sorted({name for kind in _OF_PAPERS for name in self._paths[kind]})

    def is_study(self, paper: str) -> bool:
        """Return whether a folder has a study in place of a paper."""
        return paper in self._paths["study"]

    def all(self, kind: str) -> Parts[Value]:
        """Return the files of a kind by name, in alphabetical order."""
        if kind not in self._files:
            self._files[kind] = Parts(sorted(self._paths[kind]), partial(self._read, kind))
        return self._files[kind]

    def names(self, kind: str) -> list[str]:
        """Return the names of a kind's files in alphabetical order, also of unreadable ones."""
        return sorted(self._paths[kind])

    def read(self, kind: str, name: str) -> Value:
        """Return a file."""
        return self.all(kind)[name]

    def _read(self, kind: str, name: str) -> Value:
        path = self._paths[kind][name]
        if fault := name_fault(name, kind in _OF_PAPERS):
            place = path.parent if kind in _OF_PAPERS else path
            raise FathomError(fault, self.name_of(place), "choose another name")
        if kind in VIEWS and self.is_study(name):
            return view(self.read("study", name), kind)
        return read(path, self.root)

    def missing(self, kind: str, paper: str, needed_by: str) -> FathomError:
        """Return that a paper lacks a file, and what needs it."""
        where = f"{self.name_of(self.folders[paper])}/{kind}.yaml"
        return FathomError(f"no such file, and {needed_by}", where, "restore it")

    def faults(self) -> Iterator[FathomError]:
        """Read all files; yield what cannot be read, and what nothing reads."""
        yield from self._taken.values()
        if folder := self.folders.get("logs"):
            what = "every scale has a folder of this name in its results"
            yield FathomError(what, self.name_of(folder), "choose another name")
        yield from self._unread()
        for kind in self._paths:
            yield from self.all(kind).faults()

    def _unread(self) -> Iterator[FathomError]:
        """Yield what nothing reads, `*.yml` included; what editors leave may be there."""
        names = [*(f"{kind}.yaml" for kind in _OF_PAPERS), *_FOLDERS, "reported"]
        for name, folder in self.folders.items():
            # A plugin's folder may be a package, with modules that its methods share.
            paths = [path for path in listed(folder) if path.suffix not in (".md", ".py")]
            if {path.name for path in paths} <= {"reported"}:
                remedy = "write paper.yaml, or delete the folder"
                yield FathomError("a paper without files", self.name_of(folder), remedy)
            for path in paths:
                if self.is_study(name) and path.name in names[1:]:
                    yield from self._beside_study(path)
                elif path.name not in names:
                    where, remedy = self.name_of(path), nearest(path.name, names)
                    yield FathomError("nothing reads this file", where, remedy)
        # What is in a wrong folder, or called *.yml.
        config = self.root / "config"
        readable = {path for paths in self._paths.values() for path in paths.values()}
        readable |= {*self._taken, *self.folders.values(), config / "papers"}
        readable |= {config / folder for folder in _SHARED.values()}
        places = [config, config / "papers", *(config / folder for folder in _SHARED.values())]
        for folder in self.folders.values():
            places += [folder / place for place in _IN_PAPERS.values()]
        for path in (path for folder in places for path in listed(folder)):
            if path not in readable and path.suffix != ".py":
                remedy = "move it to the folder of its kind, or delete it"
                if path.suffix == ".yml":
                    remedy = f"rename it to {path.stem}.yaml, or delete it"
                yield FathomError("nothing reads this file", self.name_of(path), remedy)

    def _beside_study(self, path: Path) -> Iterator[FathomError]:
        what, remedy = "a study and a paper in one folder", "delete one of the two"
        if path.name == "reported":
            what = "a study has no printed numbers"
            remedy = "delete it, or rename study.yaml to paper.yaml"
        elif path.stem != "paper":
            what = "nothing reads this file: a study has one file"
            remedy = f"write it as `{path.stem}:` in study.yaml, or delete it"
        if path.name not in _FOLDERS:
            yield FathomError(what, self.name_of(path), remedy)

    def _include(self, name: str, folder: Path) -> None:
        self.folders[name] = folder
        for kind in _OF_PAPERS:
            # A broken link is a file that cannot be read, not a file that is missing.
            if os.path.lexists(folder / f"{kind}.yaml"):
                self._paths[kind][name] = folder / f"{kind}.yaml"
        if self.is_study(name):
            for kind in VIEWS:
                self._paths[kind][name] = folder / "study.yaml"
        for kind, place in _IN_PAPERS.items():
            self._find(kind, folder / place)
        for kind in plugins.FATHOM:
            for module, path in plugins.modules(folder / kind).items():
                if kind == "methods" and not (folder / kind / f"{module}.yaml").is_file():
                    remedy = f"write {self.name_of(folder / kind / module)}.yaml"
                    error = FathomError("the method has no card", self.name_of(path), remedy)
                    self._taken[path] = error
                elif self._take(module, path, self._modules[kind]):
                    plugins.register(name, folder, kind, module, path)

    def _find(self, kind: str, folder: Path) -> None:
        """Add the files of a folder; of two of the same name, the first is read."""
        for path in (path for path in listed(folder) if path.suffix == ".yaml"):
            self._take(path.stem, path, self._paths[kind])

    def _take(self, name: str, path: Path, paths: dict[str, Path]) -> bool:
        """Add a path by its name, and return whether it is the first."""
        first = paths.setdefault(name, path)
        if first != path:
            what = f"the name '{name}' is taken by {self.name_of(first)}"
            self._taken[path] = FathomError(what, self.name_of(path), "choose another name")
        return first == path


# A study


def view(study: Value, kind: str) -> Value:
    """Return what a study says in place of a paper's file of a kind, with its lines and keys."""
    if kind == "paper":
        return study
    if kind == "runs":
        keys = [key for key in ("families", "runs") if key in study.value]
        return study.over({key: study.value[key] for key in keys})
    section = study.at((kind,))
    if not isinstance(section.value, dict):
        return section if section.value is not None else section.over({})
    defaults = _DEFAULTS.get(kind, {})
    return section.over({name: _with(entry, defaults, study) for name, entry in section.items()})


def _with(entry: Value, defaults: dict[str, str | None], study: Value) -> Value:
    """Return an entry with what it need not say; a title that is None is the study's."""
    if not isinstance(entry.value, dict) or "like" in entry.value:
        return entry
    given = {
        key: entry.over(study.get("title") if default is None else default)
        for key, default in defaults.items()
        # A sentence below figures has no answer.
        if key != "supports" or "figures" not in entry.value
    }
    return entry.over(given | _with_runs(entry, study).value)


def _with_runs(entry: Value, study: Value) -> Value:
    """Return a table or figure with a row, line or cell for each run of a `for` that it names."""
    for section in ("rows", "lines", "cells"):
        written, items = entry.at((section,)), {}
        for name, run in written.items():
            runs = study.find("runs", str(run.value), "for")
            for chosen in [{}] if runs is None else combinations(runs):
                item = run.over(entry_name(run.value, chosen)) if chosen else run
                items[str(fill_text(name, chosen))] = item
        entry = entry.put((section,), written.over(items)) if items else entry
    return entry


def with_study(recipe: Value, study: Value, both_ways: bool) -> Value:
    """Return a borrowed recipe, or an empty one, with a study's text, direction, pieces and seeds.

    The recipe keeps its direction where the study names none and its data set has `both_ways`.
    """
    for key in ("data", "seeds"):
        given = study.find(key)
        if given is None:
            continue
        if key == "data":
            given = data_of(study)
            replaced = (*_TEXT, *(() if both_ways else _DIRECTION))
            lost = (*given.value, *(replaced if "dataset" in given.value else ()))
            kept = {name: item for name, item in recipe.at(("data",)).items() if name not in lost}
            given = given.over(kept | given.value)
        recipe = recipe.put((key,), given)
    return recipe


def data_of(study: Value) -> Value:
    """Return the text of a study's runs in its long form: `data: name` is `{dataset: name}`."""
    data = study.at(("data",))
    if isinstance(data.value, dict) or data.value is None:
        return data.over(data.value or {})
    return data.over({"dataset": data})
