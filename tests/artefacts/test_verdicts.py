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
    with_difference,
)
from fathom.config.schema.columns import Tolerance
from fathom.config.tables import Cell
from fathom.config.vocabulary import ShownValue
from tests.support.small_tables import reported

NUMBER = reported("6/6", "bos", "20.0")
OUTCOME = reported("6/6", "bos", note="diverged")
REPRODUCED = Verdict("reproduced", "", 0.1)
SEEDS = "1 of 3 seeds: diverged at update 122"


def cell(**changes):
    """Return a cell of a score."""
    values = {
        "block": "",
        "row": "6/6",
        "column": "bos",
        "id": "6/6",
        "kind": "run",
        "source": "p/small",
        "value": ShownValue("bleu"),
        "task": "bos",
        "tasks": (),
        "gates": "plain",
        "metric": "13a",
        "metric_known": True,
        "ours": False,
    }
    return Cell(**values | changes)


def verdict(printed, comparable=True, known=True, scale="paper", **result):
    """Return the verdict on a cell; half a point is allowed."""
    ours = CellResult(cell(metric_known=known), comparable=comparable, **result)
    return judge(printed, ours, 0.5, scale)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (20.0, "reproduced"),
        (20.5, "reproduced"),
        (19.5, "reproduced"),
        (20.6, "higher"),
        (19.4, "lower"),
    ],
)
def test_two_numbers_are_judged_by_the_tolerance(value, words):
    judged = verdict(NUMBER, value=value)
    assert judged.words == words
    assert judged.delta == pytest.approx(value - 20.0)


def test_a_difference_of_exactly_the_tolerance_is_within_it():
    # 28.2 - 27.7 is more than 0.5 in binary.
    assert verdict(reported("6/6", "bos", "27.7"), value=28.2).words == "reproduced"


@pytest.mark.parametrize("words", ["diverged at update 122", "failed to train", "no layer is left"])
def test_no_number_on_either_side_names_the_outcome(words):
    assert verdict(OUTCOME, words=words) == Verdict("no result as reported", words)
    assert verdict(NUMBER, words=words) == Verdict("no result (paper has one)", words)
    assert verdict(OUTCOME, value=20.0) == Verdict("result (paper has none)", "diverged")


def test_an_unknown_metric_is_not_judged_and_an_outcome_comes_before_that_doubt():
    judged = verdict(NUMBER, known=False, value=30.0)
    assert judged == Verdict("metric unknown", "scored with 13a", 10.0)
    assert verdict(NUMBER, known=False, words="diverged").words == "no result (paper has one)"
    assert verdict(OUTCOME, known=False, value=20.0).words == "result (paper has none)"


@pytest.mark.parametrize("comparable", [True, False])
def test_what_was_not_run_or_counted_has_no_other_verdict_at_any_scale(comparable):
    assert verdict(NUMBER, comparable, scale="tiny", words="not run") == Verdict("not run")
    corpus = cell(kind="corpus", source="text")
    uncounted = CellResult(corpus, words="not measured", note="which", comparable=comparable)
    assert judge(NUMBER, uncounted, 0.0, "tiny") == Verdict("not measured", "which")


def test_a_run_of_other_settings_is_never_judged_and_the_scales_name_decides_nothing():
    assert verdict(NUMBER, False, scale="paper", value=20.0) == Verdict("not comparable (paper)")
    judged = verdict(NUMBER, False, scale="tiny", words="diverged at update 122")
    assert judged == Verdict("not comparable (tiny)", "diverged at update 122")
    assert verdict(NUMBER, True, scale="tiny", value=20.0).words == "reproduced"


@pytest.mark.parametrize("words", ["not measured", "other decoding"])
def test_what_nobody_measured_does_not_lack_a_result(words):
    assert verdict(NUMBER, words=words, note="which") == Verdict("not measured", "which")


def test_a_run_whose_seeds_are_not_all_there_is_not_judged_by_one_that_diverged():
    judged = verdict(OUTCOME, words="not run (2 of 3 seeds)", note=SEEDS)
    assert judged == Verdict("not run", f"2 of 3 seeds; {SEEDS}")
    judged = verdict(OUTCOME, words="not measured (2 of 3 seeds)", note=SEEDS)
    assert judged == Verdict("not measured", SEEDS)


def test_a_difference_to_what_was_not_run_was_not_run_either():
    assert verdict(NUMBER, words="not run (6/6)") == Verdict("not run", "6/6")


@pytest.mark.parametrize(
    ("ours", "words"),
    [(-0.6, "reproduced"), (-1.1, "reproduced"), (-0.05, "higher"), (-1.2, "lower")],
)
def test_a_number_with_a_difference_is_reproduced_if_both_are(ours, words):
    judged = with_difference(REPRODUCED, -0.6, ours, 0.5)
    assert judged.words == words
    assert bool(judged.cause) == (words != "reproduced")


def test_another_verdict_on_the_number_comes_before_that_on_its_difference():
    lower = Verdict("lower", "", -3.0)
    assert with_difference(lower, -0.6, 5.0, 0.5) == lower
    assert with_difference(REPRODUCED, -0.6, None, 0.5).words == "not measured"


def test_a_misprint_is_compared_by_what_it_must_mean():
    printed = reported("6/6", "bos", "224", right="287")
    judged = verdict(printed, value=287.1, note=SEEDS)
    assert (judged.words, judged.cause) == ("reproduced", f"misprint: 287; {SEEDS}")


@pytest.mark.parametrize(
    ("tolerance", "interval", "deviation", "allowed"),
    [
        (Tolerance(at_least=0.4), 0.2, 0.1, 0.4),
        (Tolerance(at_least=0.4), 1.2, 0.1, 1.2),
        (Tolerance(at_least=0.4), 0.2, 0.7, 1.4),
        (Tolerance(at_least=0.4), None, None, 0.4),
        (Tolerance(absolute=0.5), 9.0, 9.0, 0.5),
        (Tolerance(relative=0.01), 9.0, 9.0, 2.87),
        (None, 9.0, 9.0, 0.0),
    ],
)
def test_a_tolerance_is_absolute_relative_or_a_floor(tolerance, interval, deviation, allowed):
    ours = CellResult(cell(), value=1.0, interval=interval, deviation=deviation)
    assert allowed_difference(tolerance, 287.0, ours) == pytest.approx(allowed)


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23"), (-0.5, "-0.50"), (-0.001, "0.00"), (0.0, "0.00")]
)
def test_a_difference_has_a_sign_unless_it_rounds_to_zero(value, text):
    assert signed(value, 2) == text


def test_every_verdict_has_a_sign_and_other_scales_are_not_judged():
    assert len(set(SIGNS.values())) == len(SIGNS)
    sign = sign_of(Verdict("no result (paper has one)"))
    assert (sign.sign, sign.words, sign.style) == ("✕", "no result (paper has one)", "no-result")
    assert sign.judged
    sign = sign_of(Verdict("not comparable (tiny)"))
    assert (sign.words, sign.style, sign.judged) == ("not judged", "not-comparable", False)


def test_a_bar_counts_verdicts_in_one_order():
    words = ["not run", "lower", "reproduced", "lower", "not comparable (x)"]
    counts = [(share.sign.words, share.count) for share in bar(sign_of(Verdict(w)) for w in words)]
    assert counts == [("reproduced", 1), ("lower", 2), ("not run", 1), ("not judged", 1)]
