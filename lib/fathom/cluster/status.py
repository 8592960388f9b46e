"""What became of each job: running, success or failed, for Snakemake's many questions.

A refresh decides about all jobs and writes `words`, which the profile's `status` reads. Nothing is
concluded from silence. Where Slurm has forgotten a job, its end marker decides.
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fathom.cluster.jobs import OUTPUTS, Folder, alone, folders, read_or_empty
from fathom.cluster.slurm import FAILED, RUNNING, SUCCESS, JobState, Slurm
from fathom.cluster.submit import submit_again
from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_lines
from fathom.io.screen import say

WORDS = "words"
# A job is lost when Slurm did not list it so often, and for so long (seconds).
MISSES, LOST_AFTER = 5, 120.0
LOST = "it is no longer known, and has left no end marker"
AGAIN = "again"
# A job that waits; one that was submitted just now has no word yet.
_WAITING = ("", "PENDING")


@dataclass(frozen=True)
class Seen:
    """What is known of a job."""

    number: str
    word: str = RUNNING  # running, success or failed
    name: str = ""  # Slurm's own word, empty where it was silent
    reason: str = ""  # why it waits or has failed
    cure: str | None = None  # the command that frees it, where it will not start by itself
    misses: int = 0  # how often in a row Slurm did not list it
    since: float = 0.0  # when the first of these was, in seconds since 1970


@dataclass(frozen=True)
class Marker:
    """How a job has ended by itself, as its runner records it."""

    code: int
    why: str = ""  # empty: by itself; `again`: at a limit, after which it is continued


def decide(
    states: dict[str, JobState] | None, marker: Marker | None, before: Seen, now: float
) -> Seen:
    """Return what is known of a job now.

    Args:
        states: of all jobs; None where Slurm is silent.
        marker: the job's end marker, if it left one.
        before: what was known.
        now: in seconds since 1970.
    """
    number = before.number
    if marker and marker.code == 0:
        return Seen(number, SUCCESS)
    if states is None or (marker and marker.why == AGAIN):
        return replace(before, word=RUNNING)
    state = states.get(number)
    if state:
        reason = (marker.why if marker else "") or state.reason
        return Seen(number, state.word, state.name, reason)
    if marker:
        return Seen(number, FAILED, reason=f"{marker.why or 'ended'} (exit code {marker.code})")
    since = before.since if before.misses else now
    missed = replace(before, word=RUNNING, misses=before.misses + 1, since=since)
    if missed.misses >= MISSES and now - since >= LOST_AFTER:
        return replace(missed, word=FAILED, reason=LOST)
    return missed


def refresh(slurm: Slurm, above: Path, number: str = "") -> None:
    """Decide about all jobs, and report what a user must know, each thing once.

    Args:
        above: the folder with a folder for each job.
        number: of a job that may have no folder: another start has replaced it.
    """
    with _turn(above) as mine:
        if not mine:
            return
        states = slurm.states()
        words = {}
        for folder in folders(above):
            record = folder.record()
            if record:
                words[record["id"]] = _word(slurm, folder, record, states)
        if number and number not in words and states is not None:
            words[number] = states[number].word if number in states else FAILED
        lines = [f"{number} {word}" for number, word in words.items()]
        write_lines(above / WORDS, [str(int(time.time())), *lines])


def _word(
    slurm: Slurm, folder: Folder, record: dict[str, Any], states: dict[str, JobState] | None
) -> str:
    """Return the word of a job, and keep what is known of it."""
    number = record["now"]
    before = seen_of(folder, number)
    if before.word != RUNNING:
        return before.word
    marker = marker_of(folder, number)
    if marker and marker.why == AGAIN:
        _continue(slurm, folder, number)
        return RUNNING
    seen = decide(states, marker, before, time.time())
    if seen.reason == LOST and slurm.is_live(number) is not False:
        seen = replace(before, misses=0)
    if states and number in states and seen.word == RUNNING:
        seen = replace(seen, cure=slurm.cure(number, states[number]))
    if seen != before:
        _report(folder, record, before, seen)
        folder.note(asdict(seen))
    return seen.word


def _continue(slurm: Slurm, folder: Folder, number: str) -> None:
    """Submit the successor of a job, once for all starts."""
    with alone(folder.path):
        record = folder.record()
        if record["now"] == number and (successor := submit_again(slurm, folder)):
            say(f"fathom: {record['rule']} {record['label']}: continues as job {successor}")


def _report(folder: Folder, record: dict[str, Any], before: Seen, seen: Seen) -> None:
    """Print why a job failed, or why it will not start by itself."""
    job = f"fathom: {record['rule']} {record['label']}: job {seen.number}"
    if seen.word == FAILED:
        why = " ".join(filter(None, (seen.name, f"({seen.reason})" if seen.reason else "")))
        lines = folder.lines(seen.number)
        say(f"{job} failed: {why}{_last_message(lines)}; its lines: {lines}")
    elif seen.cure and seen.cure != before.cure:
        say(f"{job} will not start by itself ({seen.reason}): {seen.cure}")


def _last_message(path: Path) -> str:
    """Return the last message of fathom among a job's lines, as the end of a sentence."""
    try:
        text = path.read_bytes()[-20_000:].decode("utf-8", "replace")
    except OSError:
        return ""
    messages = [line for line in text.split("\n") if line.startswith("fathom: ")]
    return f", {messages[-1].removeprefix('fathom: ')}" if messages else ""


def seen_of(folder: Folder, number: str) -> Seen:
    """Return what was known of a job when it was asked for last."""
    record = folder.seen()
    return Seen(**record) if record.get("number") == number else Seen(number)


def marker_of(folder: Folder, number: str) -> Marker | None:
    """Return a job's end marker; None where it left none."""
    try:
        record = read_json(folder.end(number))
        return Marker(int(record["code"]), str(record["why"]))
    except (FathomError, KeyError, ValueError):
        return None


@contextmanager
def _turn(above: Path) -> Iterator[bool]:
    """Give one process at a time the turn; the others need not wait for it."""
    above.mkdir(parents=True, exist_ok=True)
    with open(above / "turn", "w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            # A file system without locks: both write the same.
            pass
        yield True


@dataclass(frozen=True)
class Queued:
    """A job that has not ended well, as the start that waits for it has seen it last."""

    name: str  # its rule, and the run with the seed, or the data
    number: str
    outputs: tuple[Path, ...]
    waits: bool  # it has not started
    failed: bool
    reason: str  # why it waits or has failed, in Slurm's words; may be empty
    cure: str | None  # the command that frees it, where it will not start by itself
    lines: Path  # the file of what it printed

    def __str__(self) -> str:
        if self.cure:
            return f"job {self.number} will not start by itself ({self.reason}): {self.cure}"
        reason = f" ({self.reason})" if self.reason else ""
        word = "has failed" if self.failed else "waits" if self.waits else "runs"
        return f"job {self.number} {word}{reason}"


def queued(above: Path) -> list[Queued]:
    """Return the jobs that have not ended well, from files alone.

    Args:
        above: the folder with a folder for each job.
    """
    return [job for job in map(_queued, folders(above)) if job is not None]


def _queued(folder: Folder) -> Queued | None:
    """Return what is known of a job; None where nothing is, or it has ended well."""
    record = folder.record()
    number = record.get("now")
    if not number:
        return None
    seen = seen_of(folder, number)
    failed = seen.word == FAILED
    if seen.word == SUCCESS or (folder.end(number).exists() and not failed):
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
