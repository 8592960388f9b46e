"""Each verdict, from manifests to word, and the order in which they are given."""

import pytest

from fathom.papers.columns import Tolerance
from fathom.tables.grid import Cell, cells
from fathom.tables.verdicts import Reported, Verdict, judge, tolerated


def reported(value=20.0, outcome="", note=""):
    digits = "" if value is None else str(value)
    return Reported("6/6", "bos", digits, value, outcome, note)


def verdict(table, rows, manifests, reported_cell, metric_known=True, scale="paper"):
    """Return the verdict on a task's cell of a run with these manifests."""
    cell = cells(table, rows(table.rows, small=manifests), scale)["6/6"]["bos"]
    allowed = tolerated(Tolerance(at_least=0.4), reported_cell.value or 0.0, cell, 1.0)
    return judge(reported_cell, cell, cell.value, allowed, metric_known, scale)


@pytest.fixture
def run(made):
    """A function from a score to a manifest with it; the interval's half-width is 0.5."""

    def finished(value, scale="paper"):
        tasks = {"bos": made.score(value, half=0.5), "fra": made.score(30.0)}
        return made.manifest({"plain": tasks}, scale=scale)

    return finished


@pytest.fixture
def without(made):
    def ended(kind, scale="paper"):
        return made.manifest(outcome=made.ended(kind), scale=scale)

    return ended


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
def test_two_numbers_are_judged_by_the_tolerance(table, rows, run, value, words):
    found = verdict(table, rows, [run(value)], reported())
    assert found.words == words
    assert found.delta == pytest.approx(value - 20.0)


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("diverged", "diverged at update 122"), ("failed_to_train", "failed to train")],
)
def test_no_number_on_both_sides_is_as_reported(table, rows, without, kind, cause):
    found = verdict(table, rows, [without(kind)], reported(None, "diverged"))
    assert found == Verdict("no result as reported", cause)


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("diverged", "diverged at update 122"), ("failed_to_train", "failed to train")],
)
def test_a_number_that_only_the_paper_has(table, rows, without, kind, cause):
    found = verdict(table, rows, [without(kind)], reported())
    assert found == Verdict("no result unlike reported", cause)


@pytest.mark.parametrize("cause", ["diverged", "failed to train"])
def test_a_number_that_the_paper_lacks(table, rows, run, cause):
    found = verdict(table, rows, [run(20.0)], reported(None, cause))
    assert found == Verdict("trained unlike reported", cause)


def test_an_unknown_metric_is_not_judged_but_its_difference_is_shown(table, rows, run):
    found = verdict(table, rows, [run(30.0)], reported(), metric_known=False)
    assert found == Verdict("metric unknown", "scored with 13a", 10.0)


def test_nothing_is_said_of_a_run_without_a_manifest(table, rows):
    for scale in ("paper", "tiny"):
        assert verdict(table, rows, [None], reported(), scale=scale) == Verdict("not run")


def test_another_scale_is_never_judged(table, rows, run):
    found = verdict(table, rows, [run(20.0, "tiny")], reported(), scale="tiny")
    assert found == Verdict("not comparable (tiny)")


def test_another_scale_still_tells_the_outcome(table, rows, without):
    found = verdict(table, rows, [without("diverged", "tiny")], reported(), scale="tiny")
    assert found == Verdict("not comparable (tiny)", "diverged at update 122")


def test_a_task_without_a_layer_is_no_result(table, rows, made):
    value = made.manifest({"hard": {"fra": made.score(30.0)}}, no_layer={"hard": ["bos"]})
    found = verdict(table, rows, [value], reported())
    assert found == Verdict("no result unlike reported", "no layer left")


def test_an_outcome_stands_before_a_doubt_about_the_metric(table, rows, run, without):
    found = verdict(table, rows, [without("diverged")], reported(), metric_known=False)
    assert found.words == "no result unlike reported"
    found = verdict(table, rows, [run(20.0)], reported(None, "diverged"), metric_known=False)
    assert found.words == "trained unlike reported"


def test_a_misprint_and_seeds_without_a_result_are_told_as_causes(table, rows, run, without):
    manifests = [run(20.0), run(20.0), without("diverged")]
    found = verdict(table, rows, manifests, reported(note="misprint: 20.0"))
    assert found.words == "reproduced"
    assert found.cause == "misprint: 20.0; 1 of 3 seeds: diverged at update 122"


def test_a_difference_of_exactly_the_tolerance_is_within_it():
    # 28.2 - 27.7 is more than 0.5 in binary.
    found = judge(reported(27.7), Cell("r", "c", "run"), 28.2, 0.5, True, "paper")
    assert found.words == "reproduced"


@pytest.mark.parametrize(
    ("tolerance", "half_width", "deviation", "allowed"),
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
def test_a_tolerance_is_a_floor_an_amount_or_a_share(tolerance, half_width, deviation, allowed):
    cell = Cell("r", "c", "run", half_width=half_width, deviation=deviation)
    assert tolerated(tolerance, 63.6, cell, 1.0) == pytest.approx(allowed)


def test_spreads_are_turned_into_the_papers_unit():
    cell = Cell("r", "c", "run", half_width=2e6)
    assert tolerated(Tolerance(at_least=0.4), 63.6, cell, 1e6) == 2.0
