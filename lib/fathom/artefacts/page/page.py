"""One HTML file for a paper: tables, figures, curves, claims, deviations, data, cost, citation.

The file needs no network, and no other file but those that its links name.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from fathom.artefacts import deviations
from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.page.claims import OBSERVED, answer_bar, page_claims
from fathom.artefacts.page.data import data_of
from fathom.artefacts.page.figures import page_figures, table_curves
from fathom.artefacts.page.runs import (
    ASSUMPTION,
    PageRun,
    TrainingCost,
    costs,
    costs_by_device,
    runs_of,
)
from fathom.artefacts.page.tables import Detail, PageTable, details, minus, spoken
from fathom.artefacts.rendering import environment
from fathom.artefacts.table.comparison import ComparedTable
from fathom.artefacts.table.verdicts import BarShare, bar, sign_of
from fathom.artefacts.table.view import ShownCell, label, place
from fathom.config.paper import Paper
from fathom.config.schema.paper import PaperSettings


def page(
    artefacts: Artefacts,
    paper: Paper,
    tables: Mapping[str, ComparedTable],
    claims: Sequence[Judged],
) -> str:
    """Return the page of a paper, made of the results that exist.

    Args:
        artefacts: where all files are.
        paper: the paper.
        tables: its tables by name, compared with what it reports.
        claims: the parts of its claims, judged.

    Raises:
        FathomError: If a file of a training, a measurement or a corpus cannot be used.
    """
    scale = artefacts.project.scale(artefacts.scale)
    runs = runs_of(artefacts, paper, tables)
    shown = [PageTable(table, runs) for table in tables.values()]
    devices = costs_by_device(runs.values())
    home = artefacts.paths.page(paper.name).parent
    # Each cell with its table and details, by the run or corpus that it shows.
    cells: dict[str, list[tuple[PageTable, ShownCell, list[Detail]]]] = {}
    for table in shown:
        for cell in table.cells:
            lines = details(cell, table.compared, scale.title)
            cells.setdefault(cell.item.result.cell.source, []).append((table, cell, lines))
    templates = environment(autoescape=True)
    templates.filters |= {
        "minus": minus,
        "spoken": spoken,
        "place": place,
        "number": lambda spec: label(spec.name, "").partition(" · ")[0],
    }
    return templates.get_template("page.html").render(
        head=head(tables, runs, devices, claims),
        scale=artefacts.scale,
        scale_title=scale.title.removeprefix(f"{artefacts.scale}: "),
        paper=paper,
        tables=shown,
        cells=cells,
        runs=runs,
        figures=page_figures(artefacts, paper, runs),
        curves=table_curves(artefacts, shown, runs),
        claims=page_claims(claims),
        observed=OBSERVED,
        data=data_of(artefacts, paper, runs),
        costs=costs(runs.values()),
        devices=devices,
        assumption=ASSUMPTION,
        deviation_parts=deviations.PARTS,
        deviation_fragment=deviations.fragment,
        bibtex=bibtex(paper.about),
        software=software(artefacts.scale, runs.values()),
        link=lambda path: link(path, home),
        inside=lambda path: path.relative_to(artefacts.paths.results).as_posix(),
    )


@dataclass(frozen=True)
class Head:
    """What a reader sees first."""

    runs: int  # that tables and figures show
    ended: int  # of them, those of which a training has ended
    trainings: int  # that have ended
    hours: float  # of training, all devices
    devices: tuple[str, ...]
    last: str  # the day on which the last training ended; empty before the first
    verdicts: tuple[BarShare, ...]  # how many printed cells have each verdict
    learned: int  # how many runs are below the unigram baseline
    nats: tuple[float, ...]  # the least and the most by which they are; empty without one
    claims: tuple[BarShare, ...]  # how many parts of claims have each answer on our results
    printed_claims: tuple[BarShare, ...]  # the same on the paper's own cells

    @property
    def cells(self) -> int:
        """How many cells the paper prints."""
        return sum(share.count for share in self.verdicts)

    @property
    def judged(self) -> int:
        """How many of them are compared with ours."""
        return sum(share.count for share in self.verdicts if share.sign.judged)


def head(
    tables: Mapping[str, ComparedTable],
    runs: Mapping[str, PageRun],
    costs: Sequence[TrainingCost],
    claims: Sequence[Judged],
) -> Head:
    """Return the head of a paper's page; costs are those of each device."""
    ended = [run for run in runs.values() if run.ended]
    files = [training.file for run in ended for training in run.ended]
    times = [str(file.attempts[-1].get("end", "")) for file in files if file and file.attempts]
    nats = sorted(run.below_unigram for run in ended if run.below_unigram is not None)
    verdicts = [item.verdict for table in tables.values() for item in table.cells if item.verdict]
    return Head(
        runs=len(runs),
        ended=len(ended),
        trainings=len(files),
        hours=sum(cost.hours for cost in costs),
        devices=tuple(cost.device for cost in costs),
        last=max(times, default="")[:10],
        verdicts=bar(map(sign_of, verdicts)),
        learned=sum(run.learned for run in ended),
        nats=tuple(dict.fromkeys((nats[0], nats[-1]))) if nats else (),
        claims=answer_bar(claim.answer for claim in claims),
        printed_claims=answer_bar(claim.reported_answer for claim in claims),
    )


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
    commits = sorted({file.commit[:12] for file in files if file and file.commit})
    sources = f", trained by commit {', '.join(commits)}" if commits else ""
    return f"fathom {version('fathom')}, scale {scale}{sources}"


def link(path: Path, home: Path) -> str:
    """Return the address of a file of the results from the page's folder."""
    return quote(Path(os.path.relpath(path, home)).as_posix())
