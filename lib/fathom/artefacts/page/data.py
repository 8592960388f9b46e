"""The text of a paper's runs: where it is from, its licences, its counts, and what is shared.

A test sentence that was trained on makes a score too good. So test sentences that are also in the
training text of their task are counted, by side and as pairs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Needs
from fathom.artefacts.page.runs import PageRun
from fathom.config.paper import Paper
from fathom.config.schema.dataset import SPLITS
from fathom.io.records import Recorded, read_record

TRAIN, TEST = SPLITS[0], SPLITS[-1]
PAIR = "both sides"


@dataclass(frozen=True)
class TaskData:
    """A task: its pairs or sentences by split, how many lines were dropped, and why."""

    name: str
    counts: dict[str, int]  # by split
    dropped: dict[str, int]  # by reason
    shared: dict[str, int] | None  # test lines that training has too, by side; None without text

    @property
    def reasons(self) -> str:
        """Why lines were dropped, in words."""
        parts = (f"{name.replace('_', ' ')} {count:,}" for name, count in self.dropped.items())
        return "; ".join(parts)


@dataclass(frozen=True)
class PageData:
    """A data set as it was prepared."""

    name: str  # of its card, as the next three
    title: str
    citation: str
    licence: str
    replaces: str  # the paper's data set where this one takes its place; else empty
    folder: Path  # of the corpus
    unit: str  # what is counted: pairs or sentences
    sources: tuple[Mapping[str, Any], ...]  # the files that text was taken from, as recorded
    tasks: tuple[TaskData, ...]  # in the data set's order; none before it is prepared

    @property
    def overlap(self) -> dict[str, tuple[str, ...]]:
        """How many test lines of each task training has too, by side; empty without the text."""
        sides = dict.fromkeys(side for task in self.tasks for side in task.shared or ())
        # Pairs come last, also where tasks have different languages.
        ordered = sorted(sides, key=lambda side: side == PAIR)
        return {side: tuple(_share(task, side) for task in self.tasks) for side in ordered}


def data_of(artefacts: Artefacts, paper: Paper, runs: Mapping[str, PageRun]) -> list[PageData]:
    """Return the data sets of a paper's runs and of its tables about text.

    Raises:
        FathomError: If a file of a corpus is damaged.
    """
    needs = Needs(artefacts.project, artefacts.scale)
    names = dict.fromkeys(artefacts.project.spec(run).data.dataset for run in runs)
    for artefact in needs.artefacts.values():
        if artefact.paper.name == paper.name:
            names |= dict.fromkeys(artefact.corpora)
    return [_data(artefacts, needs.dataset(name), name) for name in names]


def _data(artefacts: Artefacts, name: str, in_paper: str) -> PageData:
    dataset = artefacts.project.datasets[name]
    folder = artefacts.paths.corpus_named(dataset.corpus_folder(artefacts.project.sources))
    path = folder / "corpus.json"
    corpus = read_record(path) if path.is_file() else {"sources": [], "tasks": {}}
    return PageData(
        name=name,
        title=dataset.title,
        citation=dataset.citation,
        licence=dataset.licence,
        replaces="" if name == in_paper else in_paper,
        folder=folder,
        unit="pairs" if dataset.pivot or dataset.translates else "sentences",
        sources=tuple(corpus["sources"]),
        tasks=tuple(
            _task(str(dataset.shown_as.get(task, task)), task, about, path)
            for task, about in corpus["tasks"].items()
        ),
    )


def _task(called: str, task: str, about: Mapping[str, Any], record: Path) -> TaskData:
    counts = {
        split: next(n for unit, n in about["splits"][split].items() if unit != "words")
        for split in SPLITS
    }
    return TaskData(called, counts, about["dropped"], _shared(task, about["languages"], record))


def _share(task: TaskData, side: str) -> str:
    count = (task.shared or {}).get(side)
    return "" if count is None else f"{count:,} ({count / max(task.counts[TEST], 1):.1%})"


def _shared(task: str, languages: Iterable[str], record: Path) -> dict[str, int] | None:
    """Return how many test lines are in training, by language and as pairs; None without text."""
    names = {
        split: [f"{task}/{split}.{language}" for language in languages] for split in (TRAIN, TEST)
    }
    recorded = Recorded.of(record)
    if not all(recorded.path(name).is_file() for group in names.values() for name in group):
        return None
    test = list(zip(*(recorded.lines(name) for name in names[TEST]), strict=True))
    # Training text may be too large for memory: it is read past the test lines.
    wanted = [*map(set, zip(*test, strict=True)), set(test)]
    found: list[set[Any]] = [set() for _ in wanted]
    for pair in zip(*(recorded.stream(name) for name in names[TRAIN]), strict=True):
        for lines, present, line in zip(wanted, found, (*pair, pair), strict=False):
            if line in lines:
                present.add(line)
    shared = [*zip(*test, strict=True), test]
    counts = [
        sum(line in present for line in lines) for lines, present in zip(shared, found, strict=True)
    ]
    sides = [*languages, *([PAIR] if len(names[TEST]) > 1 else [])]
    return dict(zip(sides, counts, strict=False))
