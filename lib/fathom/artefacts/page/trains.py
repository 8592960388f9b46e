"""The claims about what trains: how those runs ended here, and what does not follow from it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from fathom.artefacts.claims.judged import Judged
from fathom.artefacts.claims.language import Reference, outcomes
from fathom.artefacts.claims.names import places
from fathom.artefacts.page.runs import PageRun
from fathom.artefacts.page.tables import PageTable, minus
from fathom.artefacts.table.view import ShownCell, label
from fathom.results.measurements import FINISHED
from fathom.results.training_record import in_tf32

TRAINED = "trained"
# What a training that did not diverge says nothing beyond, by the headings of the page.
BOUNDS = ("depth", "width", "updates", "learning rate", "precision")


@dataclass(frozen=True)
class Trainability:
    """A claim that asks whether runs trained or failed."""

    parts: tuple[Judged, ...]
    runs: Mapping[str, PageRun]  # by table and row, with the depth here where it is another
    facts: Mapping[str, Mapping[str, str]]  # the same runs: texts by the headings of the page

    @property
    def ended(self) -> tuple[str, ...]:
        """The runs of which a training has ended."""
        return tuple(name for name, run in self.runs.items() if run.ended)

    @property
    def not_concluded(self) -> Iterator[str]:
        """What a reader must not conclude from the runs that have ended."""
        if not all(self.runs[name].source.comparable for name in self.ended):
            yield "that a cell of the paper is reproduced or refuted (runs have other settings)"
        trained = [self.facts[name] for name in self.ended if TRAINED in self.facts[name]["here"]]
        if trained:
            limits = (
                f"{each} {'; '.join({facts[each]: 0 for facts in trained})}" for each in BOUNDS
            )
            yield f"that these networks would train, too, beyond {', '.join(limits)}"
        if single := [name for name in self.ended if len(self.runs[name].ended) == 1]:
            each = "; ".join(single) if len(single) < len(self.ended) else "each row"
            yield f"anything from one seed ({each})"


def trainability(claims: Sequence[Judged], tables: Iterable[PageTable]) -> Iterator[Trainability]:
    """Yield the claims that ask whether runs trained or failed, in their order."""
    by_name = {table.spec.name: table for table in tables}
    for _, group in groupby(claims, lambda part: part.name):
        parts, runs, facts = tuple(group), dict[str, PageRun](), dict[str, dict[str, str]]()
        for asked in (asked for part in parts for asked in outcomes(part.expression)):
            if (table := by_name.get(asked.table)) is None:
                continue
            for name, cell in _cells(table, asked):
                run, reported = table.runs[cell.item.result.cell.source], cell.item.reported
                if run not in runs.values():
                    printed = reported and (TRAINED if reported.value else reported.outcome)
                    runs[name] = run
                    facts[name] = {"paper": printed or "not printed"} | _facts(run)
        if runs:
            yield Trainability(parts, runs, facts)


def _cells(table: PageTable, asked: Reference) -> Iterator[tuple[str, ShownCell]]:
    """Yield the cells that are meant, with what to call their runs."""
    cells = [cell.item.result.cell for cell in table.cells]
    meant = {*places(asked, cells)}
    for shown, cell in zip(table.cells, cells, strict=True):
        if (cell.id, cell.column) in meant and cell.kind == "run":
            several = len({each.source for each in cells if each.id == cell.id} - {""}) > 1
            number = label(asked.table, "").partition(" · ")[0]
            yield f"{number}: {shown.name}{f', {shown.column}' if several else ''}", shown


def _facts(run: PageRun) -> dict[str, str]:
    """Return how the trainings of a run ended and with which settings, from their records."""
    files = [training.file for training in run.ended if training.file]
    kinds = Counter(file.outcome.kind for file in files)
    words = (
        f"{count} {TRAINED if kind == FINISHED else kind.replace('_', ' ')}"
        for kind, count in kinds.items()
    )
    updates = sorted(file.outcome.update for file in files)
    tf32 = ", TF32" if any(in_tf32(file.device) for file in files) else ""
    return {
        "here": f"{', '.join(words)} of {len(run.trainings)}" if files else run.source.missing(),
        "nats below unigram": minus(f"{nats:.2f}") if (nats := run.below_unigram) else "",
        "depth": run.source.layers,
        "width": str(run.spec.model.width),
        "updates": " to ".join({f"{each:,}": 0 for each in (*updates[:1], *updates[-1:])}),
        "learning rate": f"{run.highest_rate:.3g}" if run.highest_rate else "",
        "precision": run.spec.training.precision + tf32,
    }
