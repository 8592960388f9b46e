"""Presets of a method, and single settings of its own, keep what every method promises."""

import pytest

from fathom.decode.contracts import CONTRACTS, ExampleNetwork
from tests.support.small_networks import card, method

NAME = "latent_layers"
AS_RELEASED = card(NAME).about.presets["as_released"]
# Hard samples come after 500 updates only; here they come at once, with all losses.
HARD_AT_ONCE = AS_RELEASED | {
    "straight_through_after": 0,
    "kl_anneal_start": 0,
    "kl_anneal_length": 0,
    "depth_anneal_start": 0,
    "depth_anneal_length": 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize(
    "settings",
    [AS_RELEASED, HARD_AT_ONCE, {"sample": "noise_free"}],
    ids=["as_released", "hard_at_once", "noise_free"],
)
def test_settings_keep_a_contract(contract, settings):
    assert not [*CONTRACTS[contract](ExampleNetwork(card(NAME), settings))]


def test_the_preset_takes_the_values_of_the_released_command():
    settings = method(NAME, **AS_RELEASED).settings
    assert (settings["tau"], settings["kl_weight"], settings["depth_weight"]) == (5, 0.1, 0.1)
    assert (settings["kl_anneal_start"], settings["kl_anneal_length"]) == (500, 5000)
    assert settings["straight_through_after"] == 500
    assert settings["depth_anneal_start"] == 5500
    # Of the command's 24; a run of another depth says its own.
    assert settings["target_depth"] == 12


@pytest.mark.parametrize(
    ("settings", "gates", "refused"),
    [
        ({"tau": 5.0}, "hard", True),
        ({"tau": 7}, "hard", True),
        ({"tau": 5.0}, "soft", False),
        ({"tau": 1.0}, "hard", False),
        ({"tau": 5.0, "tau_end": 0.1}, "hard", False),
        ({"tau": 5.0, "tau_end": 5.0}, "hard", True),
        ({"tau": 9.0, "tau_end": 6.0}, "hard", True),
        ({"sample": "noise_free"}, "hard", True),
        ({"sample": "noise_free"}, "soft", False),
        (AS_RELEASED, "hard", False),
    ],
)
def test_hard_gates_after_soft_training_at_a_high_temperature_are_refused(settings, gates, refused):
    reason = card(NAME).refusal(gates, method(NAME, **settings).settings)
    assert (reason is not None) is refused
