"""`fathom params`: the parameter counts that papers print, next to those of our networks."""

import json
from collections import Counter
from typing import Annotated, Any

import typer

from fathom.artefacts.parameters import NetworkSizes, PrintedCount, printed_counts
from fathom.cli.columns import print_columns
from fathom.cli.options import Json, Paper, Results, open_paths, open_project, papers_named, report
from fathom.config.paper import find
from fathom.config.spec import Spec

_HEADINGS = ("paper", "table", "cell", "printed", "ours", "difference", "verdict", "why")
_WORDS = {"agrees": "agree", "differs": "differ"}

Table = Annotated[str | None, typer.Option(help="A table, as <paper>_<table>. Default: all.")]


def params(
    paper: Paper = None, table: Table = None, as_json: Json = False, results: Results = None
) -> None:
    """Compare printed parameter counts with our networks.

    Networks are built without their tensors, at the papers' own settings; the
    folder of results keeps their sizes until the code changes. Each count agrees
    (within 1 %, or to the printed digits), is a known misprint, is unexplained,
    or differs.

    Example: fathom params lamgd
    """
    project = open_project()
    papers = papers_named(project, paper, "params")
    sizes = NetworkSizes(open_paths(project, None, results)[1].network_sizes, _count)
    chosen = find(project.papers, table, "table")[1] if table else None
    counts = [
        count
        for count in printed_counts(project)
        if count.paper in papers
        and (chosen is None or (count.paper, count.table) == (chosen.paper, chosen.name))
    ]
    lines = [_line(count, sizes) for count in counts]
    sizes.save()
    if as_json:
        print(json.dumps(lines, indent=1, allow_nan=False))
        return
    print_columns(_HEADINGS, map(_cells, lines))
    verdicts = Counter(line["verdict"] for line in lines)
    summary = ", ".join(f"{count} {_WORDS.get(word, word)}" for word, count in verdicts.items())
    if lines:
        report(f"{len(lines)} printed counts: {summary}")
    else:
        others = {f"{count.paper}_{count.table}" for count in printed_counts(project)}
        report(f"no parameter count is printed there; others: {', '.join(sorted(others))}")


def _line(count: PrintedCount, sizes: NetworkSizes) -> dict[str, Any]:
    """Return a printed count next to that of its network, as JSON shows it."""
    ours = _total(count, sizes)
    return {
        "paper": count.paper,
        "table": count.table,
        "row": count.cell.row,
        "column": count.cell.column,
        "run": count.spec.name,
        "printed_millions": float(count.cell.value),
        "counts_what_is_added": count.added_to is not None,
        "ours": ours,
        "difference": count.difference(ours),
        "verdict": count.verdict(ours),
        "right_millions": float(count.cell.right) if count.cell.right else None,
        "reason": count.reason or None,
        "source_entries": count.source_entries,
        "target_entries": count.target_entries,
    }


def _total(count: PrintedCount, sizes: NetworkSizes) -> int:
    entries = (count.source_entries, count.target_entries)
    total = sizes.total(count.spec, *entries)
    return total - sizes.total(count.added_to, *entries) if count.added_to else total


def _count(spec: Spec, source: int, target: int) -> dict[str, int]:
    from fathom.methods.build import count

    return count(spec.model, spec.method, len(spec.data.tasks), source, target)


def _cells(line: dict[str, Any]) -> list[str]:
    """Return a line's cells as text, one for each heading."""
    sign = "+" if line["counts_what_is_added"] else ""
    share = line["difference"]
    # Adding 0 takes the sign from a rounded −0.
    difference = "" if share is None else f"{round(100 * share, 2) + 0:+.2f} %"
    right, reason = line["right_millions"], line["reason"] or ""
    return [
        line["paper"],
        line["table"],
        f"{line['row']}, {line['column']}",
        f"{sign}{line['printed_millions']:g} M",
        f"{sign}{line['ours'] / 1e6:.3f} M",
        difference,
        line["verdict"],
        f"{right:g} M is meant" if right else reason,
    ]
