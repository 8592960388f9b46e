"""Texts inside packages, without pairs: each language's sentences alone.

A task's sentences are its translations, cleaned by the rules of pairs; those of the task `messages`
are the English texts themselves. Duplicates and the split follow the sentence, not its translation.
"""

from collections import Counter
from pathlib import Path

from fathom.config.schema.dataset import PackageLineDataset
from fathom.data.clean import fault, line_fault, tidy
from fathom.data.package_texts import raw_pairs
from fathom.data.split import by_key, distinct
from fathom.data.texts import Line, Pair, TaskText


def read(files: dict[str, Path], dataset: PackageLineDataset) -> dict[str, TaskText[Line]]:
    """Read, clean and split the sentences of all tasks.

    Args:
        files: the file of each source.
        dataset: tasks, codes and rules.

    Raises:
        FathomError: a package lacks what a code names, or has something that cannot be read.
    """
    clean: dict[str, list[Line]] = {task: [] for task in dataset.tasks}
    dropped: dict[str, Counter[str]] = {task: Counter() for task in dataset.tasks}
    for task, raw in raw_pairs(files, dataset, dropped):
        pair = Pair(tidy(raw.text), tidy(raw.pivot))
        if task == dataset.messages:
            broken = line_fault(pair.text, dataset.cleaning)
        else:
            broken = fault(pair, dataset.cleaning)
        if broken:
            dropped[task][broken] += 1
        else:
            clean[task].append(Line(pair.text))
    texts = {}
    for task, all_lines in clean.items():
        lines = distinct(all_lines)
        dropped[task]["duplicate"] = len(all_lines) - len(lines)
        read = len(lines) + sum(dropped[task].values())
        texts[task] = TaskText(by_key(lines, dataset.split), read, dropped[task])
    return texts
