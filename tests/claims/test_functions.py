"""Functions of claims, on cells and on curves."""

import math
from inspect import signature
from statistics import stdev

import pytest
from pandas import DataFrame

from fathom.artefacts.claims.evidence import Interval
from fathom.artefacts.claims.expressions import parse
from fathom.artefacts.claims.functions import FUNCTIONS
from fathom.artefacts.claims.judge import Judge
from fathom.artefacts.claims.quantities import Curve, Slice, Sum, Term
from fathom.io.errors import FathomError
from tests.support.refused import says

CELLS = Slice(tuple(Sum({Term(f"c{at}", value): 1.0}) for at, value in enumerate((4.0, 1.0, 2.5))))
CURVE = Curve(
    "c", "p/run", {1: DataFrame({"update": range(1, 9), "value": [8, 7, 6, 5, 4, 3, 2, 1]})}
)
# Rows are tasks, columns are layers; both tasks take layers 1 and 4, and neither takes 3.
PICTURE = Curve(
    "p",
    "p/run",
    {
        1: DataFrame(
            [
                (task, layer, value)
                for task, values in (("a", (0.9, 0.6, 0.2, 0.5)), ("b", (0.8, 0.4, 0.1, 0.7)))
                for layer, value in enumerate(values, start=1)
            ],
            columns=["task", "layer", "value"],
        )
    },
)
SIMILAR = Curve(
    "s",
    "p/run",
    {
        1: DataFrame(
            [("a", "a", 1.0), ("a", "b", 0.7), ("a", "c", 0.9), ("b", "b", 1.0), ("b", "a", 0.6)],
            columns=["task", "task_2", "value"],
        )
    },
)


LOST = Curve("l", "p/lost", {}, "diverged at update 3", worst=math.inf)
VALUES = {
    "cells": CELLS, "curve": CURVE, "picture": PICTURE, "similar": SIMILAR, "lost": LOST
}  # fmt: skip


class World:
    """Cells, a curve and pictures by name; numbers alone decide."""

    def shown(self, reference):
        return VALUES[reference.artefact]

    def interval(self, weights):
        return Interval(None, "")

    def gains(self, term):
        return False


def value(text):
    """Return the value of an expression."""
    judge = Judge(World(), "here")
    return judge.value(parse(f"{text} > 0", "here").operands[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('max(cells["x"])', 4.0),
        ('min(cells["x"])', 1.0),
        ('max(end(curve["x"]), 3, cells["x"])', 4.0),
        ('min(end(curve["x"]), 3, 0.5)', 0.5),
        ('mean(cells["x"])', 2.5),
        ('median(cells["x"])', 2.5),
        ('spread(cells["x"])', 3.0),
        ('max(abs(cells["x"] - 3))', 2.0),
        ('mean(2 * cells["x"] - 1)', 4.0),
        ('max(curve["x"])', 8.0),
        ('min(curve["x"])', 1.0),
        ('mean(curve["x"])', 4.5),
        ('median(curve["x"])', 4.5),
        ('spread(curve["x"])', 7.0),
        ('end(curve["x"])', 1.0),
        ('mean(first(curve["x"], 0.25))', 7.5),
        ('mean(last(curve["x"], 0.25))', 1.5),
        ('mean(first(curve["x"], 0.01))', 8.0),
        ('mean(first(curve["x"], 0.3))', 7.0),  # 2.4 points are three
        ('max(abs(curve["x"] - 6))', 5.0),
        ('max(1 - curve["x"])', 0.0),
        ('max(0.5 * curve["x"] + 1)', 5.0),
        ('mean(sd(curve["x"], "update"))', stdev(range(1, 9))),
        ('max(sd(picture["x"], "layer"))', stdev((0.8, 0.4, 0.1, 0.7))),
        ('max(sd(picture["x"], "task"))', stdev((0.6, 0.4))),
        ('agreement(picture["x"])', 0.75),
        ('max(others(similar["x"], "a"))', 0.9),
        ('mean(others(similar["x"], "a"))', 0.8),
    ],
)  # fmt: skip
def test_a_function_gives_a_number(text, expected):
    assert value(text).value == pytest.approx(expected)


def test_near_is_on_both_sides():
    for target, expected in ((2.4, "holds"), (2.6, "holds"), (2.8, "fails"), (2.2, "fails")):
        claim = parse(f'near(mean(cells["x"]), {target}, 0.1)', "here")
        assert Judge(World(), "here").truth(claim).answer == expected


