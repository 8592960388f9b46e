"""What lies in a folder of results: runs, and the artefacts of each scale."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.io.errors import FathomError
from fathom.results import manifest
from fathom.results.manifest import Manifest

_JUDGED = ("claims.csv", "compare.csv")
# Columns of every table and figure, and of no other csv below results.
_DRAWN = {"words", "note"}
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
        """The csv files of tables, figures, comparison and claims, by `<scale>/<paper>/<name>`.

        A scale is a folder that has any of them.
        """
        drawn = (path for path in self.folder.glob("*/*/*.csv") if _is_drawn(path))
        judged = (path for name in _JUDGED for path in self.folder.glob(f"*/{name}"))
        return {
            path.relative_to(self.folder).with_suffix("").as_posix(): path
            for path in sorted([*drawn, *judged])
            if path.is_file()
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


def _is_drawn(path: Path) -> bool:
    """Return whether a csv is of a table or figure, or is empty, which its reader refuses."""
    if not path.is_file():
        return False
    with open(path, encoding="utf-8", errors="replace") as stream:
        heading = stream.readline().strip()
    return not heading or {*heading.split(",")} >= _DRAWN


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
