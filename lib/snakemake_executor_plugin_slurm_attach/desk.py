"""All jobs of a start, in memory: submitted or found, watched, and known when they end.

No lock is needed. A job's name says which job it is, and with `--dependency=singleton` Slurm never
runs two of a name: of two that two starts submit at once the later waits, and the first start that
sees both cancels it.
"""

import json
import os
import platform
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import slurm
from .request import Request
from .runner import FULL, FULL_CODE, LIMIT, SIGNAL, STUCK, TOO_SHORT, version

# What a start tells others: a file for each.
HEADS = "heads"
# A job is lost when so many lists lacked it, for so long (seconds).
MISSES, LOST_AFTER = 3, 120.0
LOST = "Slurm no longer knows it, and it left no end marker"
# Why a submission is tried again without end, by its answer's kind; "" is of words nobody knows.
FOR_NOW = {
    "later": "the cluster takes no more jobs now",
    "lost": "Slurm did not answer",
    "": "Slurm does not take a job now",
}
# Lists that did not come, after which single jobs are asked for; attempts of a job that preemption,
# a node or a disk ended before it saved.
SILENCES, ATTEMPTS = 3, 20
# Seconds of submissions in one look; after which Slurm knows why a job got a signal; the longest
# pause after a refusal or a silence; the shortest time that squeue has; for which end markers are
# kept.
LOOK, SOON, LONGEST, TIMEOUT, KEPT = 10.0, 3.0, 600.0, 60.0, 14 * 86_400.0
# This module is imported before Snakemake looks for outputs.
BEGAN = time.time()


@dataclass
class Job:
    """A job at the desk."""

    request: Request
    home: Path  # the folder of its files, which all its attempts share
    script: Path  # Snakemake's
    inputs: tuple[str, ...]
    number: int | None = None
    state: str = ""  # Slurm's word, empty before the first
    reason: str = ""  # why it waits
    cure: str | None = None  # what a person must do before it starts
    verdict: str | None = None  # None while it goes on, empty if it ended well, or why it failed
    asked: float = 0.0  # when it was submitted without an answer
    newest: int = 0  # the newest job of its name before that
    heard: float = 0.0  # when it was asked for alone
    refused: int = 0
    misses: int = 0
    since: float = 0.0  # of the first miss, or of the reason
    stuck: int = 0  # attempts in a row without a newer save
    save: Any = None  # the newest save when the attempt was submitted

    @property
    def lines(self) -> Path:
        """The file of what it prints."""
        return self.home / f"{self.number}.out"

    @property
    def last(self) -> int | None:
        """The number that any start gave it last."""
        try:
            return int((self.home / "number").read_text())
        except (OSError, ValueError):
            return None

    def is_newer(self, path: str) -> bool:
        """Return whether a file has changed since its last submission."""
        saved, began = version(path), version(str(self.home / "number"))
        return saved is not None and began is not None and saved[1] >= began[1]

    def shown(self) -> dict[str, Any]:
        """Return what other programs may know of it."""
        keys = ("number", "state", "reason", "cure")
        outputs, lines = self.request.outputs, str(self.lines) if self.number else ""
        said = {key: getattr(self, key) for key in keys} | {"failed": self.verdict or None}
        return said | {"title": str(self.request), "outputs": outputs, "lines": lines}