def test_a_median_of_an_even_number_is_the_mean_of_the_middle():
    items = CELLS.items
    even = Slice((*items, Sum({Term("d", 3.0): 1.0})))
    assert FUNCTIONS["median"].compute(even).value == 2.75


def test_every_function_says_what_arguments_it_takes():
    for name, function in FUNCTIONS.items():
        parameters = len(signature(function.compute).parameters) - function.truth
        assert parameters == len(function.arguments), name
    assert FUNCTIONS["sd"].arguments == ("curve or picture", "axis")
    assert FUNCTIONS["last"].arguments == ("curve", "share")
    results = {
        result: [name for name, one in FUNCTIONS.items() if one.result == result]
        for result in ("curve", "value", "truth")
    }
    assert results["curve"] == ["first", "last", "sd", "others"]
    assert results["value"] == ["abs"]
    assert len(results["truth"]) == 6


def test_max_and_min_take_several_numbers_and_all_others_a_fixed_number():
    assert [name for name, one in FUNCTIONS.items() if one.several] == ["max", "min"]
    assert FUNCTIONS["max"].taking(1) == ("value",)
    assert FUNCTIONS["max"].taking(3) == ("numbers",) * 3
    assert FUNCTIONS["max"].taking(0) == FUNCTIONS["mean"].taking(2) == ()


def of(*values):
    """Return cells of some numbers; a word is what takes the place of one."""
    return Slice(
        tuple(
            Sum(
                {
                    Term(str(one), math.nan, one, one == "not run")
                    if isinstance(one, str)
                    else Term(str(one), one): 1.0
                }
            )
            for one in values
        )
    )


def test_a_median_is_not_known_where_a_number_is_not():
    median = FUNCTIONS["median"].compute
    assert median(of(1.0, 2.0, "not run")).missing
    assert median(of("not run", 2.0, 1.0, 4.0)).missing
    assert math.isnan(median(of(1.0, "diverged", 2.0)).value)
    assert not median(of(1.0, "diverged", 2.0)).missing
    lost = Sum({Term("d", 3.0, lost="1 of 2 seeds diverged", worst=-math.inf): 1.0})
    assert math.isnan(median(Slice((*CELLS.items, lost))).value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('max(lost["x"])', math.inf),
        ('mean(first(lost["x"], 0.25))', math.inf),
        ('end(0.5 * lost["x"] - 1)', math.inf),
        ('max(lost["x"], 1)', math.inf),
        ('min(1 - lost["x"])', -math.inf),
        ('spread(lost["x"])', math.nan),
        ('mean(sd(lost["x"], "update"))', math.nan),
        ('end(lost["x"]) - end(lost["x"])', 0.0),
        ('end(lost["x"]) - mean(lost["x"]) + end(curve["x"])', math.nan),
    ],
)
def test_a_curve_of_a_failed_training_has_the_worst_value(text, expected):
    assert value(text).value == pytest.approx(expected, nan_ok=True)
    assert not value(text).missing


def test_functions_of_curves_name_what_they_summarise():
    (term,) = value('mean(first(curve["x"], 0.25))').weights
    assert term.name == "mean of the first 25% of c"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('curve["x"] > 1', says("claim is a curve", "c")),
        ('rising(curve["x"])', says("claim is a curve", "c")),
        ('trained(curve["x"])', says("claim is a curve", "c")),
        ('mean(curve["x"] - cells["x"]) > 1', says("claim shift")),
        ('mean(sd(curve["x"], "layer")) > 1', says("claim axis", "c", "layer")),
        ('significant(cells["x"] - 1)', says("claim needs cells")),
    ],
)
def test_what_does_not_fit_is_refused_with_the_place(text, message):
    with pytest.raises(FathomError) as raised:
        Judge(World(), "here").truth(parse(text, "here"))
    message.check(raised.value)


def test_a_curve_without_points_has_no_number():
    nothing = Curve("c", "p/run", {1: DataFrame({"update": [], "value": []})})
    for name in ("mean", "end", "max"):
        assert math.isnan(FUNCTIONS[name].compute(nothing).value)


def test_a_field_of_a_failed_training_has_the_worst_value():
    """It had the value 1, so that a diverged run was below 3."""
    claim = parse('lost["x"] < 3', "here")
    assert Judge(World(), "here").truth(claim).answer == "fails"
