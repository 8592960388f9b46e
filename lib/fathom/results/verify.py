"""Every file below folders of results, compared with what was recorded of it.

And what `fathom train` does about damaged files of a training that has ended: its weights and its
record are whole, so nothing is trained. A series cannot be made again.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fathom.config.spec import Spec
from fathom.config.yaml_values import read
from fathom.io.commands import DATA_FOLDERS, VERBS, again, stage_of
from fathom.io.errors import FathomError
from fathom.io.files import MISSING, is_there, set_aside, sha256, write_text
from fathom.io.records import Recorded, identity, read_record, short
from fathom.io.seals import checked_seal, owner
from fathom.results import training_record
from fathom.results.recipe import stale
from fathom.results.run_state import STATE_FILE, read_state
from fathom.results.training_record import (
    LOST,
    OTHER_TEXT,
    SETTINGS,
    WEIGHTS,
    restore_measured,
    settings_text,
)

TENSORS, CORPUS, TRAINING = "tensors.json", "corpus.json", "training.json"
DECODING, SCORING = "decoding.json", "scoring.json"
RECORDS = (
    "first.json", "source.json", "task.json", CORPUS, "statistics.json", "subwords.json", TENSORS,
    TRAINING, DECODING, SCORING, LOST,
)  # fmt: skip
# The folder of results into which earlier versions moved what was damaged.
SET_ASIDE = "damaged"
# The key of a decoding's record: SHA-256 of the files of the weights that it used, by name.
USED = "weights_sha256"
_Records = dict[Path, dict[str, Any]]


@dataclass
class Verified:
    """What was compared."""

    files: set[Path] = field(default_factory=set)  # everything, records included
    findings: dict[Path, FathomError] = field(default_factory=dict)  # what does not fit, by path
    lost: dict[Path, str] = field(default_factory=dict)  # what a user knows to be lost, and why

    def in_order(self) -> list[Path]:
        """Return the paths of findings so that the command of each finds what it reads."""

        def place(path: Path) -> tuple[tuple[int, bool], Path]:
            stage = stage_of(path)
            return stage.rank if stage else (len(VERBS), False), path

        return sorted(self.findings, key=place)


def verify(folders: Iterable[Path], recipe: bool = False) -> Verified:
    """Compare every record, every file that a record names, and every checkpoint.

    Args:
        recipe: whether trainings must have today's recipe, as those that came from elsewhere.
    """
    folders, verified = list(folders), Verified()
    files, findings = verified.files, verified.findings
    records: _Records = {}
    for path in _below(folders, "*.json"):
        name = path.name
        if name in RECORDS or path.parent.name == "measurements":
            files.add(path)
            try:
                records[path] = read_record(path)
            except FathomError as error:
                # What was listed may be gone: deleted, or a state that a training has renamed.
                if is_there(path):
                    measured = path.parent.name == "measurements"
                    hides = "" if measured else "; nothing that it names can be compared"
                    findings[path] = FathomError(f"{error.what}{hides}", error.where, error.remedy)
    for path in _below(folders, STATE_FILE):
        files.add(path)
        if read_state(path.parent) is None and is_there(path):
            what = "not what a training writes"
            findings[path] = FathomError(what, str(path), again(path))
    _compare_files(records, verified)
    _compare_folders(folders, records, verified)
    if recipe:
        _compare_recipes(records, verified)
    for path in {*_below(folders, "checkpoints/*.pt")} - files:
        files.add(path)
        with suppress(FileNotFoundError):
            if finding := _unfit_state(path, records):
                findings[path] = finding
    return verified


def restore(record: Path, spec: Spec, seed: int, report: Callable[[str], None]) -> None:
    """Rename what is damaged beside a training.json, and write again what follows from config.

    Args:
        report: gets a line for each file.
    """
    restore_measured(record, spec, seed)
    text = settings_text(spec)
    recorded = training_record.read(record).files.get(SETTINGS)
    has_settings = hashlib.sha256(text.encode()).hexdigest() == recorded
    for path, finding in verify([record.parent]).findings.items():
        if path.name == SETTINGS and not has_settings:
            report(f"{path}: {finding.what}; config no longer has what was recorded")
        elif path.name in (SETTINGS, STATE_FILE, LOST) or path.suffix == ".pt":
            renamed = f"; renamed to {set_aside(path)}" if path.exists() else ""
            report(f"{path}: {finding.what}{renamed}")
            if path.name == SETTINGS:
                write_text(path, text)


def _unfit_state(path: Path, records: _Records) -> FathomError | None:
    """Return why a training cannot go on from a state; None also where it is gone by now."""
    try:
        checked_seal(path)
        foreign = _foreign(path, owner(path), records)
    except FathomError as error:
        return error if is_there(path) else None
    return FathomError(foreign, str(path), again(path)) if foreign else None


def _compare_files(records: _Records, verified: Verified) -> None:
    """Compare the files of all records, each once; a record must not be older than one it names."""
    for record, content in records.items():
        recorded = Recorded(record, content.get("files", {}))
        lost = records.get(record.with_name(LOST), {}).get("lost", {})
        for name in recorded.files:
            path = recorded.path(name)
            if path in records and recorded.unfit(name):
                verified.findings[record] = FathomError(
                    f"older than {name}", str(record), again(record)
                )
            elif path not in verified.files:
                verified.files.add(path)
                reason = recorded.unfit(name)
                if reason == MISSING and name in lost:
                    verified.lost[path] = lost[name]
                elif reason:
                    verified.findings[path] = FathomError(reason, str(path), again(path))


def _compare_folders(folders: list[Path], records: _Records, verified: Verified) -> None:
    """Find records that are of another folder, and what is gone beside a record that needs it."""
    for record, content in records.items():
        try:
            foreign = _foreign(record, content, records)
            needed = [*_needed(record, content, verified)]
        except (AttributeError, IndexError, KeyError, TypeError):
            foreign, needed = "not what a stage writes", []
        if foreign:
            verified.findings[record] = FathomError(foreign, str(record), again(record))
        text = content.get("tensors_sha256")  # of the training.json alone
        for path in needed:
            if not os.path.lexists(path) and any(map(path.is_relative_to, folders)):
                what = f"{MISSING}, but {record} is there"
                verified.findings.setdefault(path, FathomError(what, str(path), again(path)))
            elif text and path.name == TENSORS and path in records and sha256(path) != text:
                what = f"the run was trained on other encoded text than that in {path.parent}"
                verified.findings[record] = FathomError(what, str(record), OTHER_TEXT)


def _compare_recipes(records: _Records, verified: Verified) -> None:
    """Find trainings of another recipe than today's."""
    for record, content in records.items():
        made = content.get("recipe")
        if record.name == TRAINING and isinstance(made, int):
            for what in stale({"training": made}).values():
                remedy = "use the version of fathom that trained it, or start with retrain=stale"
                verified.findings.setdefault(record, FathomError(what, str(record), remedy))


