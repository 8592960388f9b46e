"""Numbers of claims by name, without files."""

import math

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.language import truth
from fathom.artefacts.claims.numbers import Sum, Term
from fathom.artefacts.claims.truths import Evidence, Interval

UNTESTED = -1.0
FACT = Evidence("A 3 - B 1 = 2 > 0", "holds", 2.0, 1.0, 3.0, "paired")
CLAIM = Judged(
    paper="p",
    name="deeper_is_better",
    part="de",
    sentence="Deeper is <better>",
    section="§4",
    expression='A["x"] > B["x"]',
    guard="",
    scale="tiny",
    answer="holds",
    evidence=(FACT,),
    comparable=False,
    reported_answer="not printed",
    reported_evidence=(Evidence("A not printed > 0", "absent"),),
    artefacts=("table3",),
)


def quantity(name, value, halves=None):
    """Return a number, or several; `halves` gets the half of each interval.

    A value is a number, (number, half of its interval), an outcome, `not run`, a list of these, or
    a quantity as it is.
    """
    if isinstance(value, Sum) or (isinstance(value, tuple) and isinstance(value[0], Sum)):
        return value
    if isinstance(value, list):
        return tuple(quantity(f"{name}{at}", one, halves) for at, one in enumerate(value))
    if isinstance(value, str):
        missing = value == "not run"
        bad = math.nan if missing else -math.inf
        return Sum({Term(name, bad, value, missing): 1.0})
    number, half = value if isinstance(value, tuple) else (value, None)
    gain = None if number == UNTESTED else number > 5
    term = Term(name, number, gain=gain)
    if halves is not None:
        halves[term] = half
    return Sum({term: 1.0})


class Numbers:
    """Numbers by name; half of the interval of a difference is that of its first term."""

    def __init__(self, **values):
        self.halves = {}
        self.values = {name: quantity(name, one, self.halves) for name, one in values.items()}

    def shown(self, reference):
        """Return a number by the name of its table."""
        return self.values[reference.table]

    def interval(self, weights):
        """Return what was given."""
        half = self.halves.get(next(iter(weights)))
        known = half is None or callable(half)
        return Interval(half if known else lambda _: half, "{} given")


def answer(text, **values):
    """Return the answer of an expression in which `A` is a table with one number."""
    for name in values:
        text = text.replace(name, f'{name}["x"]')
    return truth(text, "here", Numbers(**values))
