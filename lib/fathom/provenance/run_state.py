"""How far a training is, from the files of its run alone."""

from dataclasses import dataclass
from pathlib import Path

from fathom.errors import FathomError
from fathom.io import metrics
from fathom.provenance import training_file

NOT_STARTED, STARTED, DAMAGED = "not started", "started", "damaged"


@dataclass(frozen=True)
class RunState:
    """How far a training is.

    Attributes:
        kind: not started, started, finished, diverged, failed to train, or damaged. A training that
            has started may run now, or may have been stopped.
        update: its last update that is logged; None before the first.
    """

    kind: str
    update: int | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing is left to train."""
        return self.kind not in (NOT_STARTED, STARTED, DAMAGED)


def run_state(folder: Path) -> RunState:
    """Return how far the training of a folder is.

    Args:
        folder: of a run with one seed.
    """
    ended = folder / "training.json"
    if ended.exists():
        try:
            outcome = training_file.read(ended).outcome
        except FathomError:
            return RunState(DAMAGED)
        return RunState(outcome.kind.replace("_", " "), outcome.update)
    if not (folder / "attempts.json").exists():
        return RunState(NOT_STARTED)
    return RunState(STARTED, _last_update(folder / "metrics.tsv"))


def _last_update(path: Path) -> int | None:
    """Return the last update of a series that may be growing, or cut off by a kill."""
    try:
        rows = metrics.read(path)
    except (FathomError, OSError):
        return None
    last = rows[-1].get("update") if rows else None
    return None if last is None else int(last)
