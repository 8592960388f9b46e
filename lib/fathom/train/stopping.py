"""What asks a training to stop between two updates: a signal, a file, or the end of its job."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGINT, SIGTERM

from fathom.io.errors import FathomError, brief
from fathom.io.machine import job_id
from fathom.io.signals import Pending, Stopped

# What starts the job names a file here; once the file exists, the training stops. Its first word is
# the reason. A training that stops by itself for the end of its time writes `limit` there.
STOP_FILE = "FATHOM_STOP_FILE"
# The time, in seconds since 1970, at which the job is killed.
END_TIME = "FATHOM_END_TIME"

LIMIT, PREEMPTED, CANCELLED, STOPPED = "limit", "preempted", "cancelled", "stopped"
# Numbers above those of all signals, for processes that agree on the largest one.
_FILE, _END = 1000, 1001
# Seconds that are left when the last state is on disk, as far as one can know.
_SPARE = 10.0
# A signal this near to the job's end is the warning of its limit: schedulers' clocks are coarse.
NEAR = 180.0


class Stopping:
    """Decides after each update whether to stop, and why; `signal` notes a deferred one.

    One process reads the stop file and the clock (seconds since 1970) for all.
    """

    why = ""  # limit, preempted, cancelled or stopped, once the training is stopped

    def __init__(self, signal: Pending, reads: bool = True, clock: Callable[[], float] = time.time):
        self._signal, self._reads, self._clock = signal, reads, clock
        name = os.environ.get(STOP_FILE)
        self._file = Path(name) if name else None
        self._end = end_of_job()
        self._longest_update = 0.0
        self._asked: float | None = None

    def asked(self, save_seconds: float) -> int:
        """Return 0 to train on; called once after each update, and the largest number wins.

        `save_seconds` are those of the longest save so far.
        """
        if not self._reads:
            return self._signal.number
        now = self._clock()
        if self._asked is not None:
            # With what follows an update: validation, save, and waiting for the device.
            self._longest_update = max(self._longest_update, now - self._asked)
        self._asked = now
        if self._file is not None and self._file.exists():
            return _FILE
        needed = self._longest_update + 2 * save_seconds + _SPARE
        if self._end is not None and now + needed >= self._end:
            return _END
        return self._signal.number

    def stopped(self, number: int, update: int) -> Stopped:
        """Return what to raise after an update for the number that all processes agreed on."""
        self.why = self._reason(number)
        when = f" after update {update}"
        by = {_FILE: "its stop file", _END: "the end of its job's time"}.get(number, "")
        return Stopped(SIGTERM if by else number, when, by)

    def _reason(self, number: int) -> str:
        """Return why the training stops.

        Preemption and limit send the same signal, and a user may send it, too. What wrote the stop
        file knows; else the time that is left decides. `stopped` is a signal inside a job for which
        neither does; the next attempt knows more (session.py).
        """
        if number == _END:
            if self._file is not None:
                self._file.write_text(f"{LIMIT}\n", encoding="utf-8")
            return LIMIT
        if word := self._word():
            return word
        if self._end is not None and self._clock() + NEAR >= self._end:
            return LIMIT
        return CANCELLED if number == SIGINT or job_id() is None else STOPPED

    def _word(self) -> str:
        """Return the reason in the stop file; empty without a file or one of the reasons."""
        try:
            words = self._file.read_text(encoding="utf-8").split() if self._file else []
        except (OSError, UnicodeDecodeError):
            words = []
        return words[0] if words and words[0] in (LIMIT, PREEMPTED, CANCELLED) else ""


def end_of_job() -> float | None:
    """Return when the job is killed, in seconds since 1970; None if the environment lacks it."""
    text = os.environ.get(END_TIME)
    try:
        return float(text) if text else None
    except ValueError:
        what = f"'{brief(text)}' is not a time in seconds since 1970"
        raise FathomError(what, END_TIME, "unset the variable, or write $(date +%s)") from None
