"""How a start goes: `snakemake --logger fathom` prints this in place of Snakemake's events.

A line for each training that ends; of a job that fails, its log and the log's last lines. On a
terminal the trainings that run are below, and rewrite themselves. All that Snakemake says is in its
file, .snakemake/log, and all that a job prints is in the job's log.
"""

import os
import shlex
import shutil
import sys
import threading
import time
from collections import Counter
from logging import WARNING, LogRecord
from pathlib import Path
from statistics import fmean
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fathom.io.errors import FathomError
from fathom.io.screen import duration

# While this is set, workflow/bin/fathom-logged writes what a job prints into its log alone. Jobs on
# a cluster do not get it.
LOG_ALONE = "JOBS_PRINT_INTO_LOGS"
TRAIN = "train_run"
# The folder in which starts record their trainings.
JOBS = "SLURM_ATTACH_FOLDER"
PERIOD = 2.0  # seconds between two looks at the trainings that run
FIRST_UPDATES = 20  # before these the speed says little
LONGEST = 3  # rules that are named at the end
# Of the log of a job that failed: lines, characters that are read, and of a line.
LAST_LINES, READ, WIDEST = 8, 20_000, 1000
# The beginnings of messages without a warning that are shown: the last are the executor's.
STOPPING = "Terminating processes on user request"
WAITING = "Will exit after finishing currently running jobs"
SHOWN = ("Nothing to be done", STOPPING, WAITING, "slurm-attach: ")
# And of warnings about what the profile for clusters asks for.
HIDDEN = "--keep-incomplete mode is set"
_UP, _ERASE = "\x1b[A", "\x1b[J"


