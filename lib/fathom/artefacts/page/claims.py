"""Claims on the page: sentences of the paper, judged on our results and its own cells."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.page.verdicts import Share, Sign

# In the order of a bar.
SIGNS = {
    "holds": "●",
    "inconclusive": "◐",
    "fails": "✕",
    "undecided": "◇",
    "not printed": "○",
    "not run": "–",
}
OBSERVED = (
    "An outlined answer is an observation of the chain and no evidence about the paper: its runs "
    "do not have the paper's own settings."
)
SHOWN = 12  # numbers of one answer; claims.csv has all


@dataclass(frozen=True)
class Answered:
    """The answers of a claim's parts on one side.

    Attributes:
        shares: how many parts have each answer.
        parts: for each part its name, answer and numbers; what decides them at the end.
        evidence: whether an answer says something about the paper.
    """

    shares: tuple[Share, ...]
    parts: tuple[tuple[str, Sign, tuple[str, ...], str], ...]
    evidence: bool


@dataclass(frozen=True)
class PageClaim:
    """A sentence with its answers.

    Attributes:
        name: its key in claims.yaml.
        sentence, section: as in the paper.
        expressions: what must hold, one for each part, with the guard where there is one.
        ours: on our results.
        printed: on the paper's own cells.
        against: whether some answer of ours goes against the sentence.
    """

    name: str
    sentence: str
    section: str
    expressions: tuple[str, ...]
    ours: Answered
    printed: Answered
    against: bool

    @property
    def fragment(self) -> str:
        """The id of its row on the page."""
        return f"claim-{self.name}"


def sign_of(answer: str) -> Sign:
    """Return how an answer is shown."""
    return Sign(answer.replace(" ", "-"), SIGNS[answer], answer)


def bar(answers: Iterable[str]) -> tuple[Share, ...]:
    """Return how many answers there are of each kind, in the order of SIGNS."""
    counts = Counter(answers)
    return tuple(Share(counts[answer], sign_of(answer)) for answer in SIGNS if counts[answer])


def page_claims(claims: Iterable[Judged]) -> list[PageClaim]:
    """Return the claims of a paper for the page.

    Args:
        claims: all parts, those of one claim after each other.
    """
    return [_claim(name, list(group)) for name, group in groupby(claims, lambda one: one.name)]


def _claim(name: str, parts: list[Judged]) -> PageClaim:
    guards = [f", if {one.guard}" if one.guard else "" for one in parts]
    ours = tuple(
        (one.part, sign_of(one.answer), _numbers(one.evidence), one.basis) for one in parts
    )
    printed = tuple(
        (
            one.part,
            sign_of(one.reported_answer),
            _numbers(one.reported_evidence),
            one.reported_basis,
        )
        for one in parts
    )
    return PageClaim(
        name=name,
        sentence=parts[0].sentence,
        section=parts[0].section,
        expressions=tuple(
            f"{one.expression}{guard}" for one, guard in zip(parts, guards, strict=True)
        ),
        ours=Answered(bar(one.answer for one in parts), ours, all(one.comparable for one in parts)),
        printed=Answered(bar(one.reported_answer for one in parts), printed, True),
        against=any(one.against for one in parts),
    )


def _numbers(evidence: Iterable) -> tuple[str, ...]:
    texts = [fact.text for fact in evidence]
    more = len(texts) - SHOWN
    return (*texts[:SHOWN], *([f"and {more} more"] if more > 0 else []))
