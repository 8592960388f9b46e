"""All jobs of a start, in memory: submitted or found, watched, and known when they end.

No lock is needed. A job's name says which job it is, and with `--dependency=singleton` Slurm never
runs two of a name: of two that two starts submit at once the later waits, and the first start that
sees both cancels it.
"""

import json
import os
import platform
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import slurm
from .request import Request
from .runner import LIMIT, SIGNAL, STUCK, TOO_SHORT, version

# What a start tells others: a file for each.
HEADS = "heads"
# A job is lost when so many lists lacked it, for so long (seconds).
MISSES, LOST_AFTER = 3, 120.0
LOST = "Slurm no longer knows it, and it left no end marker"
# Why a submission is tried again without end, by its answer's kind.
FOR_NOW = {"limit": "the cluster takes no more jobs now", "lost": "Slurm did not answer"}
# Submissions that are refused for a reason that nobody knows; attempts of a job that preemption or
# a node ended before it saved.
REFUSALS, ATTEMPTS = 3, 20
# Seconds of submissions in one look; after which Slurm knows why a job got a signal; the longest
# pause after a limit or a silence; for which end markers are kept.
LOOK, SOON, LONGEST, KEPT = 10.0, 3.0, 600.0, 14 * 86_400.0
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

    def shown(self) -> dict[str, Any]:
        """Return what other programs may know of it."""
        keys = ("number", "state", "reason", "cure")
        outputs, lines = self.request.outputs, str(self.lines)
        said = {key: getattr(self, key) for key in keys} | {"failed": self.verdict or None}
        return said | {"title": str(self.request), "outputs": outputs, "lines": lines}


