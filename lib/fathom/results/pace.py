"""How fast a training goes, by the series that it writes: metrics.tsv and times.tsv."""

from dataclasses import dataclass
from pathlib import Path

from fathom.io import metrics
from fathom.io.errors import FathomError

# Rows of the series over which the present speed is taken.
ROWS = 10


@dataclass(frozen=True)
class Pace:
    """Where a training is, and how fast it goes at present.

    Attributes:
        update: the last update that is logged.
        nll: of its batch, nats a target token; None where it is not finite.
        tokens_per_second: target tokens of the last rows by their seconds, validation included.
        seconds_per_update: of the last rows.
    """

    update: int
    nll: float | None
    tokens_per_second: float | None
    seconds_per_update: float | None


def pace(folder: Path) -> Pace | None:
    """Return how fast a training goes; None before its first row.

    Args:
        folder: of a run with one seed.
    """
    rows = _rows(folder / "metrics.tsv")
    if not rows:
        return None
    times = {row.get("update"): row.get("seconds") for row in _rows(folder / "times.tsv")}
    points = [(0.0, 0.0, 0.0)]
    for row in rows:
        update, tokens = row.get("update"), row.get("tokens")
        seconds = times.get(update)
        if update is not None and tokens is not None and seconds is not None:
            points.append((update, tokens, seconds))
    first, last = points[max(0, len(points) - 1 - ROWS)], points[-1]
    updates, tokens, seconds = (late - early for late, early in zip(last, first, strict=True))
    known = updates > 0 and seconds > 0
    return Pace(
        int(rows[-1].get("update") or 0),
        rows[-1].get("nll"),
        tokens / seconds if known else None,
        seconds / updates if known else None,
    )


def last_update(path: Path) -> int | None:
    """Return the last update of a series that may be growing, or cut off by a kill."""
    rows = _rows(path)
    last = rows[-1].get("update") if rows else None
    return None if last is None else int(last)


def _rows(path: Path) -> list[metrics.Row]:
    """Return the rows of a series; none where it is missing or damaged."""
    try:
        return metrics.read(path)
    except (FathomError, OSError):
        return []
