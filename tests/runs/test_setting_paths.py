"""Paths of settings: what no run can have is found, with the names that are possible."""

import pytest

from fathom.config.setting_paths import unknown_part
from tests.support.specs import card

METHODS = {name: card(name).method for name in ("adapters", "latent_layers")}


@pytest.mark.parametrize(
    "path", ["training", "training.batch.tokens", "method.name", "method.tau", "outcome"]
)
def test_a_path_that_a_run_may_have_is_known(path):
    assert unknown_part(path, METHODS) is None


@pytest.mark.parametrize(
    ("path", "part", "possible"),
    [
        ("modle.width", "modle", "model"),
        ("training.batch.token", "token", "tokens"),
        ("method.taau", "taau", "tau"),
    ],
)
def test_the_first_part_that_does_not_exist_is_named(path, part, possible):
    wrong = unknown_part(path, METHODS)
    assert wrong is not None
    assert wrong[0] == part
    assert possible in wrong[1]