def _foreign(record: Path, content: dict[str, Any], records: _Records) -> str:
    """Return of which other run, seed or weights a whole file is; empty if of its folder's."""
    training = _training_of(record)
    digits, seed = short(content.get("identity", "")), content.get("seed")
    if digits and digits not in {part.rpartition("-")[2] for part in record.parts}:
        return "of another run or decoding than its folder"
    if seed is not None and str(seed) != training.parent.name:
        return f"of seed {seed}"
    now = records.get(training, {}).get("files", {})
    made = content.get(USED, {}).items()
    others = [name for name, digits in made if now.get(f"{WEIGHTS}{name}", digits) != digits]
    return f"made with another {others[0]} than that of {TRAINING}" if others else ""


def _needed(record: Path, content: dict[str, Any], verified: Verified) -> Iterator[Path]:
    """Yield the records of what a record was made from, and of what was measured with it."""
    folder = record.parent
    if record.name != TRAINING:
        yield _training_of(record)
    if folder.name == "measurements" and record.name != TRAINING:
        rule, _, decoding = record.stem.partition(".")
        place = folder.with_name("decodings") / decoding / rule.removeprefix("scores")
        if decoding and place.is_dir() and rule not in ("likelihood", "window"):
            yield place / SCORING
    elif record.name == SCORING:
        rule, decoding = folder.name, folder.parent
        if decoding.name == "decodings":
            rule, decoding = "scores", folder
        if decoding.parent.name == "decodings":
            yield decoding.parents[1] / "measurements" / f"{rule}.{decoding.name}.json"
    elif record.name == "statistics.json":
        yield folder / CORPUS
    elif record.name == CORPUS:
        places = (folder.parents[1] / "sources" / row["name"] for row in content.get("sources", ()))
        yield from (place / "source.json" for place in places if place.is_dir())
    elif record.name == TRAINING and folder.name != "measurements":
        yield from _needed_by_training(record, content, verified)


def _needed_by_training(
    record: Path, content: dict[str, Any], verified: Verified
) -> Iterator[Path]:
    """Yield what a training measured, and the records of its text where its folders are there."""
    yield record.parent / "measurements" / TRAINING
    settings = record.with_name(SETTINGS)
    if SETTINGS not in content.get("files", {}) or settings in {*verified.findings, *verified.lost}:
        return
    try:
        data = read(settings, settings.parent).get("data")
    except FathomError:
        return  # a plain text, as of another program
    pieces = data.get("pieces_of") or data.get("dataset")
    subwords = {key: data.get(key) for key in ("direction", "subwords")} | {"definition": pieces}
    # The settings of the data name its folders.
    of_kind = {"corpora": [data.get("dataset"), pieces], "subwords": [subwords], "tensors": [data]}
    for kind, several in of_kind.items():
        for hashed in several:
            found = record.parents[4].glob(f"{kind}/*-{short(identity(hashed))}")
            yield from (path / DATA_FOLDERS[kind] for path in found)


def _training_of(record: Path) -> Path:
    """Return the training.json of a run's file; of any other record, that record itself."""
    places = ("decodings", "window", "measurements", WEIGHTS[:-1])
    inside = (folder for folder in record.parents if folder.name in places)
    return next((folder.with_name(TRAINING) for folder in inside), record)


def _below(folders: Iterable[Path], pattern: str) -> Iterator[Path]:
    """Yield what fits a pattern below folders, sorted; no folder is inside another."""
    for folder in folders:
        aside = folder / SET_ASIDE
        yield from sorted(p for p in folder.rglob(pattern) if not p.is_relative_to(aside))
