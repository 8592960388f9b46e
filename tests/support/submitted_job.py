"""A job as a start has submitted it."""

from collections.abc import Iterable
from pathlib import Path

from fathom.cluster.jobs import Folder, Job
from fathom.io.files import write_text


def submitted(folder: Folder, label: str, outputs: Iterable[Path]) -> Folder:
    """Write what a start knows of a training that it has submitted as number 7."""
    folder.path.mkdir(parents=True, exist_ok=True)
    script = folder.path.parent / "script.sh"
    write_text(script, "#!/bin/sh\n")
    job = Job("train_run", tuple(outputs), {}, 1, label)
    folder.prepare(script, job)
    folder.remember(job, "7", "7", [])
    return folder
