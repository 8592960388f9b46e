"""The batch script of every job, in Python alone: `runner.py <folder of the job>`.

It runs Snakemake's script in a process group of its own, warns the work before the time limit,
leaves a marker of how it ended, and has Slurm run a job again that can resume. Of such a job the
outputs are complete or absent: where all are newer than the request the work is done, whatever came
after, or whichever attempt or double did it.
"""

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

# Why the work must stop: the first word of its stop file, and of its marker.
LIMIT, SIGNAL = "limit", "signal"
# Why it has ended where its disk had no room, and its exit code where not even a marker had.
FULL, FULL_CODE = "the disk is full", errno.ENOSPC
# Bytes that a save needs at least, without which a disk that has room for a marker is full.
ROOM = 2**20
# Attempts without a newer save, after which a job is not continued.
STUCK = 2
TOO_SHORT = "the time limit is too short for one save: raise `runtime`"
# What a job ends with that Slurm runs again.
REQUEUED = 85
# Seconds before the next attempt at a requeue: Slurm may be away.
PAUSES = (1, 5, 15, 30, 0)
# Snakemake's words for the end of the work; its exit code is always 1.
_FULL = re.compile("No space left on device|Disk quota exceeded")
_CODE = re.compile(r"' returned non-zero exit status (\d+)|' died with <Signals\.\w+: (\d+)>")


