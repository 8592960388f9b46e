"""The verdict on one cell: a pure function of what is reported and what was reproduced.

The first of these that holds is the verdict:

1. `not run`: no seed of the run has a manifest. Nothing else is known, at any scale.
2. `not comparable (<scale>)`: the run is of a scale that cuts the paper's settings down. The cause
   still names the run's outcome where it has no number.
3. A side without a number. Whether training ended well does not depend on the metric, so these
   stand before any doubt about it:
   `no result as reported`, neither has one; `no result unlike reported`, only the paper has one;
   `trained unlike reported`, only the reproduction has one. The cause names the outcome.
4. `metric unknown`: both are numbers, but it is not known that they measure the same thing.
5. `reproduced`, `higher` or `lower`: by the tolerance; a difference of exactly the tolerance is
   within it.
"""

from dataclasses import dataclass

from fathom.papers.columns import Tolerance
from fathom.tables.grid import NOT_RUN, Cell

JUDGED_SCALE = "paper"


@dataclass(frozen=True)
class Reported:
    """A cell as the paper prints it.

    Attributes:
        row, column: ids.
        digits: the printed text; empty where the paper prints no number.
        value: the number that is compared: the corrected one where the print is a known error.
        outcome: what the paper has in place of a number, `diverged` or `failed to train`.
        note: that the print is a known error, and the right value.
    """

    row: str
    column: str
    digits: str
    value: float | None
    outcome: str
    note: str


@dataclass(frozen=True)
class Verdict:
    """How a reproduced cell stands to the reported one.

    Attributes:
        words: the verdict.
        cause: why, where the words need one.
        delta: reproduced less reported, in the paper's unit; None where it means nothing.
    """

    words: str
    cause: str = ""
    delta: float | None = None


def judge(
    reported: Reported,
    cell: Cell,
    reproduced: float | None,
    allowed: float,
    metric_known: bool,
    scale: str,
) -> Verdict:
    """Return the verdict on a cell, by the order of this module's docstring.

    Args:
        reported: the paper's cell, a number or an outcome.
        cell: ours; its words say why it has no number.
        reproduced: our value in the paper's unit, None where there is none.
        allowed: the difference up to which a cell counts as reproduced, in the paper's unit.
        metric_known: whether ours is known to be the paper's metric.
        scale: the scale of the run.
    """
    if cell.words == NOT_RUN:
        return Verdict(NOT_RUN)
    if scale != JUDGED_SCALE:
        return Verdict(f"not comparable ({scale})", cell.words or cell.note)
    if reported.value is None and reproduced is None:
        return Verdict("no result as reported", cell.words)
    if reproduced is None:
        return Verdict("no result unlike reported", cell.words)
    if reported.value is None:
        return Verdict("trained unlike reported", reported.outcome)
    delta = reproduced - reported.value
    if not metric_known:
        return Verdict("metric unknown", f"scored with {cell.metric}", delta)
    cause = "; ".join(each for each in (reported.note, cell.note) if each)
    if abs(delta) <= allowed + _rounding(delta):
        return Verdict("reproduced", cause, delta)
    return Verdict("higher" if delta > 0 else "lower", cause, delta)


def tolerated(tolerance: Tolerance | None, reported: float, cell: Cell, unit: float) -> float:
    """Return the difference up to which a cell counts as reproduced, in the paper's unit.

    Args:
        tolerance: the column's; None allows nothing but equality.
        reported: the paper's value.
        cell: ours, with its spreads in the manifest's unit.
        unit: the paper's unit in the manifest's.
    """
    if tolerance is None:
        return 0.0
    if tolerance.absolute is not None:
        return tolerance.absolute
    if tolerance.relative is not None:
        return tolerance.relative * abs(reported)
    bootstrap = (cell.half_width or 0.0) / unit
    over_seeds = 2 * (cell.deviation or 0.0) / unit
    return max(bootstrap, over_seeds, tolerance.at_least)


def _rounding(delta: float) -> float:
    """Return what binary arithmetic may add to a difference of printed decimals."""
    return 1e-9 * max(1.0, abs(delta))