class Desk:
    """The jobs of one start.

    Args:
        folder: of what is known of jobs.
        poll: seconds between two questions to squeue.
        say: prints a line.
        timeout: seconds that squeue may take; by default a poll, and TIMEOUT at least.
        is_single: whether Slurm takes the dependency that keeps two jobs of a name apart.
    """

    def __init__(
        self,
        folder: Path,
        poll: float,
        say: Callable[[str], None],
        timeout: float | None = None,
        is_single: bool = True,
    ) -> None:
        self.folder, self.poll, self.say, self.is_single = folder, poll, say, is_single
        self.timeout = timeout or max(poll, TIMEOUT)
        self.ended = folder / "ended"
        self.ended.mkdir(parents=True, exist_ok=True)
        self.jobs: list[Job] = []
        self._failed: dict[str, dict[str, Any]] = {}  # of this start and of those before, by name
        self._lock = threading.Lock()
        self._closed = False
        self._rows: list[slurm.Row] | None = None  # squeue's list, None while Slurm is silent
        self._silences = 0  # lists in a row that did not come
        self._listed = 0.0
        self._look = float("inf")  # the time of the next list before a poll
        # Until when no job of a queue is submitted, and the last pause; at None of all queues.
        self._held: dict[tuple[str, ...] | None, tuple[float, float]] = {}
        self._rung: int | None = None
        self._told: set[str] = set()
        self._shown = ""
        self._tidy()

    def add(self, request: Request, script: Path, inputs: Iterable[str] = ()) -> Job:
        """Take a job that is to run."""
        job = Job(request, self.folder / request.name, script, tuple(map(str, inputs)))
        with self._lock:
            self.jobs.append(job)
        self._failed.pop(request.name, None)
        return job

    def tick(self) -> None:
        """Do what is due."""
        with self._lock:
            jobs = list(self.jobs)
        now = time.time()
        if any(job.number for job in jobs) and self._is_rung():
            for job in filter(_is_placed, jobs):
                self._conclude(job, None)
        due = [job for job in jobs if _waits(job) and not self._is_held(job, now)]
        placed = list(filter(_is_placed, jobs))
        if now >= min(self._listed + self.poll, self._look) and (placed or due):
            self.ask(now)
            if self._silences >= SILENCES:
                self._watch_alone(placed, now)
            else:
                for job in placed:
                    self._watch(job, self._rows, now)
        if due:
            self._submit(due, now)
        over = [job for job in jobs if job.verdict is not None]
        with self._lock:
            self.jobs = [job for job in self.jobs if job.verdict is None]
        if over:
            # Below a limit of jobs there is room again.
            self._held.clear()
        self._failed |= {job.request.name: job.shown() for job in over if job.verdict}
        self.show()

    def ask(self, now: float) -> None:
        """Ask squeue."""
        self._listed, self._look = now, float("inf")
        self._rows = slurm.rows(self.timeout)
        if self._rows is not None:
            self._silences = 0
            self._told.discard("silent")
            return
        self._silences += 1
        what = "Slurm does not answer, and is asked again until it does"
        self.tell("silent", f"{what}; {self._waiting} jobs wait here")

    def cancel(self) -> None:
        """Cancel all jobs, and submit no more."""
        self._closed = True
        with self._lock:
            numbers = [job.number for job in self.jobs if job.number]
        if numbers and slurm.cancel(*numbers).kind == "lost":
            typed = " ".join(map(str, numbers))
            self.say(f"Slurm did not answer, and jobs may run on; type: scancel {typed}")
            return
        with self._lock:
            self.jobs = []
        # A disk may be full.
        with suppress(OSError):
            self.show()

    def tell(self, what: str, text: str) -> None:
        """Print a line, once while `what` lasts."""
        if what not in self._told:
            self._told.add(what)
            self.say(text)

    @property
    def _waiting(self) -> int:
        return sum(map(_waits, self.jobs))

    # Submission

    def _hold(self, queue: tuple[str, ...] | None, now: float) -> None:
        """Submit no job of a queue for a while, each time longer."""
        pause = min(2 * self._held.get(queue, (0.0, self.poll / 2))[1], LONGEST)
        self._held[queue] = now + pause, pause

    def _is_held(self, job: Job, now: float) -> bool:
        untils = (self._held.get(queue, (0.0, 0.0))[0] for queue in (None, job.request.queue))
        return now < max(untils)

    def _submit(self, due: list[Job], now: float) -> None:
        """Find or submit jobs, those first that are there, which need no room."""
        # Then those that were refused least often: one for its own sake must not hold the others.
        for job in sorted(
            due, key=lambda job: (not self._rows_of(job, self._rows)[1], job.refused)
        ):
            if self._closed or time.time() > now + LOOK:
                return
            if not self._is_held(job, now):
                self._place(job, now)
        if not self._waiting:
            self._told.clear()

    def _place(self, job: Job, now: float) -> None:
        """Find a job, or submit it, or hold its queue."""
        if job.asked > self._listed:
            # Whether it was accepted is not in a list from before.
            return
        number = self._number_of(job)
        if number is None:
            self._hold(None, now)
        elif number:
            self._follow(job, number)
            self.say(f"{job.request}: taken over, still job {number}")
        elif self._is_made(job):
            job.verdict = ""
        else:
            self._prepare(job)
            self._take(job, slurm.submit(*job.request.words(job.home, self.is_single)), now)

    def _take(self, job: Job, answer: slurm.Answer, now: float) -> None:
        """Follow a job that was accepted; hold the queue of one that was not."""
        if answer.code == 0:
            self._follow(job, number := int(answer.text))
            self.say(f"{job.request}: submitted as job {number}")
            for queue in (None, job.request.queue):
                self._held.pop(queue, None)
            if self._closed:
                slurm.cancel(number)
            return
        job.reason = answer.reason
        job.refused += 1
        if answer.kind == "final":
            job.verdict = f"{job.request}: Slurm refuses the job ({answer.reason})"
            return
        job.asked = 0.0 if answer.kind == "later" else time.time()
        text = f"{FOR_NOW[answer.kind]} ({answer.reason}); {self._waiting} jobs wait here"
        self.tell(answer.reason, f"{text}, and are tried again")
        self._hold(None if answer.kind == "lost" else job.request.queue, now)

    def _number_of(self, job: Job) -> int | None:
        """Return the number of a job's job on Slurm, 0 for none, None for silence."""
        is_silent, is_asked = self._rows is None, job.asked > 0
        if is_silent and (is_asked or self._silences < SILENCES):
            return None
        same, live = self._rows_of(job, self._rows)
        # Of an answer that was lost also a job that has ended since.
        if found := live or [row for row in same if is_asked and row.number > job.newest]:
            return found[0].number
        last = job.last
        if not is_asked:
            job.newest = max([last or 0, *(row.number for row in same)])
        if not is_silent and last in (None, *(row.number for row in same)):
            return 0
        # A Slurm that has just started lists nothing, and squeue may be too slow for this cluster.
        rows = slurm.row_of(last or 1)
        _, live = self._rows_of(job, rows)
        return None if rows is None else live[0].number if live else 0

    def _is_made(self, job: Job) -> bool:
        """Return whether a job of an earlier start has ended well since this start began.

        Snakemake had looked for its outputs before.
        """
        marker = self._marker(job.last, job)
        try:
            is_new = marker.get("code") == 0 and marker["time"] >= BEGAN
            made = min(os.stat(path).st_mtime for path in job.request.outputs)
            return is_new and all(made >= os.stat(path).st_mtime for path in job.inputs)
        except (OSError, ValueError):
            # An output is missing, or there is none.
            return False

    def _prepare(self, job: Job) -> None:
        """Write what the job reads: it may begin before its submission is answered."""
        job.home.mkdir(parents=True, exist_ok=True)
        shutil.copy(job.script, job.home / "script.sh")
        text = job.request.for_runner(self.ended, job.script.absolute().parent)
        (job.home / "request.json").write_text(text, encoding="utf-8")
        (job.home / "stuck").unlink(missing_ok=True)

    def _follow(self, job: Job, number: int) -> None:
        """Watch a job under its number."""
        job.number, job.save = number, version(job.request.resumes)
        job.misses = job.refused = 0
        job.state = job.reason = ""
        job.asked, job.cure = 0.0, None
        # A job that another start submitted from its own folder has no home here yet.
        job.home.mkdir(parents=True, exist_ok=True)
        (job.home / "number").write_text(str(number))

    # The end

    def _is_rung(self) -> bool:
        """Return whether a job has left an end marker since the last look, by one stat."""
        # Opened, since a network's file system answers from memory for a folder that is not.
        folder = os.open(self.ended, os.O_RDONLY)
        before, self._rung = self._rung, os.fstat(folder).st_mtime_ns
        os.close(folder)
        return self._rung != before

    def _marker(self, number: int | None, job: Job) -> Mapping[str, Any]:
        """Return how an attempt has ended, empty where it has left no marker."""
        marker = _read(self.ended / f"{number}.json")
        # Numbers come again on a new cluster.
        return marker if marker.get("name") == job.request.name else {}

    def _rows_of(
        self, job: Job, rows: list[slurm.Row] | None
    ) -> tuple[list[slurm.Row], list[slurm.Row]]:
        """Return a job's rows, and those of them that have not ended, by state and marker."""
        name = job.request.name
        same = [row for row in rows or () if row.number == job.number or name in row.names]
        live = [row for row in same if row.is_live]
        ends = [self._marker(row.number, job).get("why", SIGNAL) for row in live]
        return same, [row for row, why in zip(live, ends, strict=True) if why == SIGNAL]

    def _conclude(self, job: Job, row: slurm.Row | None) -> bool:
        """Conclude from a job's end marker, or else from Slurm's final word; return whether so."""
        marker = self._marker(job.number, job)
        why = marker.get("why")
        if marker and marker["code"] == 0:
            job.verdict = ""
        elif why == LIMIT:
            self._again(job, "its time limit", STUCK)
        elif why == FULL:
            self._again(job, FULL)
        elif why and why != SIGNAL:
            self._fail(job, why)
        elif row is None or row.is_live:
            if why == SIGNAL and job.state not in ("PENDING", "COMPLETING"):
                # Cancelled, preempted or requeued: Slurm alone knows, and is asked once.
                job.state, self._look = "COMPLETING", min(self._look, time.time() + SOON)
            return False
        elif row.state == "COMPLETED":
            job.verdict = ""
        elif row.state in slurm.NOT_ITS_FAULT:
            self._again(job, row.state)
        elif row.state == "TIMEOUT" and job.request.resumes:
            self._again(job, row.state, STUCK)
        else:
            self._blame(job, row)
        return True

    def _blame(self, job: Job, row: slurm.Row) -> None:
        """Conclude why a job has failed that could leave no marker."""
        said = "".join(each.comment for each in slurm.row_of(row.number) or ())
        if f"ExitCode={FULL_CODE}:" in said:
            self._again(job, FULL)
            return
        why = f"{row.state} ({row.reason})".removesuffix(" (None)")
        if row.state == "FAILED" and not job.lines.exists():
            why += f"; it has printed nothing: nodes must see {job.home}, under this name"
        self._fail(job, why)

    def _watch_alone(self, jobs: list[Job], now: float) -> None:
        """Ask for single jobs, in turn, where squeue is too slow for the whole list."""
        for job in sorted(jobs, key=lambda job: job.heard):
            rows = slurm.row_of(job.number or 0)
            if rows is None or time.time() > now + LOOK:
                return
            job.heard = now
            self._watch(job, rows, now)

    def _watch(self, job: Job, rows: list[slurm.Row] | None, now: float) -> None:
        """Conclude from Slurm's list; from its silence nothing but what end markers say."""
        same, live = self._rows_of(job, rows)
        number = job.number or 0
        if live:
            # By its name first: of two jobs another start may have cancelled this one.
            if live[0].number != number:
                self._follow(job, live[0].number)
            if doubles := [row.number for row in live[1:] if row.state == "PENDING"]:
                slurm.cancel(*doubles)
                self.say(f"{job.request}: job {job.number} stays, its double is cancelled")
            self._note(job, live[0], now)
        elif not self._conclude(job, next((row for row in same if row.number == number), None)):
            if rows is not None:
                self._miss(job, now)
        elif job.verdict and any(row.state == "COMPLETED" for row in same if row.number < number):
            # This was the double of a job that has ended meanwhile.
            job.verdict = ""

    def _miss(self, job: Job, now: float) -> None:
        """Count that a list lacks a job, which is lost after several."""
        job.since = job.since if job.misses else now
        job.misses += 1
        if job.misses >= MISSES and now - job.since >= LOST_AFTER:
            rows = slurm.row_of(job.number or 0)
            if rows is None or any(row.is_live and job.request.name in row.names for row in rows):
                job.misses = 0
            elif not self._conclude(job, None):
                if self._marker(job.number, job).get("why") == SIGNAL:
                    self._fail(job, "ended by a signal")
                else:
                    self._again(job, LOST)

    def _note(self, job: Job, row: slurm.Row, now: float) -> None:
        """Keep what Slurm says of a job that lives, and say what a person must do."""
        if job.misses or row.reason != job.reason:
            job.since = now
        cure = row.cure(now - job.since)
        if cure and cure != job.cure:
            self.say(f"{job.request}: job {row.number} waits for you ({row.reason}): {cure}")
        job.misses, job.state, job.reason, job.cure = 0, row.state, row.reason, cure

    def _again(self, job: Job, why: str, most: int = ATTEMPTS) -> None:
        """Have a job continue as a new one, but for so many attempts without a newer save."""
        save = version(job.request.resumes)
        job.stuck = 0 if save not in (None, job.save) else job.stuck + 1
        if job.stuck >= most or (why in (LOST, FULL) and not job.request.resumes):
            remedy = f"; {TOO_SHORT}" if most == STUCK else ""
            times = f", {job.stuck} times without a newer save" if job.request.resumes else ""
            self._fail(job, f"{why}{times}{remedy}")
            return
        self.say(f"{job.request}: job {job.number} ended by {why}; it is continued")
        job.number, job.state = None, ""
        self._held.clear()
        if why == FULL:
            self._hold(job.request.queue, time.time())

    def _fail(self, job: Job, why: str) -> None:
        job.verdict = f"{job.request}: job {job.number} failed: {why}"

    # What others read

    def show(self) -> None:
        """Write what other programs may know of the jobs, when it has changed."""
        with self._lock:
            live = {job.request.name: job.shown() for job in self.jobs}
            text = json.dumps(self._failed | live)
            if text != self._shown:
                self._shown = text
                path = self.folder / HEADS / f"{platform.node()}.{os.getpid()}.json"
                path.parent.mkdir(exist_ok=True)
                part = path.with_suffix(".part")
                part.write_text(text, encoding="utf-8")
                part.replace(path)

    def _tidy(self) -> None:
        """Delete old end markers, and what starts left that are gone; keep what failed in them."""
        for path in self.ended.iterdir():
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink(missing_ok=True)
        for path in sorted((self.folder / HEADS).glob(f"{platform.node()}.*.json")):
            if not Path("/proc", path.name.split(".")[-2]).exists():
                said = _read(path).items()
                self._failed |= {name: job for name, job in said if job["failed"]}
                path.unlink(missing_ok=True)


def _is_placed(job: Job) -> bool:
    return job.verdict is None and job.number is not None


def _waits(job: Job) -> bool:
    return job.verdict is None and job.number is None


def _read(path: Path) -> Mapping[str, Any]:
    """Return a record; empty where it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
