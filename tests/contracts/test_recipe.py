"""Moved numbers need a raised RECIPE, and a raised RECIPE needs numbers frozen again."""

import copy

import pytest

from fathom.results.recipe import RECIPE
from tests.contracts.recipe import (
    AGAIN,
    LOCKED,
    frozen,
    moved,
    numbers,
    processor,
    raised,
    versions,
)


@pytest.fixture(scope="module")
def now(tmp_path_factory):
    return numbers(tmp_path_factory.mktemp("recipe"))


@pytest.mark.skipif(versions() != LOCKED, reason=f"frozen with {LOCKED}; here is {versions()}")
def test_the_numbers_of_each_stage_are_the_frozen_ones(now):
    before = frozen()
    if processor() not in before["training"]:
        pytest.skip(f"no numbers are frozen for this processor ({processor()}); {AGAIN}")
    assert moved(before, now) == []


def test_the_frozen_numbers_are_of_todays_recipe():
    assert raised(frozen()) == []


def test_a_number_that_moves_names_the_recipe_to_raise(now):
    other = copy.deepcopy(now)
    other["training"][processor()]["latent"] += 0.01
    other["decoding"] = [f"{line} more" for line in other["decoding"]]
    other["scoring"]["13a"][1] += 0.001
    lines = moved(now, other)
    assert [line.split(" ")[0] for line in lines] == list(RECIPE)
    assert all(
        f"raise RECIPE['{stage}']" in line for stage, line in zip(RECIPE, lines, strict=True)
    )


def test_a_raised_recipe_without_new_numbers_is_found(monkeypatch):
    monkeypatch.setitem(RECIPE, "scoring", RECIPE["scoring"] + 1)
    (line,) = raised(frozen())
    now = RECIPE["scoring"]
    assert line.startswith(f"RECIPE['scoring'] is {now}, frozen with {now - 1}; freeze again")
