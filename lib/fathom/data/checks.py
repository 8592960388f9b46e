"""Checks of a prepared corpus: expected counts, and no text under two names."""

from collections.abc import Iterator
from itertools import combinations

from fathom.data.texts import TaskText
from fathom.errors import FathomError
from fathom.runs.datasets import SPLITS, BuiltDataset


def count_matches(count: int, expected: int | str) -> bool:
    """Return whether a count is the expected one, to the digits in which that is given.

    Papers round or cut off, so "5.94k" holds for 5,931 to 5,949: within one unit of the last
    printed digit.

    Args:
        count: a number of sentences.
        expected: a whole number, or thousands as papers print them.
    """
    if isinstance(expected, int):
        return count == expected
    integer, _, decimals = expected.removesuffix("k").partition(".")
    unit = 10 ** (3 - len(decimals))
    return abs(count - int(integer + decimals) * unit) < unit


def unexpected_counts(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each count that is not the expected one.

    Args:
        dataset: the data set, with what it expects.
        texts: the text of each task.
    """
    unit = "pairs" if dataset.pivot else "sentences"
    for task in dataset.tasks:
        for split in SPLITS:
            count, expected = len(texts[task].splits[split]), getattr(dataset.expected[task], split)
            if not count_matches(count, expected):
                yield FathomError(
                    f"task {task}, split {split}: {count} {unit}, expected {expected}",
                    f"config/datasets/{dataset.name}.yaml: expected.{task}.{split}",
                    "the text is not the expected one: correct the source or a rule, or correct "
                    "the counts if you changed the rules on purpose",
                )


def shared_sentences(texts: dict[str, TaskText]) -> dict[tuple[str, str], float]:
    """Return for each two tasks the share of the smaller one's sentences that both have.

    Args:
        texts: the tasks' text; only their own side counts, and each sentence once.
    """
    sentences = {
        task: {row.text for rows in text.splits.values() for row in rows}
        for task, text in texts.items()
    }
    return {
        (one, other): len(sentences[one] & sentences[other])
        / max(min(len(sentences[one]), len(sentences[other])), 1)
        for one, other in combinations(texts, 2)
    }


def same_text(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each two tasks whose own sides are the same text under two names.

    Args:
        dataset: the data set, with the share from which on text counts as the same.
        texts: the text of each task.
    """
    for (one, other), share in shared_sentences(texts).items():
        if share > dataset.max_shared:
            yield FathomError(
                f"tasks {one} and {other} share {share:.1%} of their sentences",
                f"config/datasets/{dataset.name}.yaml: max_shared",
                f"correct the codes of {one} and {other}: one has the other's text",
            )
