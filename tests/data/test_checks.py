import pytest

from fathom.data.checks import count_matches, same_text, shared_sentences, unexpected_counts
from fathom.data.texts import Pair, TaskText
from tests.data.small_archives import numbered_dataset, talks_dataset
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
        (4_520_000, "4.5M", True),
        (4_400_000, "4.5M", False),
        (15_800_000, "16M", True),
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


def parts_of_law():
    """Return a data set in which two tasks share a text."""
    files = {task: ["a", "b", "c"] for task in ("law1", "law2", "rel")}
    return numbered_dataset(
        {"jrc": {"law": ["J"], "rel": ["T"]}}, files, parts={"law": ["law1", "law2"]}
    )


def test_two_parts_of_one_text_may_have_one_test_and_no_other_tasks_may():
    one, two = (text([f"{part} {n}" for n in range(20)], ["v"], ["t", "u"]) for part in "ab")
    texts = {"law1": one, "law2": two, "rel": text([], ["v"], ["t", "u"])}
    findings = [finding.what for finding in same_text(parts_of_law(), texts)]
    assert findings == [
        prose("shared text", "law1", "rel", "100.0%"),
        prose("shared text", "law2", "rel", "100.0%"),
    ]


def test_two_parts_of_one_text_have_different_training_texts():
    same = text([str(n) for n in range(20)], ["v"], ["t"])
    texts = {"law1": same, "law2": same, "rel": text(["r"])}
    (finding,) = same_text(parts_of_law(), texts)
    assert finding.what == prose("shared text", "law1", "law2", "100.0%")


def test_two_parts_of_one_text_have_one_validation_and_one_test():
    texts = {"law1": text(["a"], ["v"], ["t"]), "law2": text(["b"], ["v"], ["u"]), "rel": text([])}
    (finding,) = same_text(parts_of_law(), texts)
    assert finding.what == prose("parts differ", "law1", "law2", "law", "test")
    assert finding.where == "config/datasets/numbered.yaml: parts.law"
