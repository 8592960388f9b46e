"""What a job does before and after its work; the batch script `runner` calls it.

A job that failed has finished all the same if it made all of its outputs: they are complete or
absent, and a stop in the last second then costs nothing. A job at its time limit is continued, as
long as each second attempt leaves a newer checkpoint.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from fathom.cluster.jobs import Folder, read, read_or_empty
from fathom.cluster.slurm import Slurm
from fathom.cluster.status import AGAIN
from fathom.io.files import appending, write_json
from fathom.io.screen import say

# Attempts without a newer checkpoint, after which a job is not continued.
STUCK = 2
LIMIT = "limit"
TOO_SHORT = "the time limit is too short for one save: raise `runtime` in the profile"
# What the batch script ends with where Slurm runs the job again.
REQUEUED = 85


@dataclass(frozen=True)
class Ending:
    """What follows an attempt."""

    code: int  # of the job
    why: str  # what ended it, empty for by itself
    again: bool = False  # the job is continued
    stuck: int = 0  # attempts in a row without a newer checkpoint


def ending(code: int, why: str, finished: bool, progressed: bool, stuck: int) -> Ending:
    """Return what follows an attempt.

    Args:
        code: the exit code of Snakemake's script.
        why: `limit`, `signal`, or empty.
        finished: whether all outputs were made.
        progressed: whether there is a newer checkpoint.
        stuck: attempts in a row before this one without a newer checkpoint.
    """
    if code == 0 or finished:
        return Ending(0, "")
    if why != LIMIT:
        return Ending(code, why)
    stuck = 0 if progressed else stuck + 1
    if stuck >= STUCK:
        return Ending(code, TOO_SHORT, stuck=stuck)
    return Ending(code, why, again=True, stuck=stuck)


def begin(slurm: Slurm, folder: Folder, number: str) -> tuple[int, int, int, int]:
    """Prepare an attempt.

    Returns:
        When the job's time is over, in seconds since 1970 (0 if nobody knows), the nodes of the
        job, and of each node the processes and the GPUs that were asked for.
    """
    folder.end(number).unlink(missing_ok=True)
    folder.stop.unlink(missing_ok=True)
    end = slurm.end_time(number) or 0
    write_json(folder.path / "before.json", _made(folder) | {"end": end})
    _log(folder, number, "begins")
    job = read(folder.script)
    return end, int(job.resources.get("nodes") or 1), max(job.gpus, 1), job.gpus


def finish(slurm: Slurm, folder: Folder, number: str, code: int, why: str) -> int:
    """Leave the end marker of an attempt, or have the job continued; return the job's exit code.

    Where Slurm does not requeue it, the marker has the next `status` submit a successor.

    Args:
        code: the exit code of Snakemake's script.
        why: `limit`, `signal`, or empty.
    """
    from fathom.results.run_state import FAILED, OUT_OF_MEMORY

    nothing = {"outputs": [None] * len(folder.outputs), "checkpoint": None, "state": {}}
    before, now = nothing | read_or_empty(folder.path / "before.json"), _made(folder)
    made = [
        new not in (None, old) for old, new in zip(before["outputs"], now["outputs"], strict=True)
    ]
    stuck = read_or_empty(folder.path / "stuck.json").get("stuck", 0)
    progressed = now["checkpoint"] not in (None, before["checkpoint"])
    state = now["state"] if now["state"] != before["state"] else {}
    if not why and state.get("reason") == LIMIT:
        # It knows the end of the job's time, and stopped by itself.
        why = LIMIT
    result = ending(code, why, all(made), progressed, stuck)
    if result.code and state.get("state") in (OUT_OF_MEMORY, FAILED):
        result = replace(result, why=f"{state['state'].replace('_', ' ')}: {state['reason']}")
    _log(folder, number, f"ended with {code} ({why or 'by itself'}): {result.code} {result.why}")
    if result.again:
        write_json(folder.path / "stuck.json", {"stuck": result.stuck})
        if slurm.requeue(number):
            _log(folder, number, "continues")
            return REQUEUED
        result = Ending(result.code, AGAIN)
    write_json(folder.end(number), {"code": result.code, "why": result.why})
    if result.code:
        say(f"fathom: job {number} ends with {result.code}: {result.why or 'see the lines above'}")
    return result.code


def _made(folder: Folder) -> dict[str, Any]:
    """Return which outputs and which newest checkpoint there are."""
    from fathom.results.run_state import STATE_FILE

    outputs = folder.outputs
    checkpoint = outputs[0].parent / "checkpoints" / "last.pt"
    state = read_or_empty(checkpoint.parents[1] / STATE_FILE)
    versions = list(map(_version, outputs))
    return {"outputs": versions, "checkpoint": _version(checkpoint), "state": state}


def _version(path: Path) -> list[int] | None:
    """Return what differs between two versions of a file; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_ino, status.st_mtime_ns]


def _log(folder: Folder, number: str, text: str) -> None:
    moment = datetime.now().isoformat(sep=" ", timespec="seconds")
    with appending(folder.path / "runner.log") as stream:
        stream.write(f"{moment} job {number} {text}\n")
