"""One HTML file for a paper: tables, figures, curves, claims, deviations, data, cost, citation.

The file needs no network, and no other file but those that its links name.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.curves import curve, draw, run_labels
from fathom.artefacts.figures import drawing, kinds
from fathom.artefacts.page.data import data_of
from fathom.artefacts.page.runs import (
    PageRun,
    TrainingCost,
    costs,
    runs_of,
    shared_deviations,
    usual_facts,
)
from fathom.artefacts.page.tables import PageTable, minus, point
from fathom.artefacts.rendering import environment
from fathom.artefacts.table.comparison import AGAINST, ComparedTable
from fathom.artefacts.table.sources import MISSING, NOT_RUN
from fathom.artefacts.table.verdicts import Sign, bar, sign_of
from fathom.artefacts.table.view import ShownCell, label, place
from fathom.config.paper import Paper
from fathom.config.schema.paper import PaperSettings
from fathom.config.spec import full_name

# Answers of claims, in the order of a bar.
ANSWERS = {
    "holds": "●",
    "inconclusive": "◐",
    "fails": "✕",
    "undecided": "◇",
    "not printed": "○",
    "not run": "–",
}


def page(
    artefacts: Artefacts,
    paper: Paper,
    tables: Mapping[str, ComparedTable],
    claims: Sequence[Judged],
    today: str = "",
    making: Mapping[str, str] | None = None,
) -> str:
    """Return the page of a paper, made of the results that exist.

    Args:
        artefacts: where all files are.
        paper: the paper.
        tables: its tables by name, compared with what it reports.
        claims: the parts of its claims, judged.
        today: what is judged of it without training; empty where nothing is.
        making: what it takes to make a table or figure, by its name; None where nobody asked.

    Raises:
        FathomError: If a file of a training, a measurement or a corpus cannot be used.
    """
    title = artefacts.project.scale(artefacts.scale).title.removeprefix(f"{artefacts.scale}: ")
    runs = runs_of(artefacts, paper, tables)
    ended = {name: run for name, run in runs.items() if run.ended}
    shown = [PageTable(table, runs) for table in tables.values()]
    # What ran comes first; of equal shares, in the paper's order.
    ran = sorted((table for table in shown if table.ended), key=lambda table: -table.ended)
    # Cells by the run or corpus that they show, then by table and row.
    panels: dict[str, dict[str, tuple[PageTable, list[ShownCell]]]] = {name: {} for name in ended}
    for table in ran:
        for cell in filter(table.has_details, table.cells):
            groups = panels.setdefault(cell.item.result.cell.source, {})
            row = f"{table.spec.name}/{cell.item.result.cell.row}"
            groups.setdefault(row, (table, []))[1].append(cell)
    short = {name: name.removeprefix(f"{paper.name}/") for name in ended}
    links = {name: f"#run-{run.replace('/', '-')}" for name, run in short.items()}
    figures = page_figures(artefacts, paper, runs)
    by_name = [list(parts) for _, parts in groupby(claims, lambda part: part.name)]
    devices = [*costs(training for run in runs.values() for training in run.ended)]
    home = artefacts.paths.page(paper.name).parent
    templates = environment(autoescape=True)
    templates.filters |= {
        "minus": minus,
        "point": point,
        "place": place,
        "number": lambda spec: label(spec.name, "").partition(" · ")[0].capitalize(),
        "sign": answer_sign,
        "bar": answer_bar,
        "spans": spans,
    }
    return templates.get_template("page.html").render(
        head=head(tables, runs, devices, claims),
        today=today,
        scale=artefacts.scale,
        # What follows a semicolon is about the papers' text.
        scale_title=title.partition("; ")[0] if paper.is_study else title,
        paper=paper,
        study=paper.is_study,
        against=AGAINST,
        tables=ran,
        gains=[table for table in ran if table.gains],
        figures=[figure for figure in figures if figure["picture"]],
        tables_not_run=[table for table in shown if not table.ended],
        figures_not_run=[figure for figure in figures if not figure["picture"]],
        making=making or {},
        panels=panels,
        runs=runs,
        links=links,
        usual=usual_facts(ended.values()),
        shared=shared_deviations(ended.values()),
        curves=table_curves(ran, runs),
        claims=by_name,
        claims_not_run=[
            parts for parts in by_name if all(part.answer == NOT_RUN for part in parts)
        ],
        data=data_of(artefacts, paper, runs),
        devices=devices,
        bibtex="" if paper.is_study else bibtex(paper.about),
        software=software(artefacts.scale, runs.values()),
        link=lambda path: link(path, home),
        inside=lambda path: path.relative_to(artefacts.paths.results).as_posix(),
        command=lambda spec: artefacts.paths.target(f"{paper.name}_{spec.name}"),
    )


def head(
    tables: Mapping[str, ComparedTable],
    runs: Mapping[str, PageRun],
    costs: Sequence[TrainingCost],
    claims: Sequence[Judged],
) -> dict[str, Any]:
    """Return what a reader of a page sees first; costs are those of each device."""
    ended = [run for run in runs.values() if run.ended]
    files = [training.file for run in ended for training in run.ended]
    times = [str(file.attempts[-1].get("end", "")) for file in files if file and file.attempts]
    nats = sorted(run.below_unigram for run in ended if run.learned and run.below_unigram)
    cells = [item for table in tables.values() for item in table.cells if item.verdict]
    verdicts = bar(sign_of(item.verdict) for item in cells if item.verdict)
    # Runs that ended here and failed in the paper, by whether they have a number here.
    failed: dict[str, bool] = {}
    for item in cells:
        of, ended_here = item.result.cell.source, not item.result.words.startswith(MISSING)
        if of and ended_here and item.reported and item.reported.outcome:
            failed[of] = failed.get(of, False) or item.turned
    return {
        "runs": len(runs),  # that tables and figures show
        "ended": len(ended),  # of them, those of which a training has ended
        "trainings": len(files),
        "hours": sum(cost.hours for cost in costs),
        "devices": [cost.device for cost in costs],
        "last": max(times, default="")[:10],  # the day on which the last training ended
        "cells": len(cells),  # that the paper prints
        "judged": sum(count for sign, count in verdicts.items() if sign.judged),
        "verdicts": verdicts,
        "learned": sum(run.learned for run in ended),
        "nats": [*dict.fromkeys((nats[0], nats[-1]))] if nats else [],  # below the unigram baseline
        "failed": len(failed),
        "trained": sum(failed.values()),
        "claims": answer_bar(claim.answer for claim in claims),
    }


def page_figures(
    artefacts: Artefacts, paper: Paper, runs: Mapping[str, PageRun]
) -> list[dict[str, Any]]:
    """Return a paper's figures with their pictures, drawn from what exists."""
    figures = []
    for figure in paper.figures.values():
        names = {full_name(paper.name, run): None for run in figure.settings.runs}
        for table in figure.settings.tables:
            cells = artefacts.cells(paper.tables[table])
            names |= {cell.source: None for cell in cells if cell.kind == "run"}
        missing = [runs[name].short_name for name in names if not runs[name].ended]
        picture, notes = None, []
        if len(missing) < len(names):
            picture, notes = kinds.pictures(figure, artefacts.inputs(paper, figure))
        csv = artefacts.stem(paper, figure).with_suffix(".csv")
        written = csv if csv.is_file() else None
        figures.append(
            {
                "spec": figure,
                "picture": picture,
                "notes": notes,
                "ended": [name for name in names if runs[name].ended],
                "missing": missing,
                "csv": written,
            }
        )
    return figures


