"""The commands of the profile `slurm`: `python -m fathom.cluster <command> <arguments>`."""

import sys
from pathlib import Path

from fathom.cluster.jobs import Folder, top
from fathom.cluster.slurm import Slurm
from fathom.io.errors import FathomError, printed
from fathom.io.screen import say


def submit(runner: str, *words: str) -> None:
    """Submit the job of the script that Snakemake names last, and print its number alone."""
    from fathom.cluster.submit import submit

    try:
        number = submit(Slurm(), Path(words[-1]), Path(runner))
    except FathomError as error:
        say(printed(error))
        sys.exit(1)
    sys.stdout.write(f"{number}\n")


def status(number: str) -> None:
    """Refresh what is known of all jobs; this number may be of a job without a folder."""
    from fathom.cluster.status import refresh

    refresh(Slurm(), top(), number)


def cancel(*numbers: str) -> None:
    """Cancel jobs by the numbers that Snakemake knows."""
    from fathom.cluster.submit import cancel

    cancel(Slurm(), numbers)


def begin(folder: str, number: str) -> None:
    """Prepare an attempt; print the end of its time, its nodes, and processes and GPUs of each."""
    from fathom.cluster.runner import begin

    sys.stdout.write(" ".join(map(str, begin(Slurm(), Folder(Path(folder)), number))) + "\n")


def finish(folder: str, number: str, code: str, why: str) -> None:
    """End an attempt with the exit code of the job."""
    from fathom.cluster.runner import finish

    sys.exit(finish(Slurm(), Folder(Path(folder)), number, int(code), why))


COMMANDS = {
    "submit": submit,
    "status": status,
    "cancel": cancel,
    "begin": begin,
    "finish": finish,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
