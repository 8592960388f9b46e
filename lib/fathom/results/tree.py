"""What lies in a folder of results: trainings and their measurements, tables and figures."""

import csv
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fathom.io.errors import FathomError
from fathom.io.files import is_there
from fathom.results import measurements, training_record
from fathom.results.measurements import Measurements, Record
from fathom.results.training_record import TrainingRecord

# What follows a table's name in that of the CSV file which has its numbers by seed.
SEEDS = "_seeds.csv"
# Columns of every table and figure, and of no other CSV file below a folder of results.
_OF_ARTEFACTS = {"words", "note"}
_AGAIN = "delete it, and make it again with the verb that writes it"
_HASH = re.compile(r"-[0-9a-f]{8}$")


@dataclass(frozen=True)
class RunResults:
    """What is recorded of one training that has ended."""

    folder: Path
    name: str  # <paper>/<run>
    seed: int
    training: TrainingRecord
    files: Mapping[str, Measurements]  # by file name, without .json

    @cached_property
    def measurements(self) -> dict[str, Record]:
        """All records by key; a key of several decodings gets the hash of its file's name."""
        counts = Counter(_HASH.sub("", name) for name in self.files)
        records: dict[str, Record] = {}
        for name, file in self.files.items():
            several = counts[_HASH.sub("", name)] > 1
            mark = f" ({name[-8:]})" if several else ""
            records |= {f"{key}{mark}": record for key, record in file.measurements.items()}
        return records

    @property
    def recipe(self) -> dict[str, int]:
        """The lowest recipe of each stage that the results went through."""
        recipes = [{"training": self.training.recipe}, *(f.recipe for f in self.files.values())]
        stages = sorted({stage for recipe in recipes for stage in recipe})
        return {stage: min(r[stage] for r in recipes if stage in r) for stage in stages}

    def over_all(self, key: str) -> float | None:
        """Return the number over all tasks of a measurement; None where there is none."""
        record = self.measurements.get(key)
        return record.all.value if record and record.all else None


def read_run(folder: Path) -> RunResults | None:
    """Read a folder `runs/<paper>/<run>-<hash>/<seed>`; None before the training has ended.

    Raises:
        FathomError: If a record is damaged, or of another version.
    """
    path = folder / "training.json"
    if not is_there(path):
        return None
    name = f"{folder.parts[-3]}/{_HASH.sub('', folder.parent.name)}"
    files = {
        file.stem: measurements.read(file) for file in sorted(folder.glob("measurements/*.json"))
    }
    return RunResults(folder, name, int(folder.name), training_record.read(path), files)


def run_folders(results: Path) -> list[Path]:
    """Return the folder of each training, ended or not."""
    folders = sorted(results.glob("runs/*/*/*/"))
    return [path for path in folders if path.name.isdecimal() and _HASH.search(path.parent.name)]


def artefacts(results: Path) -> list[str]:
    """Return the CSV files of tables, figures, claims and verdicts, without their `.csv`."""
    paths = [path for path in sorted(results.glob("*/*/*.csv")) if _is_artefact(path)]
    for name in ("claims", "compare"):
        paths += sorted(results.glob(f"*/{name}.csv"))
    return [path.relative_to(results).with_suffix("").as_posix() for path in paths]


def _is_artefact(path: Path) -> bool:
    """Return whether a CSV file is of a table or figure, or is empty, which its reader refuses."""
    if not path.is_file():
        return False
    with open(path, encoding="utf-8", errors="replace") as stream:
        heading = stream.readline().strip()
    return not heading or {*heading.split(",")} >= _OF_ARTEFACTS


def rows(path: Path) -> list[dict[str, str]]:
    """Return the lines of a CSV file that fathom wrote, by column."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            lines = csv.DictReader(stream, strict=True)
            if not lines.fieldnames:
                raise csv.Error("it is empty")
            read = list(lines)
        for number, row in enumerate(read, start=2):
            if None in row or None in row.values():
                raise csv.Error(f"row {number} has another number of fields than the first")
    except (csv.Error, UnicodeDecodeError) as error:
        raise FathomError(f"not CSV ({error})", str(path), _AGAIN) from None
    return read
