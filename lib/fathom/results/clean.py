"""What may be deleted below a folder of results, without losing a result of today's config."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.io.errors import FathomError
from fathom.io.files import leftovers
from fathom.results import training_record
from fathom.results.training_record import WEIGHTS
from fathom.results.verify import SET_ASIDE

# The last are records of tables and pages that earlier versions wrote.
_ASIDE = ("*.damaged", "*.replaced", "*.drawn.json")


def states(_: Project, results: Path) -> Iterator[Path]:
    """Yield states from which ended trainings would resume, and weights that nothing decodes."""
    for ended in sorted(results.glob("runs/*/*/*/training.json")):
        try:
            recorded = training_record.read(ended).weights
        except FathomError:
            continue
        folder = ended.parent / WEIGHTS
        yield from sorted(path for path in folder.glob("*.pt") if path.name not in recorded)


def _folders_in_use(project: Project, paths: Paths) -> list[Path]:
    """Return the folders of runs and of text that config has at a scale, and of all data sets."""
    sources, datasets = project.sources, project.datasets.values()
    places = [paths.corpus_named(dataset.corpus_folder(sources)) for dataset in datasets]
    for spec in (project.spec(name, paths.scale) for name in project.entries):
        data = spec.data
        places += [paths.run(spec, 1).parent, paths.tensors(data), paths.subwords(data)]
        places += [paths.corpus(data), paths.pieces_corpus(data)]
    return list(dict.fromkeys(places))


def unused(project: Project, results: Path) -> Iterator[Path]:
    """Yield runs and text that no run of today's config has, at any scale, and what nothing reads.

    That is what killed writers left, and files that were set aside.
    """
    scales = (Paths(results, scale) for scale in project.scales)
    used = {place for paths in scales for place in _folders_in_use(project, paths)}
    patterns = ("runs/*/*", "tensors/*", "subwords/*", "corpora/*", f"{SET_ASIDE}/*")
    found = {path for pattern in patterns for path in results.glob(pattern)} - used
    files = {*leftovers(results), *(path for each in _ASIDE for path in results.rglob(each))}
    yield from sorted(found)
    yield from sorted(path for path in files if found.isdisjoint(path.parents))


# By the name that a user gives.
KINDS: dict[str, Callable[[Project, Path], Iterator[Path]]] = {
    "states": states,
    "unused": unused,
}


def size(path: Path) -> int:
    """Return the bytes of a file or folder on disk; of a link, of the link alone."""
    files = [file for file in path.rglob("*") if file.is_file()] if _is_folder(path) else [path]
    return sum(os.lstat(file).st_size for file in files)


def delete(path: Path) -> None:
    """Delete a file or folder; of a link, the link alone."""
    if _is_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
