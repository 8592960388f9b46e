"""Slopes of a curve, what is expected of it, and its files."""

import pytest

from benchmarks.growth.curves import Curve, Panel, write

LINE = Curve("line", [(6.0, 10.0), (12.0, 22.0), (24.0, 46.0), (48.0, 118.0)])
FLAT = Curve("flat", [(1.0, 4.0), (8.0, 3.0), (25.0, 4.4)], constant=True)


def test_slopes_are_between_neighbours_and_overall():
    assert LINE.slopes == [2.0, 2.0, 3.0]
    assert LINE.slope == pytest.approx(108 / 42)


def test_the_change_of_a_line_is_that_of_its_slope_and_of_a_constant_that_of_its_value():
    assert LINE.change == pytest.approx(1 - 2.0 / (108 / 42))
    assert FLAT.change == pytest.approx(0.25)


def test_a_line_goes_on_as_it_begins_and_a_constant_stays():
    assert [LINE.expected(x) for x in (6.0, 12.0, 48.0)] == [10.0, 22.0, 94.0]
    assert [FLAT.expected(x) for x in (1.0, 25.0)] == [4.0, 4.0]


@pytest.mark.slow
def test_every_point_is_in_the_csv_next_to_what_is_expected_and_the_picture_is_drawn(tmp_path):
    write(tmp_path / "depth", [Panel("layers", "ms", [LINE]), Panel("languages", "MB", [FLAT])])
    rows = (tmp_path / "depth.csv").read_text().split("\n")
    assert rows[0] == "curve,x,value,expected"
    assert rows[4] == '"ms, line",48.0,118,94'
    assert rows[7] == '"MB, flat",25.0,4.4,4'
    assert (tmp_path / "depth.png").read_bytes().startswith(b"\x89PNG")
