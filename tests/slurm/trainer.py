"""A stand-in for `fathom train`: it counts, saves, resumes, and ends with 143 after a save.

As the real one it reads FATHOM_STOP_FILE at each update. `attempts.txt` has a line for the start
and one for the end of each attempt.
"""

import os
import signal
import sys
import time
from pathlib import Path

from fathom.io.records import write_record

UPDATES = int(os.environ.get("TRIAL_UPDATES", "60"))
SECONDS = float(os.environ.get("TRIAL_SECONDS", "0.1"))
SAVE_EVERY = int(os.environ.get("TRIAL_SAVE_EVERY", "10"))
# What a save takes; signals wait for it.
SAVE_SECONDS = float(os.environ.get("TRIAL_SAVE_SECONDS", "0"))
# A file without which it does not train on after an update.
GATE, GATE_AT = os.environ.get("TRIAL_GATE", ""), 10
# A training whose saves take longer than the warning allows.
NO_SAVE = bool(os.environ.get("TRIAL_NO_SAVE"))


def main(output: Path, recipe: int) -> int:
    """Train until the end or a stop, and return the exit code."""
    run = output.parent
    checkpoint, attempts = run / "checkpoints" / "last.pt", run / "attempts.txt"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda got, _: signals.append(got))
    update = int(checkpoint.read_text()) if checkpoint.exists() else 0
    _note(attempts, f"from {update} job {os.environ.get('SLURM_JOB_ID', '')}")
    stop = Path(os.environ.get("FATHOM_STOP_FILE") or "/nowhere")
    while update < UPDATES:
        time.sleep(SECONDS)
        while GATE and update == GATE_AT and not (Path(GATE).exists() or signals or stop.exists()):
            time.sleep(0.1)
        update += 1
        (run / "update.txt").write_text(str(update))
        if signals or stop.exists():
            if not NO_SAVE:
                _save(checkpoint, update)
            why = stop.read_text().strip() if stop.exists() else "signal"
            _note(attempts, f"to {update} {why} signals {len(signals)}")
            return 143
        if update % SAVE_EVERY == 0 and not NO_SAVE:
            _save(checkpoint, update)
    _save(checkpoint, update)
    _note(attempts, f"to {update} finished")
    write_record(output, {"recipe": recipe})
    # A stop in the last second: the work is done, the exit code is not 0.
    return int(os.environ.get("TRIAL_LAST_CODE", "0"))


def _save(path: Path, update: int) -> None:
    time.sleep(SAVE_SECONDS)
    # Of several processes each writes its own.
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(str(update))
    fresh.replace(path)


def _note(path: Path, line: str) -> None:
    with open(path, "a", encoding="utf-8") as stream:
        stream.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
