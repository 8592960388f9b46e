"""How verdicts look: a sign, a word and a colour, and bars that count them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fathom.artefacts.table.comparison import ComparedCell
from fathom.artefacts.table.sources import NOT_MEASURED, NOT_RUN
from fathom.artefacts.table.verdicts import (
    HIGHER,
    LOWER,
    METRIC_UNKNOWN,
    NO_RESULT,
    NO_RESULT_AS_REPORTED,
    REPRODUCED,
    RESULT,
    Verdict,
)
from fathom.artefacts.table.view import colour

# In the order of a bar. What is not here is not judged.
SIGNS = {
    REPRODUCED: "●",
    NO_RESULT_AS_REPORTED: "⊘",
    HIGHER: "▲",
    LOWER: "▼",
    NO_RESULT: "✕",
    RESULT: "◆",
    METRIC_UNKNOWN: "?",
    NOT_MEASURED: "○",
    NOT_RUN: "–",
}
NOT_JUDGED, OPEN_SIGN = "not judged", "◌"
UNDECIDED = (NOT_MEASURED, NOT_RUN, NOT_JUDGED)


@dataclass(frozen=True)
class Sign:
    """A verdict as it is shown.

    Attributes:
        style: the name of its colour.
        sign: one character.
        words: the verdict.
        judged: whether the cell is compared with the paper's.
    """

    style: str
    sign: str
    words: str

    @property
    def judged(self) -> bool:
        """Whether a cell with it was compared with the paper's."""
        return self.words not in UNDECIDED


def sign_of(verdict: Verdict) -> Sign:
    """Return how a verdict is shown; cells of a smaller scale are not judged."""
    if verdict.words in SIGNS:
        return Sign(colour(verdict), SIGNS[verdict.words], verdict.words)
    return Sign(colour(verdict), OPEN_SIGN, NOT_JUDGED)


@dataclass(frozen=True)
class Share:
    """A part of a bar: how many, and of what."""

    count: int
    sign: Sign


def bar(cells: Iterable[ComparedCell]) -> list[Share]:
    """Return how many cells have each verdict, in the order of SIGNS, those not judged last."""
    counts = Counter(sign_of(cell.verdict) for cell in cells if cell.verdict)
    order = [*SIGNS, NOT_JUDGED]
    in_order = sorted(counts, key=lambda sign: order.index(sign.words))
    return [Share(counts[sign], sign) for sign in in_order]
