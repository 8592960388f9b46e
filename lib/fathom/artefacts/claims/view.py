"""How judged claims read: a csv, a page, and lines for the terminal."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from fathom.artefacts.claims.evidence import Evidence
from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.printed import NOT_PRINTED
from fathom.artefacts.table.formats import html
from fathom.artefacts.table.notes import DOUBTFUL, WRONG_LANGUAGE
from fathom.artefacts.table.view import BlockView, CellView, RowView, TableView

if TYPE_CHECKING:
    from pandas import DataFrame

TITLE = "Claims"
COLUMNS = ("Our results", "The paper's own cells", "Sentence", "Our numbers")
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
AGAINST = ", against the sentence"
DOUBT = f"{DOUBTFUL}: {WRONG_LANGUAGE}."


def lines(claims: Iterable[Judged]) -> "DataFrame":
    """Return a line for each part of each claim, with all that decides it."""
    from pandas import DataFrame

    columns = (
        "paper", "claim", "part", "section", "sentence", "expression", "guard", "answer",
        "numbers", "basis", "reported_answer", "reported_numbers", "reported_basis", "comparable",
        "scale",
    )  # fmt: skip
    records = [
        (
            one.paper,
            one.name,
            one.part,
            one.section,
            one.sentence,
            one.expression,
            one.guard,
            one.answer,
            _joined(one.evidence),
            one.basis,
            one.reported_answer,
            _joined(one.reported_evidence),
            one.reported_basis,
            one.comparable,
            one.scale,
        )
        for one in claims
    ]
    return DataFrame(records, columns=columns, dtype=object)


def summary(claims: Sequence[Judged]) -> list[str]:
    """Return what a reader must know first: counts, what goes against its sentence, the scale."""
    if not claims:
        return [NONE]
    names = {(one.paper, one.name) for one in claims}
    ours, printed = (
        ", ".join(f"{count} {answer}" for answer, count in Counter(answers).most_common())
        for answers in ([one.answer for one in claims], [one.reported_answer for one in claims])
    )
    scale = next((one.scale for one in claims), "")
    against = sum(one.against for one in claims)
    text = [
        f"{len(names)} claims in {len(claims)} parts.",
        f"Scale {scale}: {ours}. The papers' own cells: {printed}.",
        f"Answers that go against their sentence (fails): {against}.",
    ]
    other = sum(not one.comparable for one in claims)
    if other:
        all_of_them = other == len(claims)
        text.append(NOT_EVIDENCE if all_of_them else PARTLY.format(count=other, all=len(claims)))
    return text


def page(claims: Sequence[Judged], titles: Mapping[str, str]) -> str:
    """Return all claims as an HTML page, a table for each paper.

    Args:
        claims: of all papers, paper by paper.
        titles: of the papers, by name.
    """
    views = [
        TableView(
            name=f"claims_{paper}",
            title=titles[paper],
            caption="",
            blocks=(BlockView("", COLUMNS, tuple(map(_row, own))),),
            notes=(DOUBT,) if any(DOUBTFUL in _words(one) for one in own) else (),
        )
        for paper, group in groupby(claims, lambda one: one.paper)
        for own in [tuple(group)]
    ]
    return html(TITLE, views, summary(claims))


def _row(one: Judged) -> RowView:
    texts = (f"“{one.sentence}” ({one.section})", _words(one))
    answers = (one.answer, one.reported_answer)
    cells = [CellView(answer, verdict=answer.replace(" ", "-")) for answer in answers]
    label = f"{one.name} [{one.part}]" if one.part else one.name
    return RowView(label, "result", (*cells, *(CellView(text, verdict="text") for text in texts)))


def printed(claims: Iterable[Judged]) -> Iterator[str]:
    """Yield the lines of each claim for the terminal: answers, sentence, numbers."""
    for one in claims:
        against = AGAINST if one.against else ""
        yield f"{one.full_name}: {one.answer}{against} (paper's cells: {one.reported_answer})"
        yield f"  “{one.sentence}” ({one.section})"
        theirs = () if one.reported_answer == NOT_PRINTED else one.reported_evidence
        for title, evidence in (("", one.evidence), ("paper: ", theirs)):
            more = f" and {len(evidence) - SHOWN} more" if len(evidence) > SHOWN else ""
            for at, fact in enumerate(evidence[:SHOWN]):
                end = more if at == SHOWN - 1 else ""
                yield f"    {title}{_with_basis(fact)}{end}"
        yield ""


def _words(one: Judged) -> str:
    """Return the numbers that decide our answer, and what their intervals are."""
    return f"{_joined(one.evidence)}{f' ({one.basis})' if one.basis else ''}"


def _joined(evidence: Iterable[Evidence]) -> str:
    return "; ".join(fact.text for fact in evidence)


def _with_basis(fact: Evidence) -> str:
    return f"{fact.text} ({fact.basis})" if fact.basis else fact.text
