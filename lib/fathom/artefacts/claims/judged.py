"""Each part of a paper's claims, judged on our results and on the paper's own cells."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from fathom.artefacts.claims.evidence import Evidence
from fathom.artefacts.claims.expressions import parse, shown
from fathom.artefacts.claims.judge import Judge, World
from fathom.artefacts.claims.printed import NOT_PRINTED
from fathom.artefacts.claims.truths import ABSENT, FAILS, HOLDS, Truth
from fathom.artefacts.table.sources import NOT_RUN
from fathom.config.claims import Claim, ClaimPart

UNDECIDED = "undecided"
Answer = Literal["holds", "fails", "inconclusive", "undecided", "not run", "not printed"]


@dataclass(frozen=True)
class Judged:
    """A part of a claim with its answers.

    Attributes:
        paper, name: of the claim, as in claims.yaml.
        part: the values of `for`, joined by slashes; empty without `for`.
        sentence, section: as in the paper.
        expression: what must hold.
        guard: where it is false, the claim is undecided; empty without one.
        scale: of the results.
        answer: on our results: holds, fails, inconclusive, undecided or not run.
        evidence: the numbers that decide it.
        comparable: whether all its runs have the paper's own settings.
        reported_answer: on the paper's own cells: holds, fails, inconclusive, undecided or not
            printed.
        reported_evidence: the numbers that decide it.
        artefacts: the tables and figures that it shows.
    """

    paper: str
    name: str
    part: str
    sentence: str
    section: str
    expression: str
    guard: str
    scale: str
    answer: Answer
    evidence: tuple[Evidence, ...]
    comparable: bool
    reported_answer: Answer
    reported_evidence: tuple[Evidence, ...]
    artefacts: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """`<paper>/<name>`, with the part in brackets."""
        return f"{self.paper}/{self.name}" + (f" [{self.part}]" if self.part else "")

    @property
    def against(self) -> bool:
        """Whether our results go against the sentence."""
        return self.answer == FAILS

    @property
    def basis(self) -> str:
        """What the intervals are that decide the answer, or why there are none."""
        return bases(self.evidence)

    @property
    def reported_basis(self) -> str:
        """The same of the paper's own cells."""
        return bases(self.reported_evidence)


def judge_claims(
    claims: Iterable[Claim],
    ours: World,
    printed: World,
    scale: str,
    comparable: Callable[[ClaimPart], bool],
) -> Iterator[Judged]:
    """Yield each part of some claims with its answers.

    Args:
        claims: of a paper.
        ours: our numbers.
        printed: the paper's.
        scale: of our numbers.
        comparable: whether all that a part shows has the paper's own settings.

    Raises:
        FathomError: a claim does not fit its tables or figures, or a file cannot be used.
    """
    for claim in claims:
        for part in claim.parts:
            own, reported = on_results(part, ours), on_printed(part, printed)
            artefacts = tuple(dict.fromkeys(each.artefact for each in shown(part)))
            yield Judged(
                paper=claim.paper,
                name=claim.name,
                part=part.name,
                sentence=" ".join(claim.sentence.split()),
                section=claim.section,
                expression=part.text,
                guard=part.guard_text,
                scale=scale,
                answer=own[0],
                evidence=own[1],
                comparable=comparable(part),
                reported_answer=reported[0],
                reported_evidence=reported[1],
                artefacts=artefacts,
            )


def on_results(part: ClaimPart, world: World) -> tuple[Answer, tuple[Evidence, ...]]:
    """Return the answer of our results and the numbers that decide it.

    A guard must hold, with all of its interval.
    """
    if part.guard_text:
        guard = Judge(world, part.guard_where).truth(parse(part.guard_text, part.guard_where))
        if guard.answer != HOLDS:
            return (NOT_RUN if guard.answer == ABSENT else UNDECIDED), guard.evidence
    truth = Judge(world, part.where).truth(parse(part.text, part.where))
    return _answer(truth, NOT_RUN), truth.evidence


def on_printed(part: ClaimPart, world: World) -> tuple[Answer, tuple[Evidence, ...]]:
    """Return the answer of the paper's own cells; a guard without printed cells is passed over."""
    if part.guard_text:
        guard = Judge(world, part.guard_where).truth(parse(part.guard_text, part.guard_where))
        if guard.answer not in (HOLDS, ABSENT):
            return UNDECIDED, guard.evidence
    truth = Judge(world, part.where).truth(parse(part.text, part.where))
    return _answer(truth, NOT_PRINTED), truth.evidence


def _answer(truth: Truth, absent: Answer) -> Answer:
    return absent if truth.answer == ABSENT else truth.answer


def bases(evidence: Iterable[Evidence]) -> str:
    """Return what the intervals of some numbers are, each once."""
    return "; ".join(dict.fromkeys(fact.basis for fact in evidence if fact.basis))
