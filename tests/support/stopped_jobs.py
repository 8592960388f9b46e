"""A command in a pipe, as a rule or a user starts it; a signal to all processes stops it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fathom.io.signals import SIGNALS
from tests.support.specs import ROOT

FATHOM = f"{sys.executable} -c 'from fathom.cli.main import main; main()'"
PIPE = "set -o pipefail; {fathom} {words} 2>&1 | tee {log}"
RULE = "set -euo pipefail; exec {root}/workflow/bin/fathom-logged {log} {fathom} {words}"
LONGEST = 180  # seconds; machines may be busy
# A process in the background ignores Ctrl-C, and so does all that it starts.
HEARD = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


def said_of(number: signal.Signals) -> str:
    """Return a pattern of what a stopped job says, to which `Job.stop` sent a signal and TERM.

    Of two signals that come while compiled code runs Python takes that of the lower number first.
    """
    names = {number.name, min(number, signal.SIGTERM).name}
    return f"stopped by ({'|'.join(sorted(names))})[ ;]"


@dataclass(frozen=True)
class Job:
    """A shell, the first process of its group, and the log that tee writes."""

    shell: subprocess.Popen
    log: Path

    def stop(self, number: signal.Signals, when: Callable[[], bool]) -> int:
        """Send a signal to every process, then TERM as a scheduler does; return the code."""
        end = time.monotonic() + LONGEST
        while not when():
            assert self.shell.poll() is None, self.log.read_text(encoding="utf-8")
            assert time.monotonic() < end, "the condition never came"
            time.sleep(0.002)
        os.killpg(self.shell.pid, number)
        time.sleep(0.01)
        with suppress(ProcessLookupError):
            os.killpg(self.shell.pid, signal.SIGTERM)
        try:
            return self.shell.wait(LONGEST)
        finally:
            self._wait_for_the_others()

    def _wait_for_the_others(self) -> None:
        # Such as a command whose shell the signal killed.
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            try:
                os.killpg(self.shell.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)
        os.killpg(self.shell.pid, signal.SIGKILL)
        raise AssertionError("a process did not end")


def start(folder: Path, words: str, line: str = RULE) -> Job:
    """Start a command of fathom in a group of processes of its own."""
    log = folder / "job.log"
    log.unlink(missing_ok=True)
    shell = line.format(fathom=FATHOM, words=words, log=log, root=ROOT)
    process = subprocess.Popen(
        ["bash", "-c", shell],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "lib")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return Job(process, log)
