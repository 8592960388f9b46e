"""Moved numbers without a raised recipe are found, and a raised recipe without new numbers too."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.results import recipe
from fathom.results.measurements import Measurements, Number, Record
from fathom.results.training_record import TrainingRecord
from fathom.results.tree import RunResults
from tests.pipeline import compare_reference, freeze
from tests.support.run_files import training

ROOT = Path(__file__).parents[2]


def run_of(nll=4.5, low=1.0, high=2.0, kind="finished"):
    """Return the results of a run with these numbers."""
    bleu = Record(unit="BLEU", tasks={"bos": Number(value=(low + high) / 2, low=low, high=high)})
    records = {"last_validation": Record(unit="nats", all=Number(value=nll))}
    records["bleu.test.soft.13a"] = bleu
    files = {}
    for rule, key in (("training", "last_validation"), ("scores", "bleu.test.soft.13a")):
        own = {key: records[key]} if kind == "finished" else {}
        files[rule] = Measurements(rule=rule, recipe={}, identity="b" * 64, measurements=own)
    record = TrainingRecord.model_validate(training(kind))
    return RunResults(Path("runs/paper/run-bbbbbbbb/1"), "paper/run", 1, record, files)


@pytest.fixture
def reference():
    frozen = freeze.frozen(run_of())
    other = freeze.machine() | {"processor": "another"}
    return {
        "machine": other,
        "recipe": dict(recipe.RECIPE),
        "runs": {"paper/run": frozen},
        "spread": {"nats": 0.05, "degrees": 44},
    }


def test_the_frozen_runs_are_of_todays_recipe():
    assert freeze.raised(freeze.reference()) == []
    assert len(freeze.reference()["runs"]) == 11  # the ten rows of Table 5, and Figure 4's one more


def test_equal_numbers_have_not_moved(reference):
    assert freeze.moved(reference, [run_of()]) == []
    assert freeze.moved(reference, [run_of(nll=4.6, low=1.5, high=2.9)]) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nll": 5.0}, "validation NLL 5.000, frozen 4.500: raise RECIPE['training']"),
        ({"kind": "diverged"}, "diverged, frozen as finished: raise RECIPE['training']"),
        ({"low": 9.0, "high": 12.0}, "scores of bos are [9.0, 12.0], frozen [1.0, 2.0]: raise"),
    ],
)
def test_moved_numbers_name_the_recipe_to_raise(reference, changes, message):
    (line,) = freeze.moved(reference, [run_of(**changes)])
    assert message in line
    assert "paper/run" in line


def test_on_the_machine_of_the_frozen_numbers_each_digit_counts(reference):
    here = reference | {"machine": freeze.machine()}
    (line,) = freeze.moved(here, [run_of(nll=4.5 + 1e-12)])
    assert "validation NLL 4.500, frozen 4.500: raise RECIPE['training']" in line
    assert freeze.moved(here, [run_of()]) == []


@pytest.mark.parametrize(
    ("nats", "says"),
    [
        (0.0, "1 of 1 trainings match the reference run: at most 0.000 nats apart"),
        (0.04, "1 of 1 trainings match the reference run: at most 0.040 nats apart"),
        (0.5, "paper/run: validation NLL 5.000, frozen 4.500: raise RECIPE['training']"),
    ],
)
def test_on_another_machine_trainings_agree_within_the_spread_of_seeds(
    reference, monkeypatch, capsys, nats, says
):
    monkeypatch.setattr(freeze, "reference", lambda: reference)
    monkeypatch.setattr(freeze, "first_seeds", lambda _: [run_of(nll=4.5 + nats)])
    if nats > 0.1:
        with pytest.raises(SystemExit, match=re.escape(says)):
            compare_reference.main("results")
    else:
        compare_reference.main("results")
        assert says in capsys.readouterr().out


def test_results_without_a_frozen_training_agree_with_nothing(reference):
    (line,) = compare_reference.problems(reference, [replace(run_of(), name="paper/other")])
    assert line == "none of the frozen trainings is here: fathom run latent_depth_table5"


def test_runs_that_are_all_a_little_apart_have_moved_together(reference):
    runs = [replace(run_of(nll=4.5 + 0.2), name=f"paper/run{number}") for number in range(11)]
    frozen = {run.name: reference["runs"]["paper/run"] for run in runs}
    (line,) = freeze.moved(reference | {"runs": frozen}, runs)
    assert "8.0 times as far from the frozen numbers as other seeds (3.7 is chance)" in line


def test_the_frozen_spread_is_that_of_the_seeds_on_record():
    spread = freeze.spread(ROOT / freeze.SEEDS)
    assert spread["degrees"] == 44  # five seeds of eleven runs
    assert freeze.reference()["spread"]["nats"] == pytest.approx(spread["nats"], abs=1e-3)


def test_a_raised_recipe_needs_numbers_that_are_frozen_again(reference, monkeypatch):
    assert freeze.raised(reference) == []
    monkeypatch.setitem(recipe.RECIPE, "decoding", 2)
    (line,) = freeze.raised(reference)
    assert line.startswith("RECIPE['decoding'] is 2, frozen with 1; freeze again")
