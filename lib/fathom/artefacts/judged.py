"""What papers print and what is judged without training: sizes of networks, and counts of text."""

from collections.abc import Iterable, Iterator, Sequence

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.parameters import PrintedCount, printed_counts
from fathom.artefacts.table.comparison import compare_table
from fathom.artefacts.table.verdicts import REPRODUCED, sign_of
from fathom.artefacts.table.view import label
from fathom.config.paper import Paper


def judged_today(artefacts: Artefacts, papers: Iterable[str]) -> str:
    """Return which printed counts of papers agree with ours; empty where none is printed."""
    project = artefacts.project
    named = [name for name in papers if not project.files.is_study(name)]
    counts = [(count, count.ours()) for count in printed_counts(project, [], named)]
    return judged_counts(counts, artefacts, [project.papers[name] for name in named])


def judged_counts(
    counts: Sequence[tuple[PrintedCount, int]], artefacts: Artefacts, papers: Iterable[Paper]
) -> str:
    """Return in a sentence what needs no training; empty where nothing of it is printed.

    `counts` are those of parameters, each with our number. Text counts where the papers' own was
    counted in the folder of results, at whatever scale.
    """
    verdicts: dict[str, list[tuple[PrintedCount, int]]] = {}
    for count, ours in counts:
        verdicts.setdefault(count.verdict(ours), []).append((count, ours))
    parts, agree = [], len(verdicts.pop("agrees", ()))
    several = len({count.paper for count, _ in counts}) > 1
    if counts:
        parts.append(f"{agree} of {len(counts)} printed parameter counts agree")
        parts += [_disagreeing(verdict, items, several) for verdict, items in verdicts.items()]
    words = [word for paper in papers for word in _text_verdicts(artefacts, paper)]
    if words:
        parts.append(f"text: {words.count(REPRODUCED)} of {len(words)} counts agree")
    return f"Judged without training: {'; '.join(parts)}." if parts else ""


def _disagreeing(verdict: str, items: Sequence[tuple[PrintedCount, int]], several: bool) -> str:
    """Return how many counts have a verdict, and of what is not explained the place and size.

    With `several` papers the place names the paper. What was found of them is a clause of its own.
    """
    if verdict == "misprint":
        return "1 is a misprint" if len(items) == 1 else f"{len(items)} are misprints"
    places: dict[str, dict[str, None]] = {}
    for count, _ in items:
        number = label(count.table, "").partition(" ·")[0]
        places.setdefault(count.paper, {})[number] = None
    named = (", ".join(tables) + f" of {paper}" * several for paper, tables in places.items())
    shares = [share for each, ours in items if (share := each.difference(ours)) is not None]
    findings = dict.fromkeys(each.finding for each, _ in items)
    unknown = verdict == "unexplained" and not all(findings)
    why = " for a reason that we do not know" if unknown else ""
    are = "is" if len(items) == 1 else "are"
    words = f"{len(items)} {are} {_off(shares)}{why} ({', '.join(named)})"
    return "; ".join((words, *filter(None, findings)))


def _off(shares: Sequence[float]) -> str:
    """Return by how much counts are off, as shares of the printed ones, in percent."""
    percent = sorted(100 * share for share in shares)
    ends = (*percent[:1], *percent[-1:])
    if ends and all(end < 0 for end in ends):
        numbers, side = [f"{-end:.1f}" for end in reversed(ends)], "below the printed size"
    else:
        numbers, side = [f"{end:+.1f}" for end in ends], "off"
    return f"{' to '.join(dict.fromkeys(numbers)) or '0'} % {side}"


def _text_verdicts(artefacts: Artefacts, paper: Paper) -> Iterator[str]:
    """Yield the verdicts on a paper's printed counts of text, where its own text was counted."""
    for table in paper.tables.values():
        every = artefacts.project.cells(table)
        cells = [cell for cell in every if cell.kind == "corpus"]
        sources = {cell.source: artefacts.corpus(cell.source, cell.source) for cell in cells}
        printed = paper.printed(table.name, every) if cells else ()
        for item in compare_table(table, cells, printed, sources, artefacts.scale).cells:
            if item.verdict and sign_of(item.verdict).judged:
                yield item.verdict.words
