"""Checks of a prepared corpus: expected counts, and no text under two names."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from fathom.config.schema.dataset import SPLITS, BuiltDataset, number_of
from fathom.data.texts import TaskText
from fathom.io.errors import FathomError


def count_matches(count: int, expected: int | str) -> bool:
    """Return whether a count is the expected one, to the digits in which that is given.

    Papers round or cut off, so "5.94k" holds for 5,931 to 5,949: within one unit of the last
    printed digit.

    Args:
        count: a number of sentences.
        expected: a whole number, or thousands (k) or millions (M) as papers print them.
    """
    number, unit = number_of(expected)
    return abs(count - number) < unit


def unexpected_counts(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each count that is not the expected one.

    Args:
        dataset: the data set, with what it expects.
        texts: the text of each task.
    """
    unit = "pairs" if dataset.pivot else "sentences"
    for task in dataset.expected:
        for split in SPLITS:
            count, expected = len(texts[task].splits[split]), getattr(dataset.expected[task], split)
            if not count_matches(count, expected):
                yield FathomError(
                    f"task {task}, split {split}: {count} {unit}, expected {expected}",
                    f"config/datasets/{dataset.name}.yaml: expected.{task}.{split}",
                    "the text is not the expected one: correct the source or a rule, or correct "
                    "the counts if you changed the rules on purpose",
                )


def shared_sentences(
    texts: dict[str, TaskText],
    text_of: Callable[[str], str] = str,
    compared: Sequence[str] = SPLITS,
) -> dict[tuple[str, str], float]:
    """Return for each two tasks the share of the smaller one's sentences that both have.

    Two tasks of one text have the same validation and test, so their training alone counts.

    Args:
        texts: the tasks' text; only their own side counts, and each sentence once.
        text_of: from a task to the name of its text.
        compared: the splits whose sentences count.
    """
    splits = {task: _distinct(text, compared) for task, text in texts.items()}
    shares = {}
    for one, other in combinations(texts, 2):
        counted = ("train",) if text_of(one) == text_of(other) else compared
        of_one, of_other = (
            set().union(*(splits[task][name] for name in counted)) for task in (one, other)
        )
        shares[one, other] = len(of_one & of_other) / max(min(len(of_one), len(of_other)), 1)
    return shares


def _distinct(text: TaskText, splits: Sequence[str]) -> dict[str, set[str]]:
    """Return the distinct sentences of a task's own side, by split."""
    return {split: {row.text for row in text.splits[split]} for split in splits}


def same_text(dataset: BuiltDataset, texts: dict[str, TaskText]) -> Iterator[FathomError]:
    """Yield each two tasks whose own sides are the same text under two names.

    Tasks that the data set declares as parts of one text must have the same validation and test.

    Args:
        dataset: the data set, with the share from which on text counts as the same.
        texts: the text of each task.
    """
    shares = shared_sentences(texts, dataset.text_of, dataset.compared)
    for (one, other), share in shares.items():
        if share > dataset.max_shared:
            yield FathomError(
                f"tasks {one} and {other} share {share:.1%} of their sentences",
                f"config/datasets/{dataset.name}.yaml: max_shared",
                f"correct the codes of {one} and {other}: one has the other's text",
            )
        if dataset.text_of(one) == dataset.text_of(other):
            yield from _unequal_rest(dataset, one, other, texts)


def _unequal_rest(
    dataset: BuiltDataset, one: str, other: str, texts: dict[str, TaskText]
) -> Iterator[FathomError]:
    """Yield the splits in which two parts of one text must be equal and are not."""
    for split in SPLITS[1:]:
        if texts[one].splits[split] != texts[other].splits[split]:
            text = dataset.text_of(one)
            yield FathomError(
                f"tasks {one} and {other} are parts of {text}, and their {split} differs",
                f"config/datasets/{dataset.name}.yaml: parts.{text}",
                f"give {one} and {other} one {split}, or texts of their own",
            )
