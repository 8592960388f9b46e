"""A stand-in for PBS on one machine: qsub, qstat and qdel by the name it is called by.

As a real one it has numbers such as 7.pbs, names of 15 characters, a limit that is not announced
(TERM to all processes of the job's session, KILL 5 s later), no requeue, and no word of a job that
has ended.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

HOME = Path(os.environ["PBS_HOME"])


def session(leader: int) -> list[int]:
    """Return the processes of a session."""
    rows = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            rows[int(path.parent.name)] = path.read_text().rpartition(") ")[2].split()
    return [pid for pid, row in rows.items() if row[3] == str(leader) and row[0] != "Z"]


def end(leader: int) -> None:
    """End a job as a scheduler does."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in session(leader):
            with suppress(OSError):
                os.kill(pid, number)
        stop = time.monotonic() + 5
        while session(leader) and time.monotonic() < stop:
            time.sleep(0.1)


def qsub(words: list[str]) -> None:
    """Run a job in a session of its own, until its end or its limit."""
    options = {}
    for option, value in zip(words[:-1:2], words[1:-1:2], strict=True):
        options[option] = f"{options.get(option, '')},{value}"
    name = options["-N"][1:]
    if len(name) > 15:
        sys.exit("qsub: illegal -N value")
    if options.get("-q") == ",nosuch":
        sys.exit("qsub: Unknown queue")
    number = f"{1 + len(list(HOME.glob('*.job')))}.pbs"
    record = HOME / f"{number}.job"
    record.write_text(json.dumps([number, name, 0]))
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()
    if os.fork():
        return
    os.setsid()
    hours, minutes, seconds = map(int, re.findall(r"walltime=(\d+):(\d+):(\d+)", options["-l"])[0])
    given = dict(word.split("=", 1) for word in options["-v"][1:].split(","))
    with open(options["-o"][1:], "a") as out:
        job = subprocess.Popen(
            ["bash", words[-1]],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=os.environ | given | {"PBS_JOBID": number},
            start_new_session=True,
        )
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    record.write_text(json.dumps([number, name, job.pid]))
    with suppress(subprocess.TimeoutExpired):
        job.wait(hours * 3600 + minutes * 60 + seconds)
    end(job.pid)
    record.write_text(json.dumps([number, name, -1]))


def main() -> None:
    """Do what the command's name says."""
    live = [json.loads(path.read_text() or "[0, 0, -1]") for path in HOME.glob("*.job")]
    verb, words = Path(sys.argv[0]).name, sys.argv[1:]
    if verb == "qsub":
        qsub(words)
    for number, name, pid in live:
        if verb == "qstat" and pid >= 0:
            sys.stdout.write(f"{number} {name} me 00:00:01 {'R' if pid else 'Q'} workq\n")
        if verb == "qdel" and number in words:
            end(pid)


main()