def table_curves(tables: Iterable[PageTable], runs: Mapping[str, PageRun]) -> list[dict[str, Any]]:
    """Return the curves of the tables' runs, each in the first table that shows it."""
    above: set[str] = set()
    groups = []
    for table in tables:
        names = run_labels(cell.item.result.cell for cell in table.cells)
        curves = [curve(names[name], runs[name].source) for name in names if name not in above]
        lost = [note for each in curves for note in each.lost]
        if started := [each for each in curves if each.seeds]:
            picture = drawing.pictures(partial(draw, started))
            groups.append({"table": table, "curves": started, "picture": picture, "lost": lost})
        above.update(names)
    return groups


def answer_sign(answer: str) -> Sign:
    """Return how the answer of a claim is shown."""
    return Sign(answer.replace(" ", "-"), ANSWERS[answer], answer)


def answer_bar(answers: Iterable[str]) -> dict[Sign, int]:
    """Return how many answers there are of each kind."""
    return bar(map(answer_sign, answers), tuple(ANSWERS))


def spans(some: Iterable[Any], listed: Sequence[Any]) -> list[str]:
    """Return the numbers of some in a list, which has them in this order; neighbours as a span."""
    texts, numbers = [], (listed.index(each) + 1 for each in some)
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        first, *rest = (number for _, number in group)
        texts += [f"{first}–{rest[-1]}"] if len(rest) > 1 else map(str, (first, *rest))
    return texts


def bibtex(about: PaperSettings) -> str:
    """Return the BibTeX entry of a paper."""
    fields = about.citation.fields()
    kind, key = fields.pop("type"), fields.pop("key")
    entry = {"title": f"{{{about.title}}}", "author": " and ".join(about.authors), **fields}
    entry["url"] = about.url
    width = max(map(len, entry))
    lines = [f"  {name:{width}} = {{{value}}}," for name, value in entry.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def software(scale: str, runs: Iterable[PageRun]) -> str:
    """Return what to cite of the reproduction: version, commits and scale."""
    files = [training.file for run in runs for training in run.ended]
    commits = sorted({file.commit_words for file in files if file and file.commit_words})
    sources = f", trained by commit {', '.join(commits)}" if commits else ""
    return f"fathom {version('fathom')}, scale {scale}{sources}"


def link(path: Path, home: Path) -> str:
    """Return the address of a file of the results from the page's folder."""
    return quote(Path(os.path.relpath(path, home)).as_posix())
