"""Message catalogues (.po) inside wheels: the message is English, its translation is the task's."""

from pathlib import Path

from fathom.config.schema.dataset import MessageDataset
from fathom.data.catalogues import catalogues, translations
from fathom.data.pairs import Pairs
from fathom.data.texts import Pair, TaskText


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
    pairs, both = Pairs(dataset.tasks, dataset.cleaning), dataset.cleaning.equal_plurals == "both"
    for catalogue in catalogues(files, dataset):
        for pair in translations(catalogue, pairs.dropped[catalogue.task], both):
            pairs.add(catalogue.task, pair)
    return pairs.split(dataset.split)
