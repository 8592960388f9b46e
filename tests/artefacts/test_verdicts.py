"""Each verdict, the order in which they apply, and how they are shown."""

import pytest

from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.verdicts import (
    SIGNS,
    Verdict,
    allowed_difference,
    bar,
    judge,
    sign_of,
    signed,
)
from fathom.config.measurement_keys import ShownValue
from fathom.config.schema.columns import Tolerance
from fathom.config.tables import Cell
from tests.support.small_tables import reported

NUMBER = reported("6/6", "bos", "20.0")
OUTCOME = reported("6/6", "bos", note="diverged")
TWO = "(2 of 3 seeds)"
SEEDS = "1 of 3 seeds: diverged at update 122"


def cell(**changes):
    """Return a cell of a score."""
    shown = {"value": ShownValue("bleu"), "task": "bos", "gates": "plain", "metric": "13a"}
    values = {"kind": "run", "source": "p/small"} | shown | changes
    return Cell("", "6/6", "bos", "6/6", ours=False, **values)


def verdict(printed, comparable=True, known=True, scale="paper", less=None, kind="run", **result):
    """Return the verdict on a cell; half a point is allowed."""
    ours = CellResult(cell(metric_known=known, kind=kind), comparable=comparable, **result)
    return judge(printed, ours, Tolerance(absolute=0.5), scale, less)


@pytest.mark.parametrize(
    ("printed", "value", "words"),
    [
        ("20.0", 20.0, "reproduced"),
        ("20.0", 20.5, "reproduced"),
        ("20.0", 19.5, "reproduced"),
        ("20.0", 20.6, "higher"),
        ("20.0", 19.4, "lower"),
        ("27.7", 28.2, "reproduced"),  # in binary the difference is more than 0.5
    ],
)
def test_two_numbers_are_judged_by_the_tolerance(printed, value, words):
    judged = verdict(reported("6/6", "bos", printed), value=value)
    assert judged.words == words
    assert judged.delta == pytest.approx(value - float(printed))


DIVERGED = "diverged at update 122"
NO_LAYER = "no layer is left"
TINY, LOST = {"comparable": False, "scale": "tiny"}, {"note": SEEDS}
UNCOUNTED = {"kind": "corpus", "words": "not measured", "note": "which"}
# Why there is no number or no comparison: printed cell, ours, verdict with its cause.
OTHERS = [
    (OUTCOME, {"words": DIVERGED}, Verdict("no result as reported", DIVERGED)),
    (OUTCOME, {"words": NO_LAYER}, Verdict("no result as reported", NO_LAYER)),
    (NUMBER, {"words": DIVERGED}, Verdict("no result (paper has one)", DIVERGED)),
    (OUTCOME, {"value": 20.0}, Verdict("result (paper has none)", "diverged")),
    # A metric that is not known is judged neither; an outcome comes before that doubt.
    (NUMBER, {"known": False, "value": 30.0}, Verdict("metric unknown", "scored with 13a", 10.0)),
    (NUMBER, {"known": False, "words": NO_LAYER}, Verdict("no result (paper has one)", NO_LAYER)),
    (OUTCOME, {"known": False, "value": 20.0}, Verdict("result (paper has none)", "diverged")),
    # What was not run has no other verdict at any scale.
    (NUMBER, {"words": "not run"}, Verdict("not run")),
    (NUMBER, TINY | {"words": "not run"}, Verdict("not run")),
    (NUMBER, {"words": "not run (6/6)"}, Verdict("not run", "6/6")),
    # The settings decide whether a run is judged, and not the scale's name.
    (NUMBER, {"comparable": False, "value": 20.0}, Verdict("not comparable (paper)")),
    (NUMBER, TINY | {"words": DIVERGED}, Verdict("not comparable (tiny)", DIVERGED)),
    (NUMBER, {"scale": "tiny", "value": 20.0}, Verdict("reproduced", "", 0.0)),
    # What nobody measured does not lack a result.
    (NUMBER, {"words": "not measured", "note": "which"}, Verdict("not measured", "which")),
    (NUMBER, {"words": "other decoding", "note": "which"}, Verdict("not measured", "which")),
    # A corpus that nobody counted is not measured at any scale.
    (NUMBER, UNCOUNTED, Verdict("not measured", "which")),
    (NUMBER, UNCOUNTED | TINY, Verdict("not measured", "which")),
    # One seed that diverged does not judge a run whose other seeds are not there.
    (OUTCOME, {"words": f"not run {TWO}"} | LOST, Verdict("not run", f"2 of 3 seeds; {SEEDS}")),
    (OUTCOME, {"words": f"not measured {TWO}"} | LOST, Verdict("not measured", SEEDS)),
]


