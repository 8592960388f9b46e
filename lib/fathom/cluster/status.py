"""What became of each job: running, success or failed, for Snakemake's many questions.

One refresh decides about all jobs and writes `words`, which the profile's `status` reads. Nothing
is concluded from silence. Where the scheduler has forgotten a job, its end marker decides.
"""

import fcntl
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fathom.cluster.jobs import Folder, alone, folders, top
from fathom.cluster.scheduler import FAILED, RUNNING, SUCCESS, Scheduler, State
from fathom.cluster.schedulers import scheduler_of
from fathom.cluster.submit import submit_again
from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_lines
from fathom.io.screen import say

WORDS = "words"
# A job is lost when the scheduler did not list it so often, and for so long (seconds).
MISSES, LOST_AFTER = 5, 120.0
LOST = "it is no longer known, and has left no end marker"
AGAIN = "again"


@dataclass(frozen=True)
class Seen:
    """What is known of a job.

    Attributes:
        number: the job's number.
        word: running, success or failed.
        name: the scheduler's own word, empty where it was silent.
        reason: why it waits or has failed.
        cure: the command that frees it, where it will not start by itself.
        misses: how often in a row the scheduler did not list it.
        since: when the first of these was, in seconds since 1970.
    """

    number: str
    word: str = RUNNING
    name: str = ""
    reason: str = ""
    cure: str | None = None
    misses: int = 0
    since: float = 0.0


@dataclass(frozen=True)
class Marker:
    """How a job has ended by itself, as its runner records it.

    Attributes:
        code: the exit code.
        why: what ended it, empty for by itself; `again` for a limit after which it is continued.
    """

    code: int
    why: str = ""


def decide(
    states: dict[str, State] | None, marker: Marker | None, before: Seen, now: float
) -> Seen:
    """Return what is known of a job now.

    Args:
        states: of all jobs; None where the scheduler is silent.
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


def refresh(scheduler: Scheduler, above: Path, asked: str = "") -> None:
    """Decide about all jobs, and report what a user must know, each thing once.

    Args:
        scheduler: of the cluster.
        above: the folder with a folder for each job.
        asked: the number of a job that may have no folder: another start has replaced it.
    """
    with _turn(above) as mine:
        if not mine:
            return
        states = scheduler.states()
        words = {}
        for folder in folders(above):
            record = folder.record()
            if record:
                words[record["id"]] = _word(scheduler, folder, record, states)
        if asked and asked not in words and states is not None:
            words[asked] = states[asked].word if asked in states else FAILED
        lines = [f"{number} {word}" for number, word in words.items()]
        write_lines(above / WORDS, [str(int(time.time())), *lines])


def _word(
    scheduler: Scheduler,
    folder: Folder,
    record: dict[str, Any],
    states: dict[str, State] | None,
) -> str:
    """Return the word of one job, and keep what is known of it."""
    number = record["now"]
    before = seen_of(folder, number)
    if before.word != RUNNING:
        return before.word
    marker = marker_of(folder, number)
    if marker and marker.why == AGAIN:
        _continue(scheduler, folder, number)
        return RUNNING
    seen = decide(states, marker, before, time.time())
    if seen.reason == LOST and scheduler.is_live(number) is not False:
        seen = replace(before, misses=0)
    if states and number in states and seen.word == RUNNING:
        seen = replace(seen, cure=scheduler.cure(number, states[number]))
    if seen != before:
        _report(folder, record, before, seen)
        folder.note(asdict(seen))
    return seen.word


def _continue(scheduler: Scheduler, folder: Folder, number: str) -> None:
    """Submit the successor of a job, once for all starts."""
    with alone(folder.path):
        record = folder.record()
        if record["now"] == number and (successor := submit_again(scheduler, folder)):
            say(f"fathom: {record['rule']} {record['label']}: continues as job {successor}")


def _report(folder: Folder, record: dict[str, Any], before: Seen, seen: Seen) -> None:
    """Print why a job failed, or why it will not start by itself."""
    job = f"fathom: {record['rule']} {record['label']}: job {seen.number}"
    if seen.word == FAILED:
        why = " ".join(filter(None, (seen.name, f"({seen.reason})" if seen.reason else "")))
        lines = folder.lines(seen.number)
        say(f"{job} failed: {why}{last_line(lines)}; its lines: {lines}")
    elif seen.cure and seen.cure != before.cure:
        say(f"{job} will not start by itself ({seen.reason}): {seen.cure}")


def last_line(path: Path) -> str:
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
            # No locks here: both write the same.
            pass
        yield True


def main() -> None:
    """Refresh the words, for `<profile>/status`."""
    profile, *asked = sys.argv[1:]
    refresh(scheduler_of(profile), top(), *asked)


if __name__ == "__main__":
    main()
