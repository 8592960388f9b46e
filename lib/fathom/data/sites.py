"""Whether the sites of sources have their files, asked before anything is downloaded.

A file that was fetched, or that a user has put by hand, needs no site.
"""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from fathom.config.schema.source import ByHand, Source
from fathom.data.download import ask
from fathom.data.fetch import is_fetched
from fathom.io.errors import without_secrets

# Addresses that are asked at the same time.
_TOGETHER = 8
# A file whose size is only estimated may be so many times as large or as small.
_ESTIMATE = 10


@dataclass(frozen=True)
class Lookup:
    """What was found of a file: where it is, or why no address has it."""

    source: Source
    file: str
    by_hand: Path  # where a user may put it
    is_here: bool  # fetched, or put by hand
    found: str = ""  # the address that has it, and how many bytes
    faults: tuple[str, ...] = ()  # of addresses that do not have it, each with its reason

    @property
    def is_missing(self) -> bool:
        """Whether the file is neither here nor found."""
        return not self.is_here and not self.found

    @property
    def remedy(self) -> str:
        """What a user does who lacks the file."""
        if isinstance(self.source, ByHand):
            return f"{self.source.steps}; put it at {self.by_hand}"
        return f"put the file at {self.by_hand}, or give another address in the source's card"


def look_up(
    sources: Iterable[Source], folder: Callable[[str], Path], by_hand: Path
) -> list[Lookup]:
    """Look up the files of sources; those of pip's packages are left out.

    Args:
        folder: the folder of a source, by its name.
        by_hand: the folder of files that a user has put by hand.
    """
    files = [
        (source, file, folder(source.name), source.place_by_hand(file, by_hand))
        for source in sources
        for file in source.contents
        if source.addresses(file) or isinstance(source, ByHand)
    ]
    with ThreadPoolExecutor(_TOGETHER) as threads:
        return [*threads.map(lambda place: _look_up(*place), files)]


def _look_up(source: Source, file: str, folder: Path, put: Path) -> Lookup:
    if put.exists() or is_fetched(source, folder):
        return Lookup(source, file, put, is_here=True)
    faults = []
    for address in source.addresses(file):
        place = without_secrets(address)
        answer = ask(address, file)
        fault = answer.fault or _wrong_size(source, file, answer.size)
        moved = f", which moved to {answer.moved_to}" if answer.moved_to else ""
        if not fault:
            size = "of unknown size" if answer.size is None else f"{answer.size:,} bytes"
            return Lookup(source, file, put, False, f"{place}{moved}: {size}", tuple(faults))
        faults.append(f"{place}{moved}: {fault}")
    return Lookup(source, file, put, is_here=False, faults=tuple(faults))


def _wrong_size(source: Source, file: str, size: int | None) -> str:
    """Return why a size cannot be that of a file; empty if it can."""
    checks = source.contents[file]
    if size is None:
        return ""
    if checks:
        wrong = f"{size:,} bytes, not the published {checks.bytes:,}"
        return "" if size == checks.bytes else wrong
    about = source.about_bytes
    if about and not about / _ESTIMATE <= size <= about * _ESTIMATE:
        return f"{size:,} bytes, not about {about:,}"
    return ""


def counts(found: Collection[Lookup]) -> str:
    """Return how many files are here, found at sites, and missing, in words."""
    here = sum(item.is_here for item in found)
    missing = sum(item.is_missing for item in found)
    hosts = {urlsplit(item.found).hostname for item in found if item.found}
    at_sites = f"found at {len(hosts)} hosts: {len(found) - here - missing}"
    return f"files here: {here}, {at_sites}, missing: {missing}"