@pytest.mark.parametrize(("printed", "ours", "expected"), OTHERS)
def test_other_cells_have_the_first_verdict_that_applies(printed, ours, expected):
    assert verdict(printed, **ours) == expected


@pytest.mark.parametrize(
    ("ours", "words"),
    [(-0.6, "reproduced"), (-1.1, "reproduced"), (-0.05, "higher"), (-1.2, "lower"),
     (None, "not measured")],
)  # fmt: skip
def test_a_number_with_a_difference_is_reproduced_if_both_are(ours, words):
    printed, less = reported("6/6", "bos", "20.0", note="-0.6"), CellResult(cell(), value=ours)
    judged = verdict(printed, value=20.1, less=less)
    assert judged.words == words
    assert bool(judged.cause) == (words != "reproduced")
    # Another verdict on the number comes before that on its difference.
    assert verdict(printed, value=17.0, less=less) == Verdict("lower", "", -3.0)


def test_a_misprint_is_compared_by_what_it_must_mean():
    printed = reported("6/6", "bos", "224", right="287")
    judged = verdict(printed, value=287.1, note=SEEDS)
    assert (judged.words, judged.cause) == ("reproduced", f"misprint: 287; {SEEDS}")


@pytest.mark.parametrize(
    ("tolerance", "interval", "deviation", "allowed"),
    [
        (Tolerance(relative=0.001, digits=True), 9.0, 9.0, 0.5),
        (Tolerance(relative=0.01, digits=True), 9.0, 9.0, 2.87),
        (Tolerance(at_least=0.4), 0.2, 0.1, 0.4),
        (Tolerance(at_least=0.4), 1.2, 0.1, 1.2),
        (Tolerance(at_least=0.4), 0.2, 0.7, 1.4),
        (Tolerance(at_least=0.4), None, None, 0.4),
        (Tolerance(absolute=0.5), 9.0, 9.0, 0.5),
        (Tolerance(relative=0.01), 9.0, 9.0, 2.87),
        (None, 9.0, 9.0, 0.0),
    ],
)
def test_a_tolerance_is_absolute_relative_of_digits_or_a_floor(
    tolerance, interval, deviation, allowed
):
    ours = CellResult(cell(), value=1.0, interval=interval, deviation=deviation)
    assert allowed_difference(tolerance, 287.0, 0, ours) == pytest.approx(allowed)


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23"), (-0.5, "-0.50"), (-0.001, "0.00"), (0.0, "0.00")]
)
def test_a_difference_has_a_sign_unless_it_rounds_to_zero(value, text):
    assert signed(value, 2) == text


def test_every_verdict_has_a_sign_and_a_bar_counts_them_in_one_order():
    assert len(set(SIGNS.values())) == len(SIGNS)
    sign = sign_of(Verdict("no result (paper has one)"))
    assert (sign.sign, sign.words, sign.style) == ("✕", "no result (paper has one)", "no-result")
    assert sign.judged
    sign = sign_of(Verdict("not comparable (tiny)"))
    assert (sign.words, sign.style, sign.judged) == ("not judged", "not-comparable", False)
    words = ["not run", "lower", "reproduced", "lower", "not comparable (x)"]
    counts = bar(sign_of(Verdict(word)) for word in words)
    assert [(sign.words, count) for sign, count in counts.items()] == [
        ("reproduced", 1), ("lower", 2), ("not run", 1), ("not judged", 1),
    ]  # fmt: skip
