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
from fathom.artefacts.page.runs import Run
from fathom.config.paper import Paper
from fathom.config.schema.dataset import SPLITS
from fathom.io.integrity import Recorded, read_record

TRAIN, TEST = SPLITS[0], SPLITS[-1]
PAIR = "both sides"


@dataclass(frozen=True)
class TaskData:
    """A task: its pairs or sentences by split, how many lines were dropped, and why.

    Attributes:
        name: what the task is called.
        counts: by split.
        dropped: by reason.
        shared: test lines that training has too, by what is compared; None without the text.
    """

    name: str
    counts: dict[str, int]
    dropped: dict[str, int]
    shared: dict[str, int] | None

    @property
    def reasons(self) -> str:
        """Why lines were dropped, in words."""
        parts = (f"{name.replace('_', ' ')} {count:,}" for name, count in self.dropped.items())
        return "; ".join(parts)


@dataclass(frozen=True)
class Overlap:
    """A row: which side is compared, and for each task how many test lines training has too."""

    side: str
    counts: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """A data set as it was prepared.

    Attributes:
        name, title, citation, licence: of its card.
        replaces: the paper's data set where this one takes its place; else empty.
        folder: of the corpus.
        unit: what is counted: pairs or sentences.
        sources: file, licence, bytes and sha256 of each source.
        tasks: in the data set's order; none before it is prepared.
    """

    name: str
    title: str
    citation: str
    licence: str
    replaces: str
    folder: Path
    unit: str
    sources: tuple[dict[str, Any], ...]
    tasks: tuple[TaskData, ...]

    @property
    def overlap(self) -> list["Overlap"]:
        """What test and training share; nothing where the text is not here."""
        sides = dict.fromkeys(side for task in self.tasks for side in task.shared or ())
        # Pairs come last, also where tasks have different languages.
        ordered = sorted(sides, key=lambda side: side == PAIR)
        return [Overlap(side, tuple(_share(task, side) for task in self.tasks)) for side in ordered]


def _share(task: TaskData, side: str) -> str:
    count = (task.shared or {}).get(side)
    return "" if count is None else f"{count:,} ({count / max(task.counts[TEST], 1):.1%})"


def data_of(artefacts: Artefacts, paper: Paper, runs: Mapping[str, Run]) -> list[Data]:
    """Return the data sets of a paper's runs and of its tables about text.

    Raises:
        FathomError: a file of a corpus is damaged.
    """
    project, scale = artefacts.project, artefacts.scale
    needs = Needs(project, scale)
    own = (project.spec(name).data.dataset for name in runs)
    papers = {name: needs.dataset(name) for name in own}
    for artefact in needs.artefacts.values():
        if artefact.paper.name == paper.name:
            papers |= {name: needs.dataset(name) for name in artefact.corpora}
    return [_data(artefacts, here, "" if here == name else name) for name, here in papers.items()]


def _data(artefacts: Artefacts, name: str, replaces: str) -> Data:
    dataset = artefacts.project.datasets[name]
    folder = artefacts.paths.corpus_named(dataset.corpus_folder(artefacts.project.sources))
    path = folder / "corpus.json"
    corpus: dict[str, Any] = {"sources": [], "tasks": {}}
    if path.is_file():
        corpus = read_record(path)
    return Data(
        name=name,
        title=dataset.title,
        citation=dataset.citation,
        licence=dataset.licence,
        replaces=replaces,
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
    asked = [*map(set, zip(*test, strict=True)), set(test)]
    known: list[set[Any]] = [set() for _ in asked]
    for pair in zip(*(recorded.stream(name) for name in names[TRAIN]), strict=True):
        for lines, own, line in zip(asked, known, (*pair, pair), strict=False):
            if line in lines:
                own.add(line)
    shared = [*zip(*test, strict=True), test]
    counts = [sum(line in own for line in lines) for lines, own in zip(shared, known, strict=True)]
    sides = [*languages, *([PAIR] if len(names[TEST]) > 1 else [])]
    return dict(zip(sides, counts, strict=False))
