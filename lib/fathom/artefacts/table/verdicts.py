"""The verdict on one cell: a pure function of the reported and the reproduced cell.

The first that applies:

1. `not run`: no seed of the run was trained, or too few to know whether most end with a result; or
   `not measured`: nobody counted the corpus. Nothing else is known, at any scale.
2. `not comparable (<scale>)`: some setting of the run is not the paper's. The cause names the
   run's outcome where it has no number, and counts that do not prove its text to be the paper's.
3. `not measured`: the run has a result, but nobody measured this, or not of enough seeds. The cause
   says what is missing.
4. One side has no number. Whether training ended well does not depend on the metric, so these come
   before any doubt about the metric: `no result as reported` (neither has one), `no result (paper
   has one)`, `result (paper has none)`. The cause names the outcome.
5. `metric unknown`: both are numbers, but they may not measure the same thing.
6. `reproduced`, `higher` or `lower`: by the tolerance; a difference of exactly the tolerance is
   within it. Where the paper prints a difference to another cell with its number, both must be.
   A reproduced count that the corpus is drawn to have is `by construction`, which judges nothing.

From 4 on, the cause ends in `text rebuilt` where the run's text is the paper's but for some lines.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.sources import MISSING, NOT_MEASURED, NOT_RUN
from fathom.config.reported import Reported
from fathom.config.schema.columns import Tolerance

REPRODUCED, HIGHER, LOWER = "reproduced", "higher", "lower"
NO_RESULT_AS_REPORTED = "no result as reported"
NO_RESULT, RESULT = "no result (paper has one)", "result (paper has none)"
METRIC_UNKNOWN = "metric unknown"
TEXT_REBUILT = "text rebuilt"
BY_CONSTRUCTION = "by construction"
NOT_JUDGED = "not judged"
# How each is marked, in the order of a bar that counts them. What is not here is not judged.
SIGNS = {
    REPRODUCED: "●",
    NO_RESULT_AS_REPORTED: "⊘",
    HIGHER: "▲",
    LOWER: "▼",
    NO_RESULT: "✕",
    RESULT: "◆",
    METRIC_UNKNOWN: "?",
    BY_CONSTRUCTION: "≡",
    NOT_MEASURED: "○",
    NOT_RUN: "–",
    NOT_JUDGED: "◌",
}


@dataclass(frozen=True)
class Verdict:
    """How a reproduced cell compares with the reported one."""

    words: str
    cause: str = ""  # why, where the words need a reason
    delta: float | None = None  # reproduced less reported, in the paper's unit

    @property
    def style(self) -> str:
        """Its words as the name of a style."""
        return re.sub(r"\W+", "-", self.words.partition("(")[0].strip())


@dataclass(frozen=True)
class Sign:
    """A verdict, or another answer, as it is shown."""

    style: str  # the name of its colour
    sign: str  # one character
    words: str

    @property
    def judged(self) -> bool:
        """Whether a cell with this verdict was compared with the paper's."""
        return self.words not in (BY_CONSTRUCTION, NOT_MEASURED, NOT_RUN, NOT_JUDGED)


def sign_of(verdict: Verdict) -> Sign:
    """Return how a verdict is shown; cells of a smaller scale are not judged."""
    words = verdict.words if verdict.words in SIGNS else NOT_JUDGED
    return Sign(verdict.style, SIGNS[words], words)


def bar(signs: Iterable[Sign], order: Sequence[str] = tuple(SIGNS)) -> dict[Sign, int]:
    """Return how many signs there are of each kind, in an order of their words."""
    return dict(sorted(Counter(signs).items(), key=lambda item: order.index(item[0].words)))


