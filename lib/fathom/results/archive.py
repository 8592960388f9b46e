"""A finished run, or all results of a scale, in one file: a tar with a record of SHA-256.

The record comes first. Files are hashed for it, and hashed again when they are packed and when they
are unpacked: all of an archive is written, or nothing. A run is accepted by another tree of results
where it has the same identity, the same text to the byte and today's recipe.
"""

import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import permutations
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.config.schema.section import Name, Section, Seed
from fathom.config.spec import Spec
from fathom.io.commands import again
from fathom.io.errors import FathomError, nearest, refuse
from fathom.io.files import BROKEN_ARCHIVE, naming, read_json, replacing, require_file, sha256
from fathom.io.records import CHANGED, HASH, Recorded, hashes, identity, read_record
from fathom.results import training_record
from fathom.results.clean import folders_in_use
from fathom.results.measurements import SCHEMA, checked
from fathom.results.recipe import RECIPE
from fathom.results.training_record import WEIGHTS
from fathom.results.verify import verify

RECORD = "archive.json"
SUFFIX = ".tar.gz"
AGAIN = "copy the archive again, or pack again"
# What names the host, its users' folders or a job.
_OF_A_PROCESS = ("lock", "lock.holder", "attempts.json", "state.json", "train.log")
# Of a run: how it was trained, its series, measurements and hypotheses.
_OF_A_RUN = (
    "training.json", "spec.yaml", "metrics.tsv", "times.tsv",
    "diagnostics/**/*", "measurements/**/*", "decodings/**/*", "window/**/*",
)  # fmt: skip
# Of a corpus: what was counted. Its text has licences, and everyone can prepare it.
_OF_A_CORPUS = ("corpus.json", "statistics.json")


class PackedRun(Section):
    """The run of an archive."""

    name: str  # <paper>/<run>
    run_identity: str
    seed: Seed
    tensors_sha256: str  # of the tensors.json of its text


class ArchiveRecord(BaseModel):
    """The record of an archive."""

    model_config = Section.model_config

    schema_: Literal[2] = Field(default=SCHEMA, alias="schema")
    scale: Name  # is printed
    recipe: dict[str, int]  # of the training, or of the code that packed all results
    run: PackedRun | None = None  # None for all results of a scale
    files: dict[str, str]  # SHA-256 by path from the folder of the run, or of the results


# Packing


def pack_run(spec: Spec, seed: int, paths: Paths, archive: Path) -> ArchiveRecord:
    """Write a finished run to an archive.

    Series, measurements, translations and the weights that may be decoded are in it. Left out are
    states from which a training resumes, and what names the machine.
    """
    folder = paths.run(spec, seed)
    training = training_record.read(paths.training(spec, seed))
    refuse(verify([folder]).findings.values())
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    names = sorted(
        name.as_posix()
        for name in files
        if _is_lasting(name)
        and (not name.as_posix().startswith(WEIGHTS) or name.as_posix() in training.files)
    )
    run = PackedRun(
        name=spec.name,
        run_identity=spec.identity,
        seed=seed,
        tensors_sha256=training.tensors_sha256,
    )
    recipe = {"training": training.recipe}
    record = ArchiveRecord(scale=paths.scale, recipe=recipe, run=run, files=_hashes(folder, names))
    _write(archive, record, folder)
    return record


def _is_lasting(name: Path) -> bool:
    """Return whether a file is not hidden, and not of a process and its machine."""
    return name.name not in _OF_A_PROCESS and not any(part[0] == "." for part in name.parts)


def _hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: sha256(folder / name) for name in names}


def pack_results(results: Path, names: Iterable[str], scale: str, archive: Path) -> ArchiveRecord:
    """Write results of a scale to an archive; `names` are paths from the folder of results."""
    files = _hashes(results, names)
    for name in files:
        if name.endswith(".json"):
            _require_recorded(results, name, files)
    record = ArchiveRecord(scale=scale, recipe=dict(RECIPE), files=files)
    _write(archive, record, results)
    return record


def _require_recorded(results: Path, name: str, files: Mapping[str, str]) -> None:
    """Compare the packed files of a record with what it says of them."""
    path = results / name
    if HASH not in read_json(path, again(path)):
        return
    recorded = read_record(path).get("files", {})
    for inner, digits in recorded.items() if isinstance(recorded, dict) else ():
        packed = Recorded(path, recorded).path(inner).relative_to(results).as_posix()
        if files.get(packed, digits) != digits:
            raise FathomError(CHANGED, str(results / packed), again(path))


def _write(archive: Path, record: ArchiveRecord, folder: Path) -> None:
    """Write an archive atomically, with the times of files, which Snakemake compares."""
    content = record.model_dump(mode="json", by_alias=True)
    text = json.dumps(content | {"sha256": identity(content)}, indent=1, allow_nan=False).encode()
    with (
        replacing(archive, "wb") as stream,
        tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as tar,
    ):
        entry = tarfile.TarInfo(RECORD)
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
        for name, digits in record.files.items():
            entry, path = tarfile.TarInfo(name), folder / name
            with open(path, "rb") as source:
                status = os.fstat(source.fileno())
                entry.size, entry.mtime = status.st_size, status.st_mtime
                tar.addfile(entry, source)
            if sha256(path) != digits:
                raise FathomError("changed while it was packed", str(path), "pack again")


