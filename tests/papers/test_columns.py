"""Column expressions have two forms, and no third."""

import pytest

from fathom.errors import FathomError
from fathom.papers.columns import Column, Expression, Metric


@pytest.mark.parametrize(
    ("text", "path", "mean"),
    [
        ("parameters.total", ("parameters", "total"), False),
        ("scores.hard.bos.ko-mecab", ("scores", "hard", "bos", "ko-mecab"), False),
        ("mean(scores.*)", ("scores", "*"), True),
        ("mean(scores.hard.*.13a)", ("scores", "hard", "*", "13a"), True),
    ],
)
def test_a_path_and_a_mean_are_read(text, path, mean):
    assert Expression.parse(text) == Expression(path, mean)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "scores.*",
        "mean(scores.bos)",
        "mean(*)",
        "mean(a.*.*)",
        "max(scores.*)",
        "a + b",
        "a..b",
    ],
)
def test_any_other_form_is_refused_with_both_forms_named(text):
    with pytest.raises(FathomError, match=r"write `path` or `mean\(path with \*\)`"):
        Expression.parse(text)


def test_only_scores_are_results():
    assert Expression.parse("mean(scores.*)").reads_scores
    assert not Expression.parse("validation.nll").reads_scores


def test_a_metric_can_be_unknown_for_some_columns():
    metric = Metric.from_mapping({"name": "13a", "known": True, "unknown_for": ["kor"]})
    assert metric.known_for("fra")
    assert not metric.known_for("kor")
    assert not Metric.from_mapping({"name": "13a", "known": False}).known_for("fra")


def test_a_column_needs_no_unit_group_or_tolerance():
    column = Column.from_mapping("bos", {"title": "bos", "value": "scores.bos", "decimals": 1})
    assert (column.unit, column.group, column.tolerance) == ("", "", None)
