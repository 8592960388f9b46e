"""Methods, metrics and readers by name: fathom's, and those of plugins.

A plugin is a folder that has any of `methods/`, `metrics/` and `readers/`: the folder of a paper or
study, or one that an installed package names by an entry point of the group `fathom.plugins`. Its
modules are imported when they are used, as parts of the package `fathom_plugins.<name>`, so imports
relative to the folder work.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from inspect import getmembers, isclass
from pathlib import Path
from traceback import extract_tb, walk_tb
from types import ModuleType
from typing import TypeVar

from fathom.io.errors import FathomError, nearest
from fathom.io.files import sha256

T = TypeVar("T")
_LIBRARY = Path(__file__).parents[1]
# The kinds of modules, each a folder of a plugin, and the folders of fathom's.
FATHOM = {
    "methods": _LIBRARY / "methods",
    "metrics": _LIBRARY / "scoring" / "metrics",
    "readers": _LIBRARY / "data" / "readers",
}
_BUILD = FATHOM["methods"] / "build.py"  # finds the others
GROUP = "fathom.plugins"
_PACKAGE = "fathom_plugins"
_REMEDY = "correct the code"
# Modules of plugins by kind and name: the package, its folder and the file of each.
_registered: dict[tuple[str, str], tuple[str, Path, Path]] = {}


def modules(folder: Path) -> dict[str, Path]:
    """Return the modules in a folder of a kind by name: `<name>.py`, or `<name>/method.py`."""
    files = {path.stem: path for path in folder.glob("[!_]*.py") if path != _BUILD}
    return files | {path.parent.name: path for path in folder.glob("[!_]*/method.py")}


def names(kind: str) -> list[str]:
    """Return the names of a kind's modules in alphabetical order, those of plugins included."""
    plugins = {name for of_kind, name in _registered if of_kind == kind}
    return sorted(plugins | {*modules(FATHOM[kind])})


def is_plugin(kind: str, name: str) -> bool:
    """Return whether a plugin brings a module."""
    return (kind, name) in _registered


def places_of(kind: str, name: str) -> tuple[Path, Path] | None:
    """Return the folder of the plugin that brings a module, and the file; None for fathom's."""
    return _registered[kind, name][1:] if is_plugin(kind, name) else None


def register(plugin: str, folder: Path, kind: str, name: str, file: Path) -> None:
    """Let `load` find a module of a plugin, whose name fathom's modules do not have."""
    package = f"{_PACKAGE}.{re.sub(r'[^A-Za-z0-9]', '_', plugin)}"
    _registered[kind, name] = package, folder, file


def only_class(module: ModuleType, parent: type[T]) -> type[T]:
    """Return the one class that a module defines and that derives from `parent`."""
    members = [each for _, each in getmembers(module, isclass) if issubclass(each, parent)]
    classes = [each for each in members if each.__module__ == module.__name__]
    if len(classes) != 1:
        what = f"{len(classes)} classes that derive from {parent.__name__}"
        raise FathomError(what, str(module.__file__), "define one")
    return classes[0]


def load(kind: str, name: str) -> ModuleType:
    """Import a module by its kind and name; no other module of the kind is imported."""
    if name not in (valid := names(kind)):
        singular = kind.removesuffix("s")
        raise FathomError(f"no {singular} '{name}'", singular, nearest(name, valid))
    if not is_plugin(kind, name):
        return import_module(_dotted("fathom", modules(FATHOM[kind])[name], _LIBRARY))
    package, folder, file = _registered[kind, name]
    _add_package(_PACKAGE, [])
    _add_package(package, [str(folder)])
    with running(str(file)):
        return import_module(_dotted(package, file, folder))


@contextmanager
def running(where: str) -> Iterator[None]:
    """Turn what a plugin's code raises inside the block into a FathomError at a place."""
    try:
        yield
    except FathomError:
        raise
    except Exception as error:
        frames = extract_tb(error.__traceback__)
        *_, frame = [each for each in frames if "site-packages" not in each.filename] or frames
        what = f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"
        raise FathomError(what, where, _REMEDY) from error


def fault_of(error: Exception) -> FathomError | None:
    """Return the mistake at the last line of a plugin that an exception came through, if any."""
    steps = walk_tb(error.__traceback__)
    lines = [
        (Path(frame.f_code.co_filename), line)
        for frame, line in steps
        if frame.f_globals.get("__name__", "").startswith(f"{_PACKAGE}.")
    ]
    if not lines:
        return None
    file, line = lines[-1]
    here = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return FathomError(f"{type(error).__name__}: {error}", f"{here}:{line}", _REMEDY)


def _dotted(package: str, file: Path, folder: Path) -> str:
    return ".".join((package, *file.relative_to(folder).with_suffix("").parts))


def _add_package(name: str, folders: list[str]) -> None:
    """Make a package of a folder; a package of the same name and another folder is forgotten."""
    found = sys.modules.get(name)
    if found is not None and [*found.__path__] == folders:
        return
    for module in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
        del sys.modules[module]
    package = ModuleType(name)
    package.__path__ = folders
    sys.modules[name] = package


def imported() -> dict[tuple[str, str], Path]:
    """Return the files of the modules of plugins that are imported, by kind and name."""
    return {
        key: file
        for key, (package, folder, file) in _registered.items()
        if _dotted(package, file, folder) in sys.modules
    }


def imported_files(method: str) -> dict[str, str]:
    """Return the SHA-256 of each file that is imported of a method's plugin, by its path there.

    Metrics and readers are left out. Empty for a method of fathom.
    """
    if not is_plugin("methods", method):
        return {}
    package, folder, _ = _registered["methods", method]
    others = (f"{package}.metrics.", f"{package}.readers.")
    imported = [
        module
        for key, module in sys.modules.items()
        if key.startswith(f"{package}.") and not key.startswith(others)
    ]
    files = (Path(each.__file__) for each in imported if each.__file__)
    return {file.relative_to(folder).as_posix(): sha256(file) for file in files}


def has_changed(method: str, files: Mapping[str, str]) -> bool:
    """Return whether a method's plugin has other files than recorded; False for one of fathom.

    `files` has the SHA-256 of each by its path in the folder of the plugin.
    """
    places = places_of("methods", method)
    paths = {places[0] / path: digits for path, digits in files.items()} if places else {}
    return any(not path.is_file() or sha256(path) != digits for path, digits in paths.items())


@cache
def installed() -> dict[str, Path]:
    """Return the folders that installed packages name, by entry point; nothing is imported."""
    folders = {}
    for point in entry_points(group=GROUP):
        top, *inner = point.value.split(".")
        spec = find_spec(top)
        places = (spec and spec.submodule_search_locations) or [point.value]
        folders[point.name] = Path(next(iter(places)), *inner)
    return folders