class Desk:
    """The jobs of one start.

    Args:
        folder: of what is known of jobs.
        poll: seconds between two questions to squeue.
        say: prints a line.
    """

    def __init__(self, folder: Path, poll: float, say: Callable[[str], None]) -> None:
        self.folder, self.poll, self.say = folder, poll, say
        self.ended = folder / "ended"
        self.ended.mkdir(parents=True, exist_ok=True)
        self.jobs: list[Job] = []
        self._failed: dict[str, dict[str, Any]] = {}  # of this start and of those before, by name
        self._lock = threading.Lock()
        self._closed = False
        self._rows: list[slurm.Row] | None = None  # squeue's list, None while Slurm is silent
        self._listed = self._submit_at = 0.0
        self._look, self._pause = float("inf"), poll  # the time of the next list before a poll
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
        is_due = now >= min(self._listed + self.poll, self._look)
        if is_due and any(_is_placed(job) or now >= self._submit_at for job in jobs):
            self.ask(now)
            for job in filter(_is_placed, jobs):
                self._watch(job, now)
        if now >= self._submit_at:
            self._submit(list(filter(_waits, jobs)), now)
        over = [job for job in jobs if job.verdict is not None]
        with self._lock:
            self.jobs = [job for job in self.jobs if job.verdict is None]
        if over:
            # Below a limit of jobs there is room again.
            self._submit_at, self._pause = 0.0, self.poll
        self._failed |= {job.request.name: job.shown() for job in over if job.verdict}
        self.show()

    def ask(self, now: float) -> None:
        """Ask squeue."""
        self._listed, self._look = now, float("inf")
        self._rows = slurm.rows()
        if self._rows is None:
            count = sum(map(_waits, self.jobs))
            what = "Slurm does not answer, and is asked again until it does"
            self.tell("silent", f"{what}; {count} jobs wait here")
        else:
            self._told.discard("silent")

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

    # Submission

    def _submit(self, waiting: list[Job], now: float) -> None:
        """Find or submit the jobs, until Slurm takes no more of them now."""
        # A job that is there already needs no room.
        for at, job in enumerate(sorted(waiting, key=lambda job: not self._rows_of(job)[1])):
            if self._closed or time.time() > now + LOOK:
                return
            if not self._place(job, len(waiting) - at):
                self._submit_at = now + self._pause
                self._pause = min(2 * self._pause, LONGEST)
                return
            self._pause = self.poll
        self._told -= FOR_NOW.keys()

    def _place(self, job: Job, count: int) -> bool:
        """Find a job, or submit it; return whether Slurm may take another one of `count` now."""
        if job.asked > self._listed:
            # Whether it was accepted is not in a list from before.
            self._look = min(self._look, job.asked + SOON)
            return True
        number = self._live(job)
        if number is None:
            return False
        if number:
            self._follow(job, number)
            self.say(f"{job.request}: taken over, still job {number}")
            return True
        if self._is_made(job):
            job.verdict = ""
            return True
        self._prepare(job)
        answer = slurm.submit(*self._words(job))
        if answer.code == 0:
            self._follow(job, number := int(answer.text))
            self.say(f"{job.request}: submitted as job {number}")
            if self._closed:
                slurm.cancel(number)
            return True
        job.reason = answer.reason
        job.asked = 0.0 if answer.kind == "limit" else time.time()
        if what := FOR_NOW.get(answer.kind):
            text = f"{what} ({answer.reason}); {count} jobs wait here, and are tried again"
            self.tell(answer.kind, text)
            return False
        job.refused += 1
        if answer.kind == "final" or job.refused >= REFUSALS:
            job.verdict = f"Slurm refuses the job ({answer.reason})"
        return True

    def _live(self, job: Job) -> int | None:
        """Return the number of the job of this name that lives, 0 for none, None for silence."""
        if self._rows is None:
            return None
        same, live = self._rows_of(job)
        if live:
            return live[0].number
        # A Slurm that has just started lists nothing.
        last = job.last
        if last is None or last in [row.number for row in same]:
            return 0
        lives = slurm.is_live(last, job.request.name)
        return None if lives is None else lives and last

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

    def _words(self, job: Job) -> list[str]:
        """Return sbatch's words for a job."""
        request = job.request
        options = request.options
        if not any(word.startswith(("--dependency", "-d")) for word in options):
            options = ["--dependency=singleton", *options]
        if request.resumes:
            options.append(f"--signal=B:USR1@{request.settings.margin}")
        runner = (sys.executable, "-ISu", str(Path(__file__).with_name("runner.py")), str(job.home))
        return [
            *("--requeue", "--open-mode=append", f"--job-name={request.name}"),
            f"--comment={request.rule} {request.first}",
            f"--output={str(job.home).replace('%', '%%')}/%j.out",
            *options,
            # Signals that come before Python can take them must not end the job.
            f"--wrap=trap '' TERM USR1; exec {shlex.join(runner)}",
        ]

    def _follow(self, job: Job, number: int) -> None:
        """Watch a job under its number."""
        job.number, job.save = number, version(job.request.resumes)
        job.misses = job.refused = 0
        job.state = job.reason = ""
        job.asked, job.cure = 0.0, None
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

    def _rows_of(self, job: Job) -> tuple[list[slurm.Row], list[slurm.Row]]:
        """Return a job's rows, and those of them that have not ended, by state and marker."""
        rows = [row for row in self._rows or () if row.name == job.request.name]
        live = [row for row in rows if row.is_live]
        ends = [self._marker(row.number, job).get("why", SIGNAL) for row in live]
        return rows, [row for row, why in zip(live, ends, strict=True) if why == SIGNAL]

    def _conclude(self, job: Job, row: slurm.Row | None) -> bool:
        """Conclude from a job's end marker, or else from Slurm's final word; return whether so."""
        marker = self._marker(job.number, job)
        why = marker.get("why")
        if marker and marker["code"] == 0:
            job.verdict = ""
        elif why == LIMIT:
            self._again(job, "its time limit")
        elif why and why != SIGNAL:
            self._fail(job, why)
        elif row is None or row.is_live:
            if why == SIGNAL and job.state not in ("PENDING", "COMPLETING"):
                # Cancelled, preempted or requeued: Slurm alone knows, and is asked once.
                job.state, self._look = "COMPLETING", min(self._look, time.time() + SOON)
            return False
        elif row.state == "COMPLETED":
            job.verdict = ""
        elif row.state in slurm.NOT_ITS_FAULT or (row.state == "TIMEOUT" and job.request.resumes):
            self._again(job, row.state)
        else:
            self._fail(job, f"{row.state} ({row.reason})".removesuffix(" (None)"))
        return True

    def _watch(self, job: Job, now: float) -> None:
        """Conclude from squeue's list; from its silence nothing but what end markers say."""
        same, live = self._rows_of(job)
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
            if self._rows is not None:
                self._miss(job, now)
        elif job.verdict and any(row.state == "COMPLETED" for row in same if row.number < number):
            # This was the double of a job that has ended meanwhile.
            job.verdict = ""

    def _miss(self, job: Job, now: float) -> None:
        """Count that a list lacks a job, which is lost after several."""
        job.since = job.since if job.misses else now
        job.misses += 1
        if job.misses >= MISSES and now - job.since >= LOST_AFTER:
            if slurm.is_live(job.number or 0, job.request.name) is not False:
                job.misses = 0
            elif not self._conclude(job, None):
                is_stopped = self._marker(job.number, job).get("why") == SIGNAL
                self._fail(job, "ended by a signal" if is_stopped else LOST)

    def _note(self, job: Job, row: slurm.Row, now: float) -> None:
        """Keep what Slurm says of a job that lives, and say what a person must do."""
        if job.misses or row.reason != job.reason:
            job.since = now
        cure = row.cure(now - job.since)
        if cure and cure != job.cure:
            self.say(f"{job.request}: job {row.number} waits for you ({row.reason}): {cure}")
        job.misses, job.state, job.reason, job.cure = 0, row.state, row.reason, cure

    def _again(self, job: Job, why: str) -> None:
        """Have a job continue as a new one, as long as its attempts leave newer saves."""
        save = version(job.request.resumes)
        job.stuck = 0 if save not in (None, job.save) else job.stuck + 1
        if job.stuck >= (ATTEMPTS if why in slurm.NOT_ITS_FAULT else STUCK):
            self._fail(job, f"{why}, {job.stuck} times without a newer save; {TOO_SHORT}")
            return
        self.say(f"{job.request}: job {job.number} ended by {why}; it is continued")
        job.number, job.state, self._submit_at = None, "", 0.0

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
