"""A training that has ended, and whose weights or record were lost: what it resumes from."""

from collections.abc import Callable
from pathlib import Path

from fathom.io.errors import FathomError
from fathom.io.integrity import Recorded
from fathom.nn.average import saved_updates
from fathom.results import training_record
from fathom.results.training_record import WEIGHTS, unfit_weights
from fathom.train.training_state import delete_states_after, set_aside


def prepare_to_resume(folder: Path, report: Callable[[str], None]) -> None:
    """Delete training.json and what cannot be resumed from; every line of it is reported.

    Weights that were saved along the way are made again from a state before them.

    Args:
        folder: of the run and seed.
        report: called with a line for each file.

    Raises:
        FathomError: a series has changed too, which no state can make again.
    """
    path = folder / "training.json"
    try:
        ended = training_record.read(path)
    except FathomError as error:
        report(f"{error.where}: {error.what}; resuming")
        path.unlink(missing_ok=True)
        return
    Recorded(path, ended.files).require(
        *(name for name in ended.files if not name.startswith(WEIGHTS))
    )
    unfit = unfit_weights(path, ended)
    for name, reason in unfit.items():
        there = (folder / name).exists()
        what = f"{reason}; renamed to {set_aside(folder / name)}" if there else reason
        report(f"{folder / name}: {what}; resuming")
    along = saved_updates(name.removeprefix(WEIGHTS) for name in unfit)
    delete_states_after(folder / WEIGHTS, min(along) - 1 if along else ended.outcome.update)
    path.unlink()
