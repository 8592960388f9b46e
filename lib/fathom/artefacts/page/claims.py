"""Claims on the page: sentences of the paper, judged on our results and its own cells."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.table.verdicts import BarShare, Sign, bar

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
class AnsweredPart:
    """A part of a claim with its answer on one side."""

    name: str
    sign: Sign
    numbers: tuple[str, ...]
    basis: str  # what decides it


@dataclass(frozen=True)
class Answered:
    """The answers of a claim's parts on one side."""

    shares: tuple[BarShare, ...]  # how many parts have each answer
    parts: tuple[AnsweredPart, ...]
    evidence: bool  # whether an answer says something about the paper


@dataclass(frozen=True)
class PageClaim:
    """A sentence with its answers."""

    name: str  # its key in claims.yaml
    sentence: str
    section: str
    expressions: tuple[str, ...]  # what must hold, one for each part, with its guard
    ours: Answered  # on our results
    printed: Answered  # on the paper's own cells
    against: bool  # whether some answer of ours goes against the sentence

    @property
    def fragment(self) -> str:
        """The id of its row on the page."""
        return f"claim-{self.name}"


def answer_sign(answer: str) -> Sign:
    """Return how an answer is shown."""
    return Sign(answer.replace(" ", "-"), SIGNS[answer], answer)


def answer_bar(answers: Iterable[str]) -> tuple[BarShare, ...]:
    """Return how many answers there are of each kind."""
    return bar(map(answer_sign, answers), tuple(SIGNS))


def page_claims(claims: Iterable[Judged]) -> list[PageClaim]:
    """Return the claims of a paper for the page, of all parts in the order of the claims."""
    return [_claim(name, list(group)) for name, group in groupby(claims, lambda part: part.name)]


def _claim(name: str, parts: list[Judged]) -> PageClaim:
    ours = [(part, part.answer, part.evidence, part.basis) for part in parts]
    printed = [
        (part, part.reported_answer, part.reported_evidence, part.reported_basis) for part in parts
    ]
    return PageClaim(
        name=name,
        sentence=parts[0].sentence,
        section=parts[0].section,
        expressions=tuple(
            part.expression + (f", if {part.guard}" if part.guard else "") for part in parts
        ),
        ours=_answered(ours, all(part.comparable for part in parts)),
        printed=_answered(printed, True),
        against=any(part.against for part in parts),
    )


def _answered(answers: list[tuple], evidence: bool) -> Answered:
    return Answered(
        shares=answer_bar(answer for _, answer, *_ in answers),
        parts=tuple(
            AnsweredPart(part.part, answer_sign(answer), _numbers(facts), basis)
            for part, answer, facts, basis in answers
        ),
        evidence=evidence,
    )


def _numbers(evidence: Iterable) -> tuple[str, ...]:
    texts = [fact.text for fact in evidence]
    more = len(texts) - SHOWN
    return (*texts[:SHOWN], *([f"and {more} more"] if more > 0 else []))
