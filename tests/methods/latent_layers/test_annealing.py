"""What grows and falls in the course of a training."""

import pytest

from fathom.methods.latent_layers.equations import annealed, annealed_temperature


@pytest.mark.parametrize(
    ("update", "start", "length", "expected"),
    [
        (1, 10, 5, 0.0),
        (10, 10, 5, 0.0),
        (11, 10, 5, 0.4),
        (14, 10, 5, 1.6),
        (15, 10, 5, 2.0),
        (999, 10, 5, 2.0),
        (9, 10, 0, 0.0),
        (10, 10, 0, 2.0),
        (1, 0, 0, 2.0),
    ],
)
def test_a_weight_grows_from_nothing_to_its_whole(update, start, length, expected):
    assert annealed(2.0, update, start, length) == pytest.approx(expected)


def test_a_weight_is_never_negative_and_never_falls():
    weights = [annealed(0.1, update, 500, 5000) for update in range(1, 6000)]
    assert min(weights) == 0.0
    assert weights == sorted(weights)
    assert weights[-1] == 0.1


def test_the_temperature_falls_geometrically_and_stays():
    """[latent_depth tau]"""
    assert annealed_temperature(1.0, None, 50, 100) == 1.0
    assert annealed_temperature(1.0, 0.01, 50, 100) == pytest.approx(0.1)
    assert annealed_temperature(1.0, 0.01, 100, 100) == pytest.approx(0.01)
    assert annealed_temperature(1.0, 0.01, 900, 100) == pytest.approx(0.01)
