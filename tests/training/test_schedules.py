import pytest

from fathom.training.schedules import inverse_sqrt


def test_the_rate_rises_linearly_reaches_its_peak_and_falls_with_the_root():
    rates = [inverse_sqrt(update, peak=1.0, warmup=100) for update in (1, 50, 100, 400)]
    assert rates == pytest.approx([0.01, 0.5, 1.0, 0.5])


def test_without_warmup_the_first_update_has_the_peak():
    assert inverse_sqrt(1, peak=0.3, warmup=0) == pytest.approx(0.3)
    assert inverse_sqrt(4, peak=0.3, warmup=0) == pytest.approx(0.15)
