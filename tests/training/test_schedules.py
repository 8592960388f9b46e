import inspect
from typing import get_args

import pytest

from fathom.config.schema.run import Noam, Polynomial, TrainingSettings
from fathom.train.schedules import (
    SCHEDULES,
    inverse_sqrt,
    learning_rate,
    noam,
    polynomial,
    replica_ramp,
)


def test_every_schedule_of_the_settings_has_a_function_with_its_keywords():
    union = TrainingSettings.model_fields["schedule"].annotation
    classes = {get_args(each.model_fields["name"].annotation)[0]: each for each in get_args(union)}
    assert classes.keys() == SCHEDULES.keys()
    for name, function in SCHEDULES.items():
        keywords = set(inspect.signature(function).parameters) - {"update"}
        assert keywords - {"width"} == set(classes[name].model_fields) - {"name"}


def test_a_polynomial_without_an_end_ends_with_the_run():
    def rate(end):
        settings = Polynomial(name="polynomial", learning_rate=1.0, warmup=0, end=end)
        return learning_rate(settings, width=8, updates=200)

    assert rate(None)(100) == pytest.approx(0.5)
    assert rate(None)(200) == 0
    assert rate(400)(200) == pytest.approx(0.5)


def test_noam_takes_the_width_of_the_model():
    settings = Noam(name="noam", scale=2.0, warmup=4)
    by_width = [learning_rate(settings, width=width, updates=9)(4) for width in (4, 16)]
    assert by_width == pytest.approx([2 * 4**-0.5 * 4**-0.5, 2 * 16**-0.5 * 4**-0.5])


def test_the_rate_rises_linearly_reaches_its_peak_and_falls_with_the_root():
    rates = [inverse_sqrt(update, learning_rate=1.0, warmup=100) for update in (1, 50, 100, 400)]
    assert rates == pytest.approx([0.01, 0.5, 1.0, 0.5])


def test_without_warmup_the_first_update_has_the_peak():
    assert inverse_sqrt(1, learning_rate=0.3, warmup=0) == pytest.approx(0.3)
    assert inverse_sqrt(4, learning_rate=0.3, warmup=0) == pytest.approx(0.15)


def test_a_polynomial_of_power_one_falls_in_a_straight_line_and_stays_at_its_end():
    def rate(update, power=1.0):
        return polynomial(update, learning_rate=1.0, warmup=10, end=110, power=power, final=0.2)

    assert [rate(update) for update in (5, 10, 60, 110, 500)] == pytest.approx(
        [0.5, 1.0, 0.6, 0.2, 0.2]
    )
    assert rate(60, power=2.0) == pytest.approx(0.2 + 0.8 * 0.25)
    straight = polynomial(1, learning_rate=1.0, warmup=0, end=4, power=1.0, final=0.0)
    assert straight == pytest.approx(0.75)


def test_noam_peaks_at_its_warmup_as_the_transformers_and_lingvos_recipes_say():
    def rate(update, scale=3.0, width=512, warmup=40_000):
        return noam(update, scale=scale, width=width, warmup=warmup, step_duration=1)

    assert rate(40_000) == pytest.approx(6.63e-4, rel=1e-3)
    assert rate(40_000, width=1024) == pytest.approx(4.69e-4, rel=1e-3)
    assert rate(1) == pytest.approx(3 * 512**-0.5 * 40_000**-1.5)
    assert rate(160_000) == pytest.approx(rate(40_000) / 2)
    assert max(range(39_990, 40_010), key=rate) == 40_000


def test_a_step_of_eight_updates_delays_noams_peak_eightfold():
    def rate(update):
        return noam(update, scale=1.0, width=512, warmup=4000, step_duration=8)

    assert rate(8 * 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert rate(1) == rate(8) != rate(9)


@pytest.mark.parametrize("replicas", [1, 8])
def test_the_ramp_of_replicas_holds_and_then_halves_a_single_ones_rate(replicas):
    def times(done):
        rate = replica_ramp(
            done + 1,
            learning_rate=1e-4,
            replicas=replicas,
            warmup=500,
            decay_start=400_000,
            decay_end=1_200_000,
        )
        return rate / 1e-4

    start, end = 400_000 // replicas, 1_200_000 // replicas
    assert times(0) == pytest.approx(1.0)
    assert times(250 * replicas) == pytest.approx((1 + replicas) / 2)
    assert times(500 * replicas) == times(start) == pytest.approx(replicas)
    assert times((start + end) // 2) == pytest.approx((replicas * 0.5) ** 0.5)
    assert times(end) == times(10 * end) == pytest.approx(0.5)
