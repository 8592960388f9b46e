"""Claims on the page: sentences of the paper, judged on our results and its own cells."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.truths import Evidence
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

    parts: tuple[AnsweredPart, ...]
    evidence: bool  # whether an answer says something about the paper

    @property
    def shares(self) -> tuple[BarShare, ...]:
        """How many parts have each answer."""
        return answer_bar(part.sign.words for part in self.parts)


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


def answer_bar(answers: Iterable[str]) -> tuple[BarShare, ...]:
    """Return how many answers there are of each kind."""
    return bar(map(_sign, answers), tuple(SIGNS))


def page_claims(claims: Iterable[Judged]) -> list[PageClaim]:
    """Return the claims of a paper for the page, of all parts in the order of the claims."""
    grouped = (list(group) for _, group in groupby(claims, lambda part: part.name))
    return [
        PageClaim(
            name=parts[0].name,
            sentence=parts[0].sentence,
            section=parts[0].section,
            expressions=tuple(
                part.expression + (f", if {part.guard}" if part.guard else "") for part in parts
            ),
            ours=Answered(
                tuple(_part(each.part, each.answer, each.evidence, each.basis) for each in parts),
                evidence=all(part.comparable for part in parts),
            ),
            printed=Answered(
                tuple(
                    _part(
                        each.part,
                        each.reported_answer,
                        each.reported_evidence,
                        each.reported_basis,
                    )
                    for each in parts
                ),
                evidence=True,
            ),
            against=any(part.against for part in parts),
        )
        for parts in grouped
    ]


def _part(name: str, answer: str, evidence: tuple[Evidence, ...], basis: str) -> AnsweredPart:
    texts = tuple(fact.text for fact in evidence[:SHOWN])
    more = (f"and {len(evidence) - SHOWN} more",) if len(evidence) > SHOWN else ()
    return AnsweredPart(name, _sign(answer), texts + more, basis)


def _sign(answer: str) -> Sign:
    return Sign(answer.replace(" ", "-"), SIGNS[answer], answer)
