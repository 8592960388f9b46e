"""The text of a paper's runs: where it is from, its licences, its counts, and what is shared.

A test sentence that was trained on makes a score too good. So test sentences that are also in the
training text of their task are counted, by side and as pairs.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Needs
from fathom.config.paper import Paper
from fathom.config.schema.dataset import SPLITS
from fathom.io.commands import again
from fathom.io.errors import FathomError
from fathom.io.files import is_there
from fathom.io.records import Recorded, read_record

TRAIN, TEST = SPLITS[0], SPLITS[-1]
PAIR = "both sides"
_SIDES = ("language of the task", "second language of the task")  # where tasks differ
_OF_A_SOURCE = ("file", "licence", "bytes", "sha256")


def data_of(artefacts: Artefacts, paper: Paper, runs: Iterable[str]) -> list[dict[str, Any]]:
    """Return the data sets of a paper's runs and of its tables about text.

    `dataset` is the card, `replaces` names the paper's data set where this one takes its place, and
    `folder` is the corpus. Where that was prepared, it has `sources`, the files that text was taken
    from, `tasks` in the data set's order, `reasons` of dropped lines, and `sides`, on which test
    lines were looked for.

    Raises:
        FathomError: If a file of a corpus is damaged, or corpus.json lacks a key.
    """
    project, corpora = artefacts.project, []
    needs = Needs(project, artefacts.scale, papers=(paper.name,))
    names = dict.fromkeys(project.spec(run).data.dataset for run in runs)
    for artefact in needs.artefacts.values():
        names |= dict.fromkeys(artefact.corpora)
    for name in names:
        dataset = project.datasets[needs.dataset(name)]
        folder = artefacts.paths.corpus_named(dataset.corpus_folder(project.sources))
        path, sources, tasks = folder / "corpus.json", [], []
        if is_there(path):
            corpus = read_record(path)
            try:
                sources = [{key: row[key] for key in _OF_A_SOURCE} for row in corpus["sources"]]
                named = _sides([about["languages"] for about in corpus["tasks"].values()])
                tasks = [_task(task, about, named, path) for task, about in corpus["tasks"].items()]
            except KeyError as error:
                raise FathomError(f"no key {error}", str(path), again(path)) from None
        corpora.append(
            {
                "dataset": dataset,
                "replaces": "" if name == dataset.name else name,
                "folder": folder,
                "sources": sources,
                "tasks": tasks,
                "reasons": sorted({reason for task in tasks for reason in task["dropped"]}),
                "sides": [*dict.fromkeys(side for task in tasks for side in task["shared"])],
            }
        )
    return corpora


def _sides(languages: Iterable[list[str]]) -> list[str]:
    """Return what the sides of tasks are called: by the language that all tasks have there."""
    called = zip(_SIDES, zip(*languages, strict=True), strict=False)
    return [side[0] if len({*side}) == 1 else name for name, side in called]


def _task(task: str, about: Mapping[str, Any], sides: list[str], record: Path) -> dict[str, Any]:
    """Return the counts of a task by split, of dropped lines by reason, of shared ones by side."""
    counts = {
        split: next(count for unit, count in about["splits"][split].items() if unit != "words")
        for split in SPLITS
    }
    shared = _shared(task, about["languages"], sides, record)
    return {"name": task, "counts": counts, "dropped": about["dropped"], "shared": shared}


def _shared(task: str, languages: list[str], sides: list[str], record: Path) -> dict[str, int]:
    """Return how many test lines are in training, by side and as pairs; empty without text."""
    names = {
        split: [f"{task}/{split}.{language}" for language in languages] for split in (TRAIN, TEST)
    }
    recorded = Recorded.of(record)
    if not all(is_there(recorded.path(name)) for group in names.values() for name in group):
        return {}
    tests = [recorded.lines(name) for name in names[TEST]]
    # Training text may be too large for memory.
    counts = {
        side: _in_both(lines, recorded.stream(name))
        for side, lines, name in zip(sides, tests, names[TRAIN], strict=True)
    }
    if len(tests) > 1:
        trains = zip(*map(recorded.stream, names[TRAIN]), strict=True)
        counts[PAIR] = _in_both(list(zip(*tests, strict=True)), trains)
    return counts


def _in_both(test: list[Any], train: Iterable[Any]) -> int:
    """Return how many test lines are training lines too."""
    shared = set(test).intersection(train)
    return sum(line in shared for line in test)
