"""What lies in a folder of results: runs, and the artefacts of each scale."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.errors import FathomError
from fathom.provenance import manifest
from fathom.provenance.manifest import Manifest

# Folders of results that are no scale.
_SHARED = ("runs", "corpora", "subwords", "tensors", "sources", "logs", "benchmarks", "cluster")
_NO_PAPER = ("curves", "logs")
_JUDGED = ("claims.csv", "compare.csv")
_AGAIN = "delete it, and make it again with the verb that writes it"

RunKey = tuple[str, str, int]  # name, first digits of the identity, seed


@dataclass(frozen=True)
class TreeRun:
    """A training in a tree.

    Attributes:
        folder: its folder.
        manifest: what is known of it; None before `fathom summarise` has gathered that.
    """

    folder: Path
    manifest: Manifest | None


@dataclass(frozen=True)
class Tree:
    """A folder of results.

    Attributes:
        folder: the folder.
    """

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> "Tree":
        """Return a tree.

        Raises:
            FathomError: the folder is not there, or holds no results.
        """
        tree = cls(folder)
        if not folder.is_dir():
            raise FathomError("no such folder", str(folder), "give a folder of results")
        if not (folder / "runs").is_dir() and not tree.files:
            remedy = "give the folder that holds runs/ and the folders of scales"
            raise FathomError("no results are in this folder", str(folder), remedy)
        return tree

    @cached_property
    def files(self) -> dict[str, Path]:
        """The csv files of tables, figures, comparison and claims, by `<scale>/<paper>/<name>`."""
        return {
            path.relative_to(self.folder).with_suffix("").as_posix(): path
            for scale in sorted(self.folder.glob("*/"))
            if scale.name not in _SHARED
            for path in sorted([*scale.glob("*/*.csv"), *map(scale.joinpath, _JUDGED)])
            if path.is_file() and path.parent.name not in _NO_PAPER
        }

    @property
    def scales(self) -> list[str]:
        """The scales that it has artefacts of."""
        return list(dict.fromkeys(name.partition("/")[0] for name in self.files))

    def runs(self) -> Iterator[tuple[RunKey, TreeRun]]:
        """Yield all trainings.

        Raises:
            FathomError: a manifest is damaged, or of another version.
        """
        for folder in sorted(self.folder.glob("runs/*/*/*/")):
            name, _, digits = folder.parent.name.rpartition("-")
            if name and folder.name.isdigit():
                path = folder / "manifest.json"
                known = manifest.read(path) if path.is_file() else None
                key = (f"{folder.parts[-3]}/{name}", digits, int(folder.name))
                yield key, TreeRun(folder, known)


def rows(path: Path) -> list[dict[str, str]]:
    """Return the lines of a csv file that fathom wrote, by column.

    Raises:
        FathomError: it is damaged.
    """
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            lines = csv.DictReader(stream, strict=True)
            read = list(lines) if lines.fieldnames else None
    except (csv.Error, UnicodeDecodeError) as error:
        raise FathomError(f"not CSV ({error})", str(path), _AGAIN) from None
    if read is None:
        raise FathomError("not CSV (it is empty)", str(path), _AGAIN)
    for at, row in enumerate(read, start=2):
        if None in row or None in row.values():
            what = f"not CSV (row {at} has another number of fields than the first)"
            raise FathomError(what, str(path), _AGAIN)
    return read
