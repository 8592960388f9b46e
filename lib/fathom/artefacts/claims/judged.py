"""Each part of a paper's claims, judged on our results and on the paper's own cells."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.language import Reference, World, references, truth
from fathom.artefacts.claims.numbers import Unfit
from fathom.artefacts.claims.truths import ABSENT, FAILS, HOLDS, TOO_FEW, Evidence
from fathom.artefacts.claims.worlds import NOT_PRINTED, Printed, Results, places
from fathom.artefacts.table.sources import NOT_RUN
from fathom.config.claims import Claim, ClaimPart
from fathom.config.paper import Paper
from fathom.config.schema.paper import Reading
from fathom.io.errors import FathomError

UNDECIDED = "undecided"
Answer = Literal["holds", "fails", "inconclusive", "undecided", "not run", "not printed"]


@dataclass(frozen=True)
class Judged:
    """A part of a claim with its answers."""

    paper: str
    name: str  # as in claims.yaml
    part: str  # the values of `for`, joined by slashes; empty without `for`
    sentence: str
    section: str
    expression: str  # what must hold
    guard: str  # where it is false, the claim is undecided; empty without one
    scale: str  # of the results
    answer: Answer  # on our results
    evidence: tuple[Evidence, ...]  # the numbers that decide it
    comparable: bool  # whether all its runs have the paper's own settings
    reported_answer: Answer  # on the paper's own cells
    reported_evidence: tuple[Evidence, ...]
    artefacts: tuple[str, ...]  # the tables that it shows
    note: str = ""  # what a reader must know with the answer
    context: str = ""  # all of the sentence, where it leaves words out
    reading: Reading = "printed"  # `ours` where we draw it from a sentence that says less

    @property
    def full_name(self) -> str:
        """`<paper>/<name>`, with the part in brackets."""
        return f"{self.paper}/{self.name}" + (f" [{self.part}]" if self.part else "")

    @property
    def against(self) -> bool:
        """Whether our results go against the sentence, or against our reading of it."""
        return self.answer == FAILS

    @property
    def reported_words(self) -> str:
        """The answer of the paper's own cells, marked where it is that of our reading."""
        return ("our reading: " if self.reading == "ours" else "") + self.reported_answer

    @property
    def basis(self) -> str:
        """What the intervals are that decide the answer, or why there are none."""
        return _bases(self.evidence)

    @property
    def reported_basis(self) -> str:
        """The same of the paper's own cells."""
        return _bases(self.reported_evidence)


def judged(artefacts: Artefacts, paper: Paper) -> tuple[Judged, ...]:
    """Return each part of a paper's claims with its answers, in the order of claims.yaml."""
    worlds = Results(artefacts, paper), Printed(artefacts.project, paper)
    claims = artefacts.project.claims.get(paper.name, {}).values()
    return tuple(
        judged_part(claim, part, worlds, artefacts.scale, is_comparable(artefacts, paper, part))
        for claim in claims
        for part in claim.parts
    )


def judged_part(
    claim: Claim, part: ClaimPart, worlds: tuple[World, World], scale: str, comparable: bool
) -> Judged:
    """Return a part of a claim with its answers on our numbers and on the paper's."""
    answer, evidence = _answered(part, worlds[0], NOT_RUN)
    reported_answer, reported_evidence = _answered(part, worlds[1], NOT_PRINTED)
    return Judged(
        paper=claim.paper,
        name=claim.name,
        part=part.name,
        sentence=" ".join(claim.sentence.split()),
        section=claim.section,
        expression=part.text,
        guard=part.guard_text,
        scale=scale,
        answer=answer,
        evidence=evidence,
        comparable=comparable,
        reported_answer=reported_answer,
        reported_evidence=reported_evidence,
        artefacts=tables_of(part),
        note=" ".join(claim.note.split()),
        context=" ".join(claim.context.split()),
        reading=part.reading,
    )


def _answered(
    part: ClaimPart, world: World, absent: Literal["not run", "not printed"]
) -> tuple[Answer, tuple[Evidence, ...]]:
    """Return the answer of one origin; a guard must hold, with all of its interval.

    A guard that the paper prints nothing of does not stop the paper's own cells.
    """
    found = truth(part.text, part.where, world)
    if part.guard_text:
        guard = truth(part.guard_text, part.guard_where, world)
        if guard.answer == ABSENT and absent == NOT_RUN:
            return absent, guard.evidence
        if guard.answer not in (HOLDS, ABSENT):
            return UNDECIDED, guard.evidence
    return (absent if found.answer == ABSENT else found.answer), found.evidence


def findings(claim: Claim, part: ClaimPart, printed: Printed) -> Iterator[FathomError]:
    """Yield what does not fit in a claim, or that `supports` is not what the cells answer.

    Where a sentence leaves words out, or its paper's cells fail, a reader needs all of it.
    """
    try:
        answer, evidence = _answered(part, printed, NOT_PRINTED)
    except FathomError as error:
        yield error
        return
    if TOO_FEW in [fact.text for fact in evidence]:
        yield FathomError(TOO_FEW, part.where, "name several cells, or `:` for all")
    elif answer != part.supports:
        numbers = f" ({evidence[0].text})" if evidence else ""
        what = f"the paper's own cells answer '{answer}', not '{part.supports}'{numbers}"
        yield FathomError(what, part.supports_where, f"write {answer}, or correct the claim")
    elif not (claim.context or printed.paper.is_study) and (
        answer == FAILS or "…" in claim.sentence
    ):
        why = "cells of its paper fail" if answer == FAILS else "the sentence leaves words out (…)"
        yield FathomError(why, part.where, "write all of the sentence as `context`")


def _shown(part: ClaimPart) -> list[Reference]:
    """Return what a part takes from tables; nothing where it cannot be read."""
    try:
        return [*references(part.text), *references(part.guard_text or "0")]
    except Unfit:
        return []


def tables_of(part: ClaimPart) -> tuple[str, ...]:
    """Return the names of the tables that a part shows."""
    return tuple(dict.fromkeys(reference.table for reference in _shown(part)))


def is_comparable(artefacts: Artefacts, paper: Paper, part: ClaimPart) -> bool:
    """Return whether all that a claim shows has the paper's own settings.

    Where a scale has none of it, there is nothing to compare.
    """
    sources: set[str] = set()
    for reference in _shown(part):
        cells = artefacts.cells(paper.tables[reference.table])
        meant = {*places(reference, cells)}
        sources |= {cell.source for cell in cells if (cell.id, cell.column) in meant}
    return bool(sources) and all(artefacts.source(name).comparable for name in sources)


def _bases(evidence: Iterable[Evidence]) -> str:
    """Return what the intervals of some numbers are, each once with all of its levels."""
    levels: dict[str, dict[str, None]] = {}
    for fact in evidence:
        level, of, rest = fact.basis.rpartition(" % ")
        levels.setdefault(of + rest, {})[level] = None
    return "; ".join(" and ".join(some) + rest for rest, some in levels.items() if rest)