class Runner:
    """One attempt of a job."""

    def __init__(self, home: Path) -> None:
        self.home, self.number = home, os.environ["SLURM_JOB_ID"]
        self.asked = json.loads((home / "request.json").read_text(encoding="utf-8"))
        self.marker = Path(self.asked["ended"], f"{self.number}.json")
        self.stop, self.lines = home / "stop", home / f"{self.number}.out"
        self.group, self.why, self.is_done = 0, "", False
        signal.signal(signal.SIGUSR1, lambda *_: self.warn())
        # Slurm sends TERM to every process of a job: it is not passed on, since a second one would
        # end the work before it has saved.
        signal.signal(signal.SIGTERM, lambda *_: self.note(SIGNAL))
        self.end = self._end()

    def run(self) -> int:
        """Run the work, and return the exit code of the job."""
        for path in (self.marker, self.stop):
            path.unlink(missing_ok=True)
        Path(self.asked["waited_for"]).mkdir(parents=True, exist_ok=True)
        if self._is_done():
            return self._leave(0)
        save = version(self.asked["resumes"])
        begins = self.lines.stat().st_size if self.lines.exists() else 0
        code = self._work()
        if code == 0 or self._is_done():
            return self._leave(0)
        if not self.why and self.stop.exists() and self.stop.read_text().split() == [LIMIT]:
            # It knows the end of its time, and has stopped by itself.
            self.why = LIMIT
        if self.why == LIMIT and self.asked["resumes"]:
            return self._again(code, version(self.asked["resumes"]) not in (None, save))
        return self._leave(code, self.why or self._how(code, begins))

    def note(self, why: str) -> None:
        """Leave why the work must stop, which it reads also where no signal reaches it."""
        self.why = self.why or why
        # Where a disk is full, the next look tries again.
        with contextlib.suppress(OSError):
            if not self.stop.exists():
                self.stop.write_text(f"{self.why}\n")

    def warn(self) -> None:
        """Have the work save and end, if it can resume."""
        if self.why or not self.asked["resumes"]:
            return
        self.note(LIMIT)
        # A launcher that gets TERM kills its processes after 30 s (torchrun) or at once (srun),
        # saved or not: what several processes do, they stop by the file alone.
        if self.group and self.asked["nodes"] == 1 and self.asked["gpus"] < 2:
            with contextlib.suppress(OSError):
                os.killpg(self.group, signal.SIGTERM)

    def _end(self) -> int:
        """Return when the job's time is over, in seconds since 1970; 0 where nobody knows."""
        given = os.environ.get("SLURM_JOB_END_TIME", "")
        if given.isdecimal():
            return int(given)
        words = ("squeue", "--noheader", f"--job={self.number}", "--format=%e")
        with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
            done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
            return int(time.mktime(time.strptime(done.stdout.strip(), "%Y-%m-%dT%H:%M:%S")))
        return 0

    def _work(self) -> int:
        """Run Snakemake's script until its whole group has ended; return its exit code."""
        cores = os.environ.get("SLURM_CPUS_PER_TASK") or os.environ.get("SLURM_CPUS_ON_NODE", "1")
        given = {"STOP_FILE": self.stop, "END_TIME": self.end or None, "GPUS": self.asked["gpus"]}
        given |= {"NODES": self.asked["nodes"], "DEVICES": max(self.asked["gpus"], 1)}
        told = {self.asked["variables"] + key: str(value) for key, value in given.items() if value}
        # srun does not take them over from sbatch.
        environment = os.environ | told | {"SRUN_CPUS_PER_TASK": cores}
        # The Snakemake in the job must not submit it again.
        environment.pop("SNAKEMAKE_PROFILE", None)
        # The trap that does nothing keeps this shell alive until the work has ended.
        words = ("bash", "-c", 'trap : TERM; . "$1"', "job", str(self.home / "script.sh"))
        child = subprocess.Popen(words, env=environment, process_group=0)
        self.group = child.pid
        if self.why == LIMIT:
            # The warning came before there was anybody to warn.
            self.why = ""
            self.warn()
        while child.poll() is None or _lives(self.group):
            if self.end and time.time() > self.end - self.asked["margin"]:
                self.warn()
            if self.why:
                self.note(self.why)
            time.sleep(0.3)
        return child.returncode

    def _is_done(self) -> bool:
        """Return whether all outputs of a job that can resume are newer than its request."""
        asked = version(str(self.home / "request.json")) or (0, 0)
        made = [version(path) or (0, 0) for path in self.asked["outputs"]]
        return bool(self.asked["resumes"] and made) and all(time > asked[1] for _, time in made)

    def _again(self, code: int, progressed: bool) -> int:
        """Have the job continue, as long as each second attempt leaves a newer save."""
        path = self.home / "stuck"
        stuck = 0 if progressed else int(path.read_text() if path.exists() else 0) + 1
        path.write_text(str(stuck))
        if stuck >= STUCK:
            return self._leave(code, TOO_SHORT)
        for pause in PAUSES:
            words = ("scontrol", "requeue", self.number)
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                if subprocess.run(words, timeout=60, check=False).returncode == 0:
                    return REQUEUED
            time.sleep(pause)
        # The start submits it again.
        return self._leave(code, LIMIT)

    def _how(self, code: int, begins: int) -> str:
        """Return how the work ended, by the last code that Snakemake printed in this attempt."""
        with contextlib.suppress(OSError):
            text = self.lines.read_bytes()[begins:][-20_000:].decode("utf-8", "replace")
            for status, number in _CODE.findall(text):
                code = int(status) if status else 128 + int(number)
            if _FULL.search(text):
                return FULL
        killed = code == 128 + signal.SIGKILL
        return f"exit code {code}" + ("; out of memory? raise `mem_mb`" if killed else "")

    def _leave(self, code: int, why: str = "") -> int:
        """Leave the marker, as the last act; the time of its folder is the bell of all starts."""
        self.is_done = code == 0
        part = self.marker.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(bytes(0 if self.is_done else ROOM))
        said = {"name": self.asked["name"], "code": code, "why": why, "time": time.time()}
        part.write_text(json.dumps(said), encoding="utf-8")
        part.replace(self.marker)
        print(f"slurm-attach: job {self.number} ends with {code} {why}", flush=True)  # noqa: T201
        return code


def main(home: Path) -> int:
    """Run an attempt, and return the exit code of the job."""
    runner = Runner(home)
    try:
        return runner.run()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # Not even a marker has room: Slurm knows by the code alone.
        return 0 if runner.is_done else FULL_CODE


def version(path: str | None) -> tuple[int, int] | None:
    """Return what differs between two versions of a file: inode and time; None without a file."""
    try:
        status = os.stat(path or "")
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