def judge(
    reported: Reported,
    result: CellResult,
    tolerance: Tolerance | None,
    scale: str,
    less: CellResult | None = None,
) -> Verdict:
    """Return the verdict on a cell, in the order of this module's docstring.

    `less` is our difference to another cell, where the paper may print one with its number.
    """
    allowed = allowed_difference(tolerance, reported.number, reported.decimals, result)
    verdict = _judge_number(reported, result, allowed, scale)
    if result.rebuilt and verdict.words not in (NOT_RUN, NOT_MEASURED):
        verdict = replace(verdict, cause="; ".join(filter(None, (verdict.cause, TEXT_REBUILT))))
    if less is None or reported.difference is None or verdict.words != REPRODUCED:
        return verdict
    if less.value is None:
        return replace(verdict, words=NOT_MEASURED, cause="the other cell has no number")
    further = less.value - reported.difference
    allowed = allowed_difference(tolerance, reported.difference, reported.decimals, less)
    if is_within(further, allowed):
        return verdict
    ours, papers = signed(less.value, 2), signed(reported.difference, 2)
    cause = f"its difference is {ours}, the paper's {papers}"
    words = HIGHER if further > 0 else LOWER
    return Verdict(words, "; ".join(filter(None, (verdict.cause, cause))), verdict.delta)


def _judge_number(reported: Reported, result: CellResult, allowed: float, scale: str) -> Verdict:
    if result.words.startswith(NOT_RUN):
        where = result.words.removeprefix(NOT_RUN)
        where = where.strip(" ()") if where.startswith(" (") else where.removeprefix(": ")
        return Verdict(NOT_RUN, "; ".join(filter(None, (where, result.note))))
    unmeasured = result.words.startswith(MISSING)
    if result.cell.kind == "corpus" and unmeasured:
        return Verdict(NOT_MEASURED, result.note)
    if not result.comparable:
        causes = filter(None, (result.words or result.note, result.unproved))
        return Verdict(f"not comparable ({scale})", "; ".join(causes))
    if unmeasured:
        return Verdict(NOT_MEASURED, result.note or result.words)
    expected = reported.number
    if expected is None and result.value is None:
        return Verdict(NO_RESULT_AS_REPORTED, result.words)
    if result.value is None:
        return Verdict(NO_RESULT, result.words)
    if expected is None:
        return Verdict(RESULT, reported.outcome)
    delta = result.value - expected
    if not result.cell.metric_known:
        return Verdict(METRIC_UNKNOWN, f"scored with {result.cell.metric}", delta)
    misprint = f"misprint: {reported.right}" if reported.right else ""
    cause = "; ".join(text for text in (misprint, result.note) if text)
    if is_within(delta, allowed):
        return Verdict(REPRODUCED, cause, delta)
    return Verdict(HIGHER if delta > 0 else LOWER, cause, delta)


def signed(value: float, decimals: int) -> str:
    """Return a difference with its sign; one that rounds to 0 has none."""
    text = f"{value:+z.{decimals}f}"
    return text if float(text) else text[1:]


def allowed_difference(
    tolerance: Tolerance | None,
    reported: float | None,
    decimals: int,
    result: CellResult | None = None,
) -> float:
    """Return the difference up to which a cell counts as reproduced, in the paper's unit.

    Without a tolerance nothing but equality does. Where the digits are enough, half a unit of the
    last printed digit counts if it is larger; where the tolerance is a floor, half of our 95 %
    interval over test sentences, or two standard deviations over seeds.
    """
    if tolerance is None:
        return 0.0
    if tolerance.absolute is not None:
        return tolerance.absolute
    if tolerance.relative is not None:
        digit = 0.5 * 10**-decimals if tolerance.digits else 0.0
        return max(tolerance.relative * abs(reported or 0.0), digit)
    spread = (result.interval or 0.0, 2 * (result.deviation or 0.0)) if result else ()
    return max(tolerance.at_least or 0.0, *spread)


def is_within(difference: float, allowed: float) -> bool:
    """Return whether a difference is allowed, but for what binary arithmetic adds to decimals."""
    return abs(difference) <= allowed + 1e-9 * max(1.0, abs(difference))