class LogHandler(LogHandlerBase):
    """Prints progress and failures, and what Snakemake warns of."""

    def __post_init__(self) -> None:
        self.screen = sys.stdout if self.common_settings.stdout else sys.stderr
        self.trainings = self.ended = self.at_a_time = self.failed = 0
        self.stopped = ""  # how it began to stop: by Ctrl-C or TERM
        # JOB_ERROR has said that a command failed.
        self.hidden = ("CalledProcessError", "RuleException")
        self.steps = self.bar = ""
        self.began = time.monotonic()
        self.running: dict[int, Path] = {}  # the folders of trainings, by Snakemake's number
        # Seconds per update, and updates, of trainings that run or ran.
        self.speeds: dict[Path, tuple[float, int]] = {}
        self.done: set[Path] = set()
        self.titles: dict[int, str] = {}  # of all jobs that were started
        self.begins: dict[int, tuple[str, float]] = {}  # their rules, and when
        self.took: dict[str, float] = {}  # seconds of the jobs of a rule, waits included
        self._painted = 0  # lines below the text
        self._over = threading.Event()
        if not self.common_settings.dryrun:
            os.environ[LOG_ALONE] = "1"
            if self.screen.isatty():
                threading.Thread(target=self._watch, daemon=True).start()

    # What Snakemake's class has as properties.
    writes_to_stream = has_filter = True  # pyright: ignore[reportAssignmentType]
    writes_to_file = has_formatter = needs_rulegraph = False  # pyright: ignore[reportAssignmentType]

    def emit(self, record: LogRecord) -> None:
        """Print what a record says, if it is for the user."""
        try:
            self._take(record, getattr(record, "event", None))
        except Exception:  # noqa: BLE001
            self.handleError(record)

    def close(self) -> None:
        """Print how to go on where a job failed, or the user has stopped the start."""
        if not self._over.is_set():
            self._over.set()
            again = shlex.join(["snakemake", *sys.argv[1:]])
            if self.stopped:
                self._print(f"{self._saved()}, and what is done stays. Again: {again}")
            elif self.failed:
                self._print(f"{self.failed} jobs failed; what is done stays. Again: {again}")
            self._paint([])
        super().close()

    def _take(self, record: LogRecord, event: Any) -> None:
        said: Any = record
        if event == LogEvent.RUN_INFO:
            # Of a dry run, which prints its table twice.
            self._print(str(record.msg) if self.common_settings.dryrun and not self.steps else "")
            self.trainings, self.steps = said.stats.get(TRAIN, 0), f"{said.stats['total']} steps"
        elif event == LogEvent.JOB_INFO:
            self._begin(said)
        elif event == LogEvent.JOB_FINISHED:
            self._finish(said.job_id)
        elif event == LogEvent.PROGRESS:
            self.steps = f"{said.done} of {said.total} steps"
            self.bar = _bar(said.done, said.total)
            if said.done == said.total:
                self._print(self._all_done(said.total))
        elif event == LogEvent.JOB_ERROR:
            self._print(self._failure(said))
        elif getattr(record, "exception", "") in self.hidden or str(record.msg).startswith(HIDDEN):
            pass
        elif record.levelno >= WARNING or str(record.msg).startswith(SHOWN):
            text = self._said(record)
            if is_stop := text.startswith((STOPPING, WAITING)):
                self.hidden = (*self.hidden, "WorkflowError")
            # The second is said again at the end of each job.
            self._print("" if text == self.stopped else text)
            self.stopped = text if is_stop else self.stopped

    def _said(self, record: LogRecord) -> str:
        """Return a message of Snakemake's, but for its advice to unlock a folder in use."""
        if getattr(record, "exception", "") != "LockException":
            return self.format(record)
        from fathom.workflow.starts import whose_lock

        return f"the folder is locked: {whose_lock(_known())}"

    def _begin(self, said: Any) -> None:
        """Keep what a job is, and the folder of a training.

        A dry run lists its jobs where a user has replaced the profile's `quiet`.
        """
        if self.common_settings.dryrun:
            quiet = {each.name for each in self.common_settings.quiet or ()}
            self._print("" if quiet & {"RULES", "ALL"} else self.format(said).strip("\n"))
            return
        self.titles[said.jobid] = f"{said.rule_name} {', '.join(said.wildcards.values())}".strip()
        self.begins[said.jobid] = said.rule_name, time.monotonic()
        if said.rule_name == TRAIN:
            self.running[said.jobid] = Path(said.output[0]).absolute().parent
            self.at_a_time = max(self.at_a_time, len(self.running))

    def _all_done(self, steps: int) -> str:
        """Return how long all took, and of which rules the jobs took longest."""
        rules = sorted(self.took, key=self.took.__getitem__, reverse=True)
        parts = [f"{rule} {duration(self.took[rule])}" for rule in rules[:LONGEST]]
        if len(rules) > LONGEST:
            parts.append(f"others {duration(sum(map(self.took.__getitem__, rules[LONGEST:])))}")
        done = f"all {steps} steps done in {duration(time.monotonic() - self.began)}"
        return "; jobs: ".join(filter(None, (done, ", ".join(parts))))

    def _finish(self, job: int) -> None:
        """Count the time of a job, and print how a training ended."""
        if begun := self.begins.pop(job, None):
            rule, began = begun
            self.took[rule] = self.took.get(rule, 0) + time.monotonic() - began
        if job in self.running:
            self.ended += 1
            self._print(self._ended(self.running.pop(job)))

    def _failure(self, said: Any) -> str:
        """Return what failed, why, and the end of its log; nothing after Ctrl-C."""
        if self.stopped.startswith(STOPPING):
            return ""
        self.running.pop(said.jobid, None)
        self.failed += 1
        title = self.titles.get(said.jobid, str(said.rule_name))
        lines = [f"FAILED {title}: {said.rule_msg or 'its command ended with an error'}"]
        for log in filter(Path.is_file, map(Path, said.log)):
            text = log.read_bytes()[-READ:].decode("utf-8", "replace")
            lines.append(f"  the last lines of {log}:")
            lines += [f"    {line[:WIDEST]}" for line in text.strip().split("\n")[-LAST_LINES:]]
        return "\n".join(lines)

    def _saved(self) -> str:
        """Return what became of the trainings that ran; jobs on a cluster may still save."""
        from fathom.results.run_state import RUNNING, STOPPED, run_state

        if not self.running:
            return "stopped"
        kinds = Counter(run_state(folder).kind for folder in self.running.values())
        saving = f", still saving: {kinds[RUNNING]}" if kinds[RUNNING] else ""
        return f"stopped; trainings saved: {kinds[STOPPED]}{saving}"

    def _ended(self, folder: Path) -> str:
        """Return how a training ended, and how long the others will take."""
        from fathom.results import training_record

        head = f"[{self.ended:3} of {self.trainings}] {_name(folder)}"
        try:
            record = training_record.read(folder / "training.json")
        except FathomError:
            return f"{head}: ended"
        self.done.add(folder)
        totals = record.totals
        self.speeds[folder] = totals.seconds / max(totals.updates, 1), totals.updates
        words = record.outcome.kind.replace("_", " ")
        if record.validation:
            below = record.unigram_nll - record.validation.nll
            words += f", NLL {record.validation.nll:.2f} ({below:.2f} below the unigram baseline)"
        left = self._left(self._progresses())
        return ", ".join(filter(None, (f"{head}: {words}", duration(totals.seconds), left)))

    def _progresses(self) -> dict[int, Any]:
        """Return how the trainings go that run, each a `Progress`."""
        # Snakemake imports this module at each start, also where another logger is chosen.
        from fathom.results.run_state import RUNNING, pace, run_state
        from fathom.workflow.progress import Progress

        progresses = {}
        for job, folder in self.running.items():
            state = run_state(folder)
            if state.kind == RUNNING:
                progresses[job] = Progress(RUNNING, state, state.updates, pace(folder))
        return progresses

    def _left(self, progresses: dict[int, Any]) -> str:
        """Return the time of all trainings that are left, by the speed of their kind of network."""
        from fathom.workflow import starts

        added = starts.trainings_of_this(_known())
        kinds = {Path(name).parent: what for name, what in added.items()}
        to_come, lefts = {folder: kinds[folder] for folder in kinds.keys() - self.done}, []
        for job, each in progresses.items():
            folder, pace, updates = self.running[job], each.pace, each.updates
            if pace and pace.update >= FIRST_UPDATES and pace.seconds_per_update and updates:
                self.speeds[folder] = pace.seconds_per_update, updates
                lefts.append(pace.seconds_per_update * (updates - pace.update))
                to_come.pop(folder, None)
        if not self.speeds or not (lefts or to_come):
            return ""
        # Of each kind of network; at "" of all.
        speeds: dict[str, list[tuple[float, int]]] = {"": [*self.speeds.values()]}
        for folder, speed in self.speeds.items():
            speeds.setdefault(kinds.get(folder, ("",))[0], []).append(speed)
        for kind, updates in to_come.values():
            seconds, known = map(fmean, zip(*speeds.get(kind, speeds[""]), strict=True))
            lefts.append(seconds * (updates or known))
        together = sum(lefts) / max(self.at_a_time, 1)
        return f"trainings: about {duration(max(together, *lefts))} left"

    def _watch(self) -> None:
        """Show what runs until Snakemake ends."""
        while not self._over.wait(PERIOD):
            self.acquire()
            try:
                self._paint(self._page())
            finally:
                self.release()

    def _page(self) -> list[str]:
        """Return the lines below the text: each training that runs, and a line on all."""
        progresses = self._progresses()
        # The paper's name would leave no room for how it goes.
        names = {job: _name(self.running[job]).partition("/")[2] for job in progresses}
        lines = [f"{names[job]} {_goes(each)}" for job, each in progresses.items()]
        of_trainings = f"{self.ended} of {self.trainings} trainings" if self.trainings else ""
        parts = filter(None, (of_trainings, self.steps, self._left(progresses)))
        return [*lines, f"{self.bar} {', '.join(parts)}".strip()]

    def _print(self, text: str) -> None:
        """Print text above the lines that rewrite themselves."""
        if text:
            self._paint([])
            self.screen.write(f"{text}\n")
            self.screen.flush()

    def _paint(self, lines: list[str]) -> None:
        """Replace the last lines of a terminal."""
        width = shutil.get_terminal_size().columns - 1
        text = _UP * self._painted + (_ERASE if self._painted else "")
        self.screen.write(text + "".join(f"{line[:width]}\n" for line in lines if line))
        self.screen.flush()
        self._painted = sum(map(bool, lines))


def _known() -> Path:
    """Return the folder of what is known of jobs and starts."""
    return Path(os.environ.get(JOBS, ""))


def _goes(progress: Any) -> str:
    """Return how a training goes, beginning with a bar; a narrow terminal cuts off the end."""
    done = progress.pace.update if progress.pace else 0
    return f"{_bar(done, progress.updates)} {progress.words.removeprefix('running at ')}".strip()


def _bar(done: int, of: int | None) -> str:
    """Return a bar of ten characters."""
    return f"{'#' * int(10 * done / of):.<10}" if of else ""


def _name(folder: Path) -> str:
    """Return `<paper>/<run>` of a training's folder, with the seed where it is not 1."""
    run = f"{folder.parents[1].name}/{folder.parent.name.rpartition('-')[0]}"
    return run if folder.name == "1" else f"{run} seed {folder.name}"
