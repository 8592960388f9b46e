import pytest

from fathom.data.checks import count_matches, same_text, shared_sentences, unexpected_counts
from fathom.data.texts import Pair, TaskText
from tests.data.small_archives import talks_dataset
from tests.support.refused import prose


def text(train, valid=(), test=()):
    """Return a task's text from its own sentences."""
    splits = {"train": train, "valid": valid, "test": test}
    return TaskText(
        {name: [Pair(sentence, "x y") for sentence in side] for name, side in splits.items()}
    )


@pytest.mark.parametrize(
    ("count", "expected", "right"),
    [
        (671, 671, True),
        (670, 671, False),
        # Cut off and rounded both: papers print either.
        (5946, "5.94k", True),
        (4509, "4.51k", True),
        (5950, "5.94k", False),
        (5930, "5.94k", False),
        (10017, "10.0k", True),
        (10100, "10.0k", False),
        (9900, "10.0k", False),
        (134327, "134k", True),
        (133001, "134k", True),
        (135000, "134k", False),
        (133000, "134k", False),
    ],
)
def test_a_count_holds_to_the_printed_digits(count, expected, right):
    assert count_matches(count, expected) is right


def test_an_unexpected_count_names_task_split_count_and_expectation():
    expected = {
        "one": {"train": "0.01k", "valid": 1, "test": 0},
        "two": {"train": 2, "valid": 0, "test": 1},
    }
    dataset = talks_dataset({"one": "fr", "two": "mr"}, expected=expected)
    texts = {"one": text(["a"] * 10, ["b"]), "two": text(["c"], [], ["d", "e"])}
    findings = list(unexpected_counts(dataset, texts))
    assert [finding.what for finding in findings] == [
        prose("count", "two", "train", 1, "pairs", 2),
        prose("count", "two", "test", 2, "pairs", 1),
    ]
    assert findings[0].where == "config/datasets/talks.yaml: expected.two.train"


def test_sharing_is_a_share_of_the_smaller_tasks_distinct_sentences():
    texts = {
        "big": text([str(n) for n in range(100)]),
        "small": text(["1", "1", "1"], ["2"], ["x", "y"]),
        "none": text([]),
    }
    assert shared_sentences(texts) == {
        ("big", "small"): 0.5,
        ("big", "none"): 0.0,
        ("small", "none"): 0.0,
    }


def test_one_text_under_two_names_is_found_and_related_languages_are_not():
    dataset = talks_dataset({"slk": "sk", "ces": "cs", "pol": "pl"})
    czech = [f"věta {n}" for n in range(100)]
    texts = {
        "slk": text(czech[:80], [], czech[80:]),
        "ces": text(czech),
        "pol": text([*czech[:20], *(f"zdanie {n}" for n in range(80))]),
    }
    findings = list(same_text(dataset, texts))
    assert [finding.what for finding in findings] == [prose("shared text", "slk", "ces", "100.0%")]
