"""Times have the unit that fits."""

import pytest

from fathom.cli.durations import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.9, "< 1 s"),
        (59.2, "59 s"),
        (90, "1.5 min"),
        (7200, "2 h"),
        (200_000, "2.31 days"),
        (1e9, "11,574 days"),
    ],
)
def test_a_time_has_the_unit_that_fits(seconds, text):
    assert duration(seconds) == text


def test_the_time_of_devices_has_no_days():
    assert duration(200_000, days=False) == "55.6 h"
    assert duration(3.6e6, days=False) == "1,000 h"
    assert duration(90, days=False) == "1.5 min"
