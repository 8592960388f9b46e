"""How judged claims read: a csv, and lines for the terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.truths import Evidence
from fathom.artefacts.claims.worlds import NOT_PRINTED
from fathom.artefacts.table.sources import NOT_RUN

COLUMNS = (
    "paper", "claim", "part", "section", "sentence", "reading", "expression", "guard",
    "answer", "numbers", "basis", "reported_answer", "reported_numbers", "reported_basis",
    "comparable", "scale",
)  # fmt: skip
SHOWN = 3  # numbers of a claim that the terminal has room for
NOT_EVIDENCE = (
    "The runs do not have the paper's own settings: an answer is an observation of the chain, and "
    "no evidence about the paper."
)
PARTLY = (
    "Where a run does not have the paper's own settings ({count} of {all} parts), an answer is an "
    "observation of the chain, and no evidence about the paper."
)
NONE = "claims.yaml has no claims about this."


def lines(claims: Iterable[Judged]) -> Iterator[dict[str, Any]]:
    """Yield a line of the csv for each part of each claim, with all that decides it."""
    for claim in claims:
        known = (
            vars(claim)
            | {"claim": claim.name, "basis": claim.basis, "reported_basis": claim.reported_basis}
            | {"reading": claim.reading.removeprefix("printed")}  # as files without the column
            | {"numbers": _joined(claim.evidence)}
            | {"reported_numbers": _joined(claim.reported_evidence)}
        )
        yield {name: known[name] for name in COLUMNS}


def summary(claims: Sequence[Judged]) -> list[str]:
    """Return what a reader must know first: counts, what goes against its sentence, the scale."""
    if not claims:
        return [NONE]
    names = {(claim.paper, claim.name) for claim in claims}
    read = [claim for claim in claims if claim.reading == "ours"]
    said = [claim for claim in claims if claim.reading == "printed"]
    answers = f"Scale {claims[0].scale}: {_counts(claim.answer for claim in claims)}."
    against = f"Answers that go against their sentence (fails): {sum(one.against for one in said)}"
    if said:
        answers += f" The papers' own cells: {_counts(claim.reported_answer for claim in said)}."
    if read:
        answers += f" Our readings of them: {_counts(claim.reported_answer for claim in read)}."
        against += f"; against our reading of it: {sum(claim.against for claim in read)}"
    text = [f"{len(names)} claims in {len(claims)} parts.", answers, f"{against}."]
    count = sum(not claim.comparable for claim in claims)
    if count:
        partly = PARTLY.format(count=count, all=len(claims))
        text.append(NOT_EVIDENCE if count == len(claims) else partly)
    return text


def _counts(answers: Iterable[str]) -> str:
    return ", ".join(f"{count} {answer}" for answer, count in Counter(answers).most_common())


def printed(claims: Iterable[Judged]) -> Iterator[str]:
    """Yield the lines of each claim for the terminal: answers, sentence, numbers."""
    for claim in claims:
        against = f", against {'our reading' if claim.reading == 'ours' else 'the sentence'}"
        answer = claim.answer + (against if claim.against else "")
        yield f"{claim.full_name}: {answer} (paper's cells: {claim.reported_words})"
        yield f"  “{claim.sentence}” ({claim.section})"
        if claim.context:
            yield f"  in full: “{claim.context}”"
        if claim.note:
            yield f"  note: {claim.note}"
        yield from _numbers("", claim.evidence)
        if claim.reported_answer != NOT_PRINTED:
            yield from _numbers("paper: ", claim.reported_evidence)
        yield ""


def not_run(claims: Iterable[Judged]) -> Iterator[str]:
    """Yield a line for each paper with claims that were not run."""
    papers = Counter(claim.paper for claim in claims if claim.answer == NOT_RUN)
    for paper, count in papers.items():
        yield f"{paper}: {count} parts of claims not run; `fathom claims {paper}` prints them"


def _numbers(title: str, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Yield the first numbers of an answer, a line each."""
    more = f" and {len(evidence) - SHOWN} more" if len(evidence) > SHOWN else ""
    for at, fact in enumerate(evidence[:SHOWN], start=1):
        basis = f" ({fact.basis})" if fact.basis else ""
        yield f"    {title}{fact.text}{basis}{more if at == SHOWN else ''}"


def _joined(evidence: Iterable[Evidence]) -> str:
    return "; ".join(fact.text for fact in evidence)
