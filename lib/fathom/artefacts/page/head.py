"""The head of a page: the paper, the scale, what was run, and bars of verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.page.claims import bar as answers
from fathom.artefacts.page.cost import Cost
from fathom.artefacts.page.runs import Run
from fathom.artefacts.page.verdicts import Share, bar
from fathom.artefacts.table.comparison import ComparedTable
from fathom.config.paper import Paper


@dataclass(frozen=True)
class Head:
    """What a reader sees first.

    Attributes:
        title, authors, venue, url: of the paper.
        scale, scale_title: the scale, and what it cuts down.
        runs: how many runs tables and figures show.
        ended: how many of them have a training that has ended.
        trainings: how many trainings have ended.
        hours: of training, all devices.
        devices: on which.
        last: the day on which the last training ended; empty before the first.
        verdicts: how many printed cells have each verdict.
        learned: how many runs are below the unigram baseline.
        claims: how many parts of claims have each answer on our results.
        printed_claims: the same on the paper's own cells.
        nats: the least and the most by which they are; empty without one.
    """

    title: str
    authors: str
    venue: str
    url: str
    scale: str
    scale_title: str
    runs: int
    ended: int
    trainings: int
    hours: float
    devices: tuple[str, ...]
    last: str
    verdicts: tuple[Share, ...]
    learned: int
    nats: tuple[float, ...]
    claims: tuple[Share, ...]
    printed_claims: tuple[Share, ...]

    @property
    def cells(self) -> int:
        """How many cells the paper prints."""
        return sum(share.count for share in self.verdicts)

    @property
    def judged(self) -> int:
        """How many of them are compared with ours."""
        return sum(share.count for share in self.verdicts if share.sign.judged)


def head(
    paper: Paper,
    scale: tuple[str, str],
    tables: Mapping[str, ComparedTable],
    runs: Mapping[str, Run],
    costs: Sequence[Cost],
    claims: Sequence[Judged],
) -> Head:
    """Return the head of a paper's page.

    Args:
        paper: the paper.
        scale: its name and title.
        tables: the paper's tables.
        runs: the paper's runs.
        costs: what each device took.
        claims: the parts of its claims, judged.
    """
    about, ended = paper.about, [run for run in runs.values() if run.ended]
    files = [training.file for run in ended for training in run.ended]
    times = [str(file.attempts[-1].get("end", "")) for file in files if file and file.attempts]
    nats = sorted(run.below_unigram for run in ended if run.below_unigram is not None)
    venue = about.citation.booktitle or about.citation.journal or "Preprint"
    return Head(
        title=about.title,
        authors=", ".join(about.authors),
        venue=f"{venue}, {about.citation.year}",
        url=about.url,
        scale=scale[0],
        scale_title=scale[1].removeprefix(f"{scale[0]}: "),
        runs=len(runs),
        ended=len(ended),
        trainings=len(files),
        hours=sum(cost.hours for cost in costs),
        devices=tuple(cost.device for cost in costs),
        last=max(times, default="")[:10],
        verdicts=tuple(bar(cell for table in tables.values() for cell in table.cells)),
        learned=sum(run.learned for run in ended),
        nats=tuple(dict.fromkeys((nats[0], nats[-1]))) if nats else (),
        claims=answers(one.answer for one in claims),
        printed_claims=answers(one.reported_answer for one in claims),
    )
