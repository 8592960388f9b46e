"""What decides an answer: a comparison with its numbers, or how the seeds of a run ended."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from fathom.artefacts.claims.quantities import Operator, Sum, Term

Answer = Literal["holds", "fails", "inconclusive", "absent"]
TO_THE_WORST = "to the worst value where some seeds have no result"


@dataclass(frozen=True)
class Interval:
    """What surrounds a number.

    Attributes:
        half: half of the 95 % interval; None where the number alone decides.
        basis: what it is, or why there is none, in words.
    """

    half: float | None
    basis: str


@dataclass(frozen=True)
class Evidence:
    """One comparison of numbers, or one outcome, that decides an answer.

    Attributes:
        text: the comparison in a line.
        answer: holds, fails, inconclusive, or absent: a number is not there.
        difference: what is compared with the margin; None where a number is not there.
        low, high: its 95 % interval; None without one, and on a side where it has no end.
        relation, margin: what must be: above (`>`), at least, below or at most a number.
        basis: what the interval is, or why there is none.
    """

    text: str
    answer: Answer
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    relation: str = ""
    margin: float | None = None
    basis: str = ""


def bounds(difference: Sum, middle: float, half: float) -> tuple[float, float]:
    """Return the ends of an interval.

    A seed without a result may be as bad as the worst value, so the interval reaches to it. Where
    the measurement has no worst value, it reaches to both sides.

    Args:
        difference: what the interval is of.
        middle: its number, with or without the constant.
        half: half of the interval of the seeds that have a result.
    """
    worst = [factor * term.worst for term, factor in difference.weights.items() if term.lost]
    low = -math.inf if any(one != math.inf for one in worst) else middle - half
    high = math.inf if any(one != -math.inf for one in worst) else middle + half
    return low, high


def comparison(difference: Sum, relation: Operator, answer: Answer, interval: Interval) -> Evidence:
    """Return how a difference compares with 0, in a line with its numbers.

    Args:
        difference: the terms less the margin.
        relation: how it must compare.
        answer: whether it does.
        interval: of the seeds that have a result.
    """
    terms, margin = sum_text(difference.weights), 0.0 - difference.constant
    size, low, high, lost = None, None, None, any(term.lost for term in difference.weights)
    text = terms
    if not difference.missing and math.isfinite(difference.value):
        size = difference.of_terms
        single = len(difference.weights) == 1 and not terms.startswith("-") and "×" not in terms
        text += "" if single else f" = {size:.3g}"
        if lost or interval.half is not None:
            low, high = bounds(difference, size, interval.half or 0.0)
            text += f" [{low:.3g}, {high:.3g}]"
    return Evidence(
        f"{text} {relation} {margin:g}",
        answer,
        size,
        low if low is not None and math.isfinite(low) else None,
        high if high is not None and math.isfinite(high) else None,
        relation,
        margin,
        "; ".join(filter(None, (interval.basis, TO_THE_WORST if lost else ""))),
    )


def seeds_text(term: Term) -> str:
    """Return a term, and how many of its seeds may have a result later."""
    more = f", {term.awaited} of its seeds not run" if term.awaited and not term.missing else ""
    return f"{term_text(term)}{more}"


def term_text(term: Term) -> str:
    """Return a term with its number, or with what takes its place, and what its seeds lack."""
    if term.words:
        return ", ".join(filter(None, (f"{term.name} {term.words}", term.lost)))
    lost = f" ({term.lost})" if term.lost else ""
    return f"{term.name} {term.value:.4g}{term.mark}{lost}"


def sum_text(weights: Mapping[Term, float]) -> str:
    """Return a sum of terms in a line."""
    terms = "".join(
        f" {'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor):.3g} × '}"
        f"{term_text(term)}"
        for term, factor in weights.items()
    )
    return terms.removeprefix(" + ").strip()
