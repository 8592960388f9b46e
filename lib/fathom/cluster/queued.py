"""The jobs that wait on a cluster or have failed there, from the files that a start writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fathom.cluster.jobs import OUTPUTS, Folder, folders, read_or_empty
from fathom.cluster.scheduler import FAILED, SUCCESS
from fathom.cluster.status import seen_of

# What schedulers call a job that waits; one that was submitted just now has no word yet.
_WAITING = ("", "PENDING", "Q", "H", "W")


@dataclass(frozen=True)
class Queued:
    """A job that has not ended well, as the start that waits for it has seen it last.

    Attributes:
        name: its rule, and the run with the seed, or the data.
        number: the scheduler's.
        outputs: what it makes.
        waits: whether it has not started.
        failed: whether it has failed.
        reason: why it waits or has failed, in the scheduler's words; may be empty.
        cure: the command that frees it, where it will not start by itself.
        lines: the file of what it printed.
    """

    name: str
    number: str
    outputs: tuple[Path, ...]
    waits: bool
    failed: bool
    reason: str
    cure: str | None
    lines: Path

    def __str__(self) -> str:
        """Return what a user must know."""
        if self.cure:
            return f"job {self.number} will not start by itself ({self.reason}): {self.cure}"
        reason = f" ({self.reason})" if self.reason else ""
        word = "has failed" if self.failed else "waits" if self.waits else "runs"
        return f"job {self.number} {word}{reason}"


def queued(above: Path) -> Iterator[Queued]:
    """Yield the jobs that have not ended well.

    Args:
        above: the folder with a folder for each job.
    """
    for folder in folders(above):
        job = _queued(folder)
        if job:
            yield job


def _queued(folder: Folder) -> Queued | None:
    """Return what is known of a job; None where nothing is, or it has ended well."""
    record = folder.record()
    number = record.get("now")
    if not number:
        return None
    seen = seen_of(folder, number)
    ended = folder.end(number).exists()
    failed = seen.word == FAILED
    if seen.word == SUCCESS or (ended and not failed):
        return None
    return Queued(
        name=f"{record.get('rule')} {record.get('label')}",
        number=number,
        outputs=tuple(map(Path, read_or_empty(folder.path / OUTPUTS).get("outputs", ()))),
        waits=not failed and seen.name in _WAITING,
        failed=failed,
        reason=seen.reason,
        cure=None if failed else seen.cure,
        lines=folder.lines(number),
    )
