"""What a prepared corpus must fulfil, and the figures that are kept about it."""

import re
from collections.abc import Iterator
from itertools import combinations

from fathom.data.texts import TaskText
from fathom.errors import FathomError
from fathom.runs.datasets import SPLITS, Dataset

_PRINTED = re.compile(r"(\d+)(?:\.(\d+))?k")


def fits(count: int, expected: int | str) -> bool:
    """Return whether a count is the expected one, to the digits in which that is given.

    Papers cut off as often as they round, so "5.94k" holds for 5,931 to 5,949: within one unit of
    the last printed digit.

    Args:
        count: the number of pairs.
        expected: a whole number, or thousands as papers print them.
    """
    if isinstance(expected, int):
        return count == expected
    whole, decimals = _PRINTED.fullmatch(expected).groups(default="")
    unit = 10 ** (3 - len(decimals))
    return abs(count - int(whole + decimals) * unit) < unit


def drift(dataset: Dataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each count that is not the expected one.

    Args:
        dataset: the data set, with what it expects.
        texts: what came out.
    """
    for task in dataset.task_names:
        for split in SPLITS:
            count, expected = len(texts[task].splits[split]), dataset.expected[task][split]
            if not fits(count, expected):
                yield FathomError(
                    f"task {task}, split {split}: {count} pairs, expected {expected}",
                    f"config/datasets/{dataset.name}.yaml: expected.{task}.{split}",
                    "the text has drifted: correct the source or a rule, or the counts if the "
                    "change is meant",
                )


def alike(texts: dict[str, TaskText]) -> dict[tuple[str, str], float]:
    """Return for each two tasks the share of the smaller one's sentences that both have.

    Args:
        texts: the tasks' text; only their own side counts, each sentence once.
    """
    sentences = {
        task: {pair.text for pairs in text.splits.values() for pair in pairs}
        for task, text in texts.items()
    }
    return {
        (one, other): len(sentences[one] & sentences[other])
        / max(min(len(sentences[one]), len(sentences[other])), 1)
        for one, other in combinations(texts, 2)
    }


def same_text(dataset: Dataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each two tasks whose own sides are the same text under two names.

    Args:
        dataset: the data set, with the share from which on text counts as the same.
        texts: what came out.
    """
    for (one, other), share in alike(texts).items():
        if share > dataset.max_alike:
            yield FathomError(
                f"tasks {one} and {other} share {share:.1%} of their sentences",
                f"config/datasets/{dataset.name}.yaml: max_alike",
                f"correct the codes of {one} and {other}: one has the other's text",
            )


def figures(text: TaskText, languages: tuple[str, str]) -> dict[str, object]:
    """Return the counts of one task: pairs, words a side, what was read and dropped.

    Args:
        text: the task's text.
        languages: its own language and the pivot.
    """
    splits = {
        split: {
            "pairs": len(pairs),
            "words": {
                language: sum(len(pair[side].split()) for pair in pairs)
                for side, language in enumerate(languages)
            },
        }
        for split, pairs in text.splits.items()
    }
    dropped = {rule: count for rule, count in text.dropped.items() if count}
    return {"languages": list(languages), "read": text.read, "dropped": dropped, "splits": splits}
