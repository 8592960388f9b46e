"""Curves and pictures of figures, by their labels."""

import math

import pytest
from pandas import DataFrame

from fathom.artefacts.claims.curves import curve
from fathom.artefacts.claims.expressions import Key, Reference
from fathom.artefacts.claims.functions import FUNCTIONS
from fathom.artefacts.claims.quantities import Curve, Sum

LINES = DataFrame(
    [
        (panel, label, "p/run", update, update, value, value + 10, "")
        for panel in ("Static, 24/24", "Decoder")
        for label in ("a", "b, c")
        for update, value in ((1, 5.0), (2, 6.0))
    ],
    columns=["panel", "label", "run", "update", "x", "value", "smoothed", "words"],
)
MAP = DataFrame(
    [
        ("D", "p/run", row, column, value, "")
        for row, values in (("x", (1.0, 2.0)), ("y", (3.0, 4.0)))
        for column, value in zip(("x", "y"), values, strict=True)
    ],
    columns=["panel", "run", "row", "column", "value", "words"],
)

AXES = {"x": "update", "row": "task", "column": "task_2"}


def shown(labels, frames, axes=None):
    """Return what labels of a figure name."""
    keys = tuple(Key((label,)) for label in labels)
    return curve(Reference("figure2", keys), frames, axes or AXES)


def test_a_panel_and_a_line_name_a_curve_as_it_is_drawn():
    made = shown(("Static, 24/24", "a"), {1: LINES}, {"x": "layer"})
    assert isinstance(made, Curve)
    assert made.by_seed[1].to_dict("list") == {"layer": [1, 2], "value": [15.0, 16.0]}
    assert (made.source, made.name) == ("p/run", "figure2 “Static, 24/24” “a”")


def test_a_line_with_several_labels_has_each_of_them():
    made = shown(("Decoder", "c"), {1: LINES})
    assert len(made.by_seed[1]) == 2


def test_a_line_needs_no_panel_where_there_is_one():
    made = shown(("a",), {1: LINES.loc[LINES["panel"] == "Decoder"]})
    assert len(made.by_seed[1]) == 2


def test_a_label_may_have_a_comma():
    """Such a line was never found: its parts were taken for two labels."""
    assert len(shown(("Decoder", "b, c"), {1: LINES}).by_seed[1]) == 2


def test_a_field_of_a_picture_is_a_number_of_each_seed():
    other = MAP.assign(value=MAP["value"] + 1)
    made = shown(("D", "y", "x"), {1: MAP, 2: other})
    assert isinstance(made, Sum)
    (term,) = made.weights
    assert (dict(term.by_seed), term.source) == ({1: 3.0, 2: 4.0}, "p/run")


def test_a_picture_has_rows_and_columns_by_their_axes():
    made = shown(("D",), {1: MAP})
    assert list(made.by_seed[1].columns) == ["task", "task_2", "value"]
    assert list(shown(("D", "y"), {1: MAP}).by_seed[1]["value"]) == [3.0, 4.0]


@pytest.mark.parametrize(
    ("words", "missing"),
    [("not run", True), ("not recorded", True), ("diverged at update 3", False)],
)
def test_a_run_without_points_says_why(words, missing):
    nothing = DataFrame({"panel": ["D"], "run": ["p/run"], "words": [words]})
    made = shown(("D", "y", "x"), {1: nothing})
    assert (made.words, made.missing, made.by_seed) == (words, missing, {})


def test_a_failed_run_is_the_worst_where_the_series_has_a_bad_end():
    nothing = DataFrame({"panel": ["D"], "run": ["p/run"], "words": ["diverged at update 3"]})
    for worst in (math.inf, math.nan):
        made = curve(Reference("figure2", (Key(("D",)),)), {1: nothing}, AXES, worst)
        number = FUNCTIONS["end"].compute(made)
        assert number.value == worst or math.isnan(worst)
        assert not number.missing


def test_seeds_that_failed_are_counted_next_to_the_others():
    nothing = DataFrame({"panel": ["D"], "run": ["p/run"], "words": ["diverged at update 3"]})
    absent = nothing.assign(words="not run")
    for frames, lost, awaited in (
        ({1: nothing, 2: MAP}, "1 of 2 seeds diverged", 0),
        ({1: nothing, 2: MAP, 3: nothing}, "2 of 3 seeds diverged", 0),
        ({1: nothing, 2: MAP, 3: absent}, "1 of 3 seeds diverged", 1),
    ):
        made = shown(("D",), frames)
        assert ([*made.by_seed], made.words, made.lost, made.awaited) == ([2], "", lost, awaited)
    (term,) = shown(("D", "x", "y"), {1: nothing, 2: MAP}).weights
    assert (term.value, term.lost) == (2.0, "1 of 2 seeds diverged")
    assert shown(("D",), {1: nothing, 2: nothing}).words == "2 of 2 seeds diverged"


def test_one_failed_seed_next_to_seeds_that_are_not_run_is_missing():
    nothing = DataFrame({"panel": ["D"], "run": ["p/run"], "words": ["diverged"]})
    made = shown(("D",), {1: nothing, 2: nothing.assign(words="not run")})
    assert (made.words, made.missing, made.lost) == ("not run", True, "1 of 2 seeds diverged")


def test_a_seed_without_points_is_left_out():
    nothing = DataFrame({"panel": ["D"], "run": ["p/run"], "words": ["not run"]})
    assert [*shown(("D",), {1: nothing, 2: MAP}).by_seed] == [2]


def test_a_label_that_a_scale_does_not_have_is_missing():
    assert shown(("D", "z"), {1: MAP}).missing
    assert shown(("D",), {}).missing
