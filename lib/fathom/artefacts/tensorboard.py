"""metrics.tsv of trainings as event files, which TensorBoard shows."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from fathom.io.errors import FathomError
from fathom.io.metrics import Row

STEP = "update"
PACKAGE = "tensorboardX"


def write_events(rows: Iterable[Row], folder: Path) -> None:
    """Write one scalar for each column of a training's metrics, at its updates.

    Events of an earlier export in the folder are replaced: TensorBoard would show both.

    Args:
        rows: of metrics.tsv; empty fields are left out.
        folder: of this training alone; TensorBoard names its curves by it.

    Raises:
        FathomError: tensorboardX is not installed.
    """
    try:
        from tensorboardX import SummaryWriter
    except ModuleNotFoundError:
        remedy = f"install it: pip install {PACKAGE}"
        raise FathomError(f"no package {PACKAGE}", "TensorBoard", remedy) from None
    shutil.rmtree(folder, ignore_errors=True)
    with SummaryWriter(str(folder)) as writer:
        for row in rows:
            update = row[STEP]
            for name, value in row.items():
                if name != STEP and value is not None and update is not None:
                    # Metrics have no time of the day: curves are drawn over updates.
                    writer.add_scalar(name, value, int(update), walltime=0.0)