def files_of_scale(project: Project, paths: Paths) -> tuple[list[str], list[str]]:
    """Return the files of a scale that readers need, by their path from the folder of results.

    Runs are those that the scale has, with all their seeds. Weights, states, text, dictionaries and
    logs are left out.

    Returns:
        The files, and the folders of trainings that have not ended, whose series may still grow.
    """
    files, growing = [*_fitting(paths.top, ("**/*",))], []
    for place in folders_in_use(project, paths):
        kind = place.relative_to(paths.results).parts[0]
        if kind == "corpora":
            files += _fitting(place, _OF_A_CORPUS)
        for training in sorted(place.glob("*/")) if kind == "runs" else ():
            if (training / "training.json").is_file():
                files += _fitting(training, _OF_A_RUN)
            else:
                growing.append(training.relative_to(paths.results).as_posix())
    names = {path.relative_to(paths.results) for path in files}
    logs = (paths.scale, "logs")
    kept = sorted(n.as_posix() for n in names if _is_lasting(n) and n.parts[:2] != logs)
    return kept, growing


def _fitting(folder: Path, patterns: tuple[str, ...]) -> Iterator[Path]:
    return (path for pattern in patterns for path in folder.glob(pattern) if path.is_file())


# Reading


def read(archive: Path) -> ArchiveRecord:
    """Return the record of an archive.

    Raises:
        FathomError: If the file is missing or damaged, or not an archive of `fathom pack`.
    """
    require_file(archive, "give an archive of `fathom pack`")
    with _opened(archive) as tar:
        entry = tar.next()
        stream = tar.extractfile(entry) if entry is not None and entry.name == RECORD else None
        text = stream.read() if stream else b""
    try:
        content = json.loads(text)
        matches = content.pop("sha256") == identity(content)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        matches, content = False, {}
    if not matches:
        raise _not_an_archive(archive)
    return checked(ArchiveRecord, content, archive, AGAIN)


@contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    """Open an archive to be read from beginning to end."""
    try:
        with tarfile.open(archive, "r|gz") as tar:
            yield tar
    except (*BROKEN_ARCHIVE, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the file system, such as a full disk
        raise _not_an_archive(archive) from None


def _not_an_archive(archive: Path) -> FathomError:
    what = "damaged, or not an archive of `fathom pack`"
    return FathomError(what, str(archive), "copy it again, or give one of `fathom pack`")


def unpack(packed: Sequence[tuple[Path, ArchiveRecord, Path]]) -> None:
    """Write archives, each to a folder that is new or empty: all files of all of them, or nothing.

    Raises:
        FathomError: If a folder is inside another, or an archive has not the files of its record.
    """
    for (_, _, first), (_, _, second) in permutations(packed, 2):
        if first.resolve().is_relative_to(second.resolve()):
            what = "another of these archives is also unpacked there"
            raise FathomError(what, str(second), "unpack one alone")
    waiting = {}
    with ExitStack() as opened:
        for archive, record, folder in packed:
            above = next(path for path in folder.absolute().parents if path.is_dir())
            part = tempfile.TemporaryDirectory(".part", f".unpacked.{os.getpid()}.", above)
            waiting[folder] = Path(opened.enter_context(part)) / "unpacked"
            with naming(folder):
                _extract(archive, record, waiting[folder])
        for folder, unpacked in waiting.items():
            folder.parent.mkdir(parents=True, exist_ok=True)
            unpacked.rename(folder)


def _extract(archive: Path, record: ArchiveRecord, folder: Path) -> None:
    """Write the files of an archive, which must be those of its record."""
    folder.mkdir()
    with _opened(archive) as tar:
        # Refuses what points outside the folder.
        tar.extractall(folder, filter="data")
    (folder / RECORD).unlink()
    unpacked = hashes(folder, "**/*")
    for name in sorted(record.files.keys() | unpacked.keys()):
        if record.files.get(name) != unpacked.get(name):
            raise FathomError(f"'{name}' is not the file that was packed", str(archive), AGAIN)


def place(project: Project, paths: Paths, archive: Path, record: ArchiveRecord) -> Path:
    """Return the folder to which the run of an archive belongs."""
    run, where = record.run, str(archive)
    if run is None:
        raise FathomError("not an archive of a run", where, "give one of `fathom pack <run>`")
    if not project.has_run(run.name):
        raise FathomError(f"no run '{run.name}'", where, nearest(run.name, project.entries))
    spec = project.spec(run.name, paths.scale)
    if spec.identity != run.run_identity:
        what = f"{run.name} has other settings here at scale {paths.scale}"
        raise FathomError(what, where, "give --scale, or use the config it was trained with")
    made = record.recipe.get("training")
    if made != RECIPE["training"]:
        what = f"trained by recipe {made}, today's code has {RECIPE['training']}"
        raise FathomError(what, where, "use the version of fathom that trained it")
    tensors = paths.tensors(spec.data) / "tensors.json"
    if tensors.is_file() and sha256(tensors) != run.tensors_sha256:
        what = f"trained on other text than that in {tensors.parent}"
        raise FathomError(what, where, f"compare sources: `fathom verify {run.name}`")
    folder = paths.run(spec, run.seed)
    if folder.exists():
        raise FathomError("the run is here already", str(folder), "unpack it with --results")
    return folder


def new_folder(folder: Path) -> Path:
    """Return a folder that is new or empty, for all results of an archive."""
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        what = "there is such a folder" if folder.is_dir() else "there is such a file"
        raise FathomError(what, str(folder), "name a new folder with --results")
    return folder
