"""Message catalogues (.po) inside wheels: the message is English, its translation is the task's."""

from pathlib import Path

from fathom.data.catalogues import catalogues, translations
from fathom.data.clean import fault, tidy
from fathom.data.split import by_key, distinct
from fathom.data.texts import Pair, TaskText
from fathom.runs.datasets import MessageDataset


def read(files: dict[str, Path], dataset: MessageDataset) -> dict[str, TaskText[Pair]]:
    """Read, clean and split the messages of all tasks.

    All sources' pairs of a task count as one text: duplicates are removed across sources.

    Args:
        files: the wheel of each source.
        dataset: tasks, codes and rules.

    Returns:
        Each task's text. A message with two plural forms counts as two pairs read.

    Raises:
        FathomError: a wheel has no catalogue for a code, or one that cannot be read.
    """
    texts: dict[str, TaskText[Pair]] = {task: TaskText({}) for task in dataset.tasks}
    clean: dict[str, list[Pair]] = {task: [] for task in dataset.tasks}
    for catalogue in catalogues(files, dataset):
        text = texts[catalogue.task]
        for pair in translations(catalogue, text.dropped, dataset.cleaning.equal_plurals == "both"):
            tidied = Pair(tidy(pair.text), tidy(pair.pivot))
            broken = fault(tidied, dataset.cleaning)
            if broken:
                text.dropped[broken] += 1
            else:
                clean[catalogue.task].append(tidied)
    for task, text in texts.items():
        pairs = distinct(clean[task])
        text.dropped["duplicate"] = len(clean[task]) - len(pairs)
        text.splits = by_key(pairs, dataset.split)
        text.read = len(pairs) + sum(text.dropped.values())
    return texts
