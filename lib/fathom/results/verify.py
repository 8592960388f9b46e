"""Every file below folders of results, compared with what was recorded of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathom.config.yaml_values import read
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.records import Recorded, identity, read_record, short
from fathom.io.seals import checked_seal

SPEC, TENSORS = "spec.yaml", "tensors.json"
RECORDS = (
    "first.json",
    "source.json",
    "corpus.json",
    "statistics.json",
    "subwords.json",
    TENSORS,
    "training.json",
    "decoding.json",
    "scoring.json",
    "hypotheses.json",
    "pruned.json",
)
# In the order in which they are made, and so made again.
STAGES = ("sources", "corpora", "subwords", "tensors", "runs")


@dataclass
class Verified:
    """What was compared."""

    files: set[Path] = field(default_factory=set)  # everything, records included
    findings: dict[Path, FathomError] = field(default_factory=dict)  # what does not fit, by path

    def in_order(self, results: Path) -> list[FathomError]:
        """Return the findings so that the command of each finds what it reads.

        `results` is the folder that has all of what was compared.
        """

        def place(path: Path) -> tuple[int, Path]:
            first = path.relative_to(results).parts[0]
            stage = next((at for at, name in enumerate(STAGES) if name == first), 0)
            return stage, path

        return [self.findings[path] for path in sorted(self.findings, key=place)]

    def compare(self, record: Path, names: dict[str, str], records: dict[Path, Any]) -> None:
        """Compare the files of a record that were not compared before.

        Args:
            record: its path.
            names: SHA-256 of its files.
            records: the content of all records that are as they were written.
        """
        recorded = Recorded(record, names)
        for name in names:
            path = recorded.path(name)
            if path in records and recorded.unfit(name):
                what = f"older than {name}"
                self.findings[record] = FathomError(what, str(record), again(record))
            elif path not in self.files:
                self.files.add(path)
                if reason := recorded.unfit(name):
                    self.findings[path] = FathomError(reason, str(path), again(path))


def verify(folders: Iterable[Path]) -> Verified:
    """Compare every record, every file that a record names, and every checkpoint.

    A file that no record names is not compared: manifest.json, which earlier versions wrote.
    """
    folders, verified = list(folders), Verified()
    records: dict[Path, dict[str, Any]] = {}
    for path in _records(folders):
        verified.files.add(path)
        try:
            # A folder, a pipe or a broken symbolic link in the place of a record is damage.
            if not path.is_file():
                raise FathomError("not a file", str(path), again(path))
            records[path] = read_record(path)
        except FathomError as error:
            verified.findings[path] = error
    for record, content in records.items():
        verified.compare(record, content.get("files", {}), records)
    _compare_text(records, verified)
    for path in _below(folders, "checkpoints/*.pt"):
        if path not in verified.files:
            verified.files.add(path)
            try:
                checked_seal(path)
            except FathomError as error:
                verified.findings[path] = error
    return verified


def _compare_text(records: dict[Path, dict[str, Any]], verified: Verified) -> None:
    """Compare the encoded text with that on which runs were trained, where both are there."""
    # The settings of the data name its folder.
    texts = {path.parent.name.rpartition("-")[2]: path for path in records if path.name == TENSORS}
    for record, content in records.items():
        settings = record.with_name(SPEC)
        if record.name != "training.json" or SPEC not in content.get("files", {}):
            continue
        if texts and "tensors_sha256" in content and settings not in verified.findings:
            data = read(settings, settings.parent).get("data")
            text = texts.get(short(identity(data)))
            if text is not None and sha256(text) != content["tensors_sha256"]:
                what = f"the run was trained on other encoded text than that in {text.parent}"
                verified.findings[record] = FathomError(what, str(record), again(settings))


def _records(folders: Iterable[Path]) -> list[Path]:
    return sorted(
        path
        for path in _below(folders, "*.json")
        if path.name in RECORDS or path.parent.name == "measurements"
    )


def _below(folders: Iterable[Path], pattern: str) -> Iterator[Path]:
    """Yield what fits a pattern below folders, sorted; no folder is inside another."""
    for folder in folders:
        yield from sorted(folder.rglob(pattern))
