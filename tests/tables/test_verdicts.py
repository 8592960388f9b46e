"""Each verdict, and the order in which they apply."""

import pytest

from fathom.artefacts.table.results import CellResult
from fathom.artefacts.table.verdicts import (
    Verdict,
    allowed_difference,
    judge,
    signed,
    with_difference,
)
from fathom.config.schema.columns import Tolerance
from fathom.config.tables import Cell
from fathom.config.vocabulary import ShownValue
from tests.support.small_tables import reported


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
    own = CellResult(cell(metric_known=known), comparable=comparable, **result)
    return judge(printed, own, 0.5, scale)


NUMBER = reported("6/6", "bos", "20.0")
OUTCOME = reported("6/6", "bos", note="diverged")


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


def test_a_number_that_the_paper_lacks_names_the_papers_outcome():
    assert verdict(OUTCOME, value=20.0) == Verdict("result (paper has none)", "diverged")


def test_an_unknown_metric_is_not_judged_and_its_difference_is_shown():
    judged = verdict(NUMBER, known=False, value=30.0)
    assert judged == Verdict("metric unknown", "scored with 13a", 10.0)


def test_an_outcome_comes_before_a_doubt_about_the_metric():
    assert verdict(NUMBER, known=False, words="diverged").words == "no result (paper has one)"
    assert verdict(OUTCOME, known=False, value=20.0).words == "result (paper has none)"


@pytest.mark.parametrize("comparable", [True, False])
def test_a_run_that_was_not_trained_has_no_other_verdict(comparable):
    judged = verdict(NUMBER, comparable, scale="tiny", words="not run")
    assert judged == Verdict("not run")


def test_a_run_of_other_settings_is_never_judged():
    assert verdict(NUMBER, False, scale="tiny", value=20.0) == Verdict("not comparable (tiny)")
    judged = verdict(NUMBER, False, scale="tiny", words="diverged at update 122")
    assert judged == Verdict("not comparable (tiny)", "diverged at update 122")


def test_the_scales_name_decides_nothing():
    assert verdict(NUMBER, True, scale="tiny", value=20.0).words == "reproduced"
    assert verdict(NUMBER, False, scale="paper", value=20.0).words == "not comparable (paper)"


@pytest.mark.parametrize("words", ["not measured", "other decoding"])
def test_what_nobody_measured_is_no_lack_of_a_result(words):
    assert verdict(NUMBER, words=words, note="which") == Verdict("not measured", "which")


@pytest.mark.parametrize("comparable", [True, False])
def test_a_corpus_that_nobody_counted_is_not_measured_at_any_scale(comparable):
    own = CellResult(
        cell(kind="corpus", source="text"),
        words="not measured",
        note="which",
        comparable=comparable,
    )
    judged = judge(NUMBER, own, 0.0, "tiny")
    assert judged == Verdict("not measured", "which")


def test_a_run_whose_seeds_are_not_all_there_is_not_judged_by_one_that_diverged():
    note = "1 of 3 seeds: diverged at update 122"
    judged = verdict(OUTCOME, words="not run (2 of 3 seeds)", note=note)
    assert judged == Verdict("not run", f"2 of 3 seeds; {note}")
    judged = verdict(OUTCOME, words="not measured (2 of 3 seeds)", note=note)
    assert judged == Verdict("not measured", note)


def test_a_difference_to_what_was_not_run_was_not_run_either():
    judged = verdict(NUMBER, words="not run (6/6)")
    assert judged == Verdict("not run", "6/6")
    assert verdict(NUMBER, False, words="not run") == Verdict("not run")


REPRODUCED = Verdict("reproduced", "", 0.1)


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
    judged = verdict(printed, value=287.1, note="1 of 3 seeds: diverged")
    assert judged.words == "reproduced"
    assert judged.cause == "misprint: 287; 1 of 3 seeds: diverged"


@pytest.mark.parametrize(
    ("tolerance", "interval", "deviation", "allowed"),
    [
        (Tolerance(at_least=0.4), 0.2, 0.1, 0.4),
        (Tolerance(at_least=0.4), 1.2, 0.1, 1.2),
        (Tolerance(at_least=0.4), 0.2, 0.7, 1.4),
        (Tolerance(at_least=0.4), None, None, 0.4),
        (Tolerance(absolute=0.5), 9.0, 9.0, 0.5),
        (Tolerance(relative=0.01), 9.0, 9.0, 0.636),
        (None, 9.0, 9.0, 0.0),
    ],
)
def test_a_tolerance_is_a_floor_an_amount_or_a_share(tolerance, interval, deviation, allowed):
    own = CellResult(cell(), interval=interval, deviation=deviation)
    assert allowed_difference(tolerance, 63.6, own) == pytest.approx(allowed)


def test_a_difference_has_its_sign_and_a_rounded_0_has_none():
    assert (signed(0.25, 1), signed(-0.25, 2)) == ("+0.2", "-0.25")
    assert (signed(-0.04, 1), signed(0.04, 1), signed(-0.0, 2)) == ("0.0", "0.0", "0.00")
