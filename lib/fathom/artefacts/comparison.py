"""The page of the comparison: every table in the paper's shape, with verdicts; and its summary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fathom.artefacts.table.comparison import ComparedTable, counts
from fathom.artefacts.table.formats import html
from fathom.artefacts.table.view import shown, view
from fathom.config.paper import Paper

TITLE = "Reported and reproduced"
AVERAGE = "avg"
DECIMALS = 2


def page(papers: Mapping[str, Paper], tables: Mapping[str, Sequence[ComparedTable]]) -> str:
    """Return the comparison as an HTML page.

    Args:
        papers: the papers by name.
        tables: the tables of each paper, in their order.
    """
    every = [table for of_paper in tables.values() for table in of_paper]
    views = [
        view(table, papers[name].reference, verdicts=True)
        for name, of_paper in tables.items()
        for table in of_paper
    ]
    return html(TITLE, views, _summary(every))


def averages(tables: Iterable[ComparedTable]) -> Iterator[str]:
    """Yield a line for each average that was reproduced: ours, the paper's and the verdict."""
    for table in tables:
        for item in table.cells:
            own = item.result
            if own.cell.column != AVERAGE or item.reported is None or own.value is None:
                continue
            ours = shown(own, DECIMALS).full
            theirs = item.reported.value or item.reported.outcome
            verdict = item.verdict.words if item.verdict else ""
            name = f"{table.table.paper} {table.table.name}"
            yield f"{name}  {own.cell.id}: {ours}, paper {theirs}, {verdict}"


def _summary(tables: Sequence[ComparedTable]) -> list[str]:
    """Return the page's first paragraphs: counts of verdicts, and what they mean."""
    verdicts = ", ".join(f"{count} {words}" for words, count in counts(tables).items())
    cells = sum(counts(tables).values())
    lines = [f"{cells} reported cells: {verdicts}."]
    if any(item.result.comparable for table in tables for item in table.cells):
        return lines
    return [*lines, "No run has the paper's own settings, so no cell is compared with the paper."]
