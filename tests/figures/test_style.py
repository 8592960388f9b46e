"""The style is a plain dict that matplotlib accepts; series differ in colour and in hatching."""

import matplotlib

from fathom.figures.style import LOOKS, look, settings


def test_matplotlib_knows_every_setting():
    with matplotlib.rc_context(settings()):
        assert matplotlib.rcParams["font.size"] == 7.0


def test_the_figure_is_as_wide_as_the_text():
    width, height = settings(height=0.5)["figure.figsize"]
    assert 5.4 < width < 5.6
    assert height == width / 2


def test_series_differ_in_colour_and_in_hatching():
    assert len({each.color for each in LOOKS}) == len({each.hatch for each in LOOKS}) == len(LOOKS)


def test_looks_begin_again_after_the_last():
    assert look(len(LOOKS)) == look(0)
