"""The same sentences as the text of another number of languages, to measure what languages cost."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.peer.workload import Workload
from fathom.config.schema.dataset import SPLITS
from fathom.data.indexed import SIDES, Sentences, dictionary_path, prefix, writing
from fathom.io.files import sha256
from fathom.io.records import read_record, write_record


@dataclass(frozen=True)
class Dealt(Workload):
    """A workload whose text is dealt over another number of languages.

    Attributes:
        languages: how many.
        longest: tokens of a side; pairs with a longer one are left out. None: none is.
    """

    languages: int = 8
    longest: int | None = None

    @cached_property
    def folder(self) -> Path:
        """The folder of the dealt text, which is temporary."""
        out = Path(tempfile.mkdtemp(prefix="fathom-bench-"))
        deal(Workload(self.results, self.device).folder, self.languages, out, self.longest)
        return out


def deal(folder: Path, languages: int, out: Path, longest: int | None = None) -> None:
    """Write the sentences of an encoded text, dealt in turn over some languages.

    Args:
        folder: of the encoded text.
        languages: their number.
        out: the folder to write.
        longest: tokens of a side; pairs with a longer one are left out.
    """
    record = read_record(folder / "tensors.json")
    names = [f"l{number:02}" for number in range(languages)]
    for side in SIDES:
        shutil.copy(dictionary_path(folder, side), dictionary_path(out, side))
    for split in SPLITS:
        pairs = _pairs(folder, record["tasks"], split, longest)
        for place, side in enumerate(SIDES):
            for number, name in enumerate(names):
                path = prefix(out, name, split, side)
                path.parent.mkdir(exist_ok=True)
                rows = [pair[place].tolist() for pair in pairs[number::languages]]
                with writing(path, record["dictionaries"][side]) as add:
                    for row in rows:
                        add(row)
    files = [path for path in out.rglob("*") if path.is_file()]
    hashes = {path.relative_to(out).as_posix(): sha256(path) for path in files}
    write_record(out / "tensors.json", record | {"tasks": names, "files": hashes})


def _pairs(folder: Path, tasks: Sequence[str], split: str, longest: int | None) -> list[tuple]:
    """Return the pairs of a split of all tasks, (S,) and (T,) each."""
    pairs = []
    for task in tasks:
        sides = [Sentences(prefix(folder, task, split, side)) for side in SIDES]
        pairs += [tuple(side[number] for side in sides) for number in range(len(sides[0]))]
    return [pair for pair in pairs if longest is None or max(map(len, pair)) <= longest]
