"""What all kinds of figures check: names, series, axes, and where each is written."""

import pytest

from fathom.artefacts.figures.settings import (
    check_axes,
    check_series,
    path_of,
    unknown_name,
)
from fathom.config.schema.figures import SERIES, KindSettings, measurement_keys
from tests.support.small_figures import figure


def where(path):
    return ".".join(map(str, path))


def test_a_kind_draws_nothing_unless_it_says_so():
    settings = KindSettings()
    assert (settings.runs, settings.tables, settings.measurements("a")) == ((), (), ())


def test_only_series_that_are_measured_have_keys():
    names = ["gates.decoder", None, "gradient_norm", "similarity", "gates.decoder"]
    assert measurement_keys(names) == ("gates.decoder", "similarity")


def test_an_unknown_name_has_its_place_and_the_nearest_one():
    (finding,) = unknown_name("run", "smal", ("small", "deep"), "figures.yaml:3: lines.a")
    assert (finding.where, "'small'" in finding.remedy) == ("figures.yaml:3: lines.a", True)
    assert list(unknown_name("run", "small", ("small",), "x")) == []


def test_a_figure_without_a_series_is_a_finding():
    series, (finding,) = check_series(None, "place")
    assert (series, finding.where) == (None, "place")


@pytest.mark.parametrize(
    ("used", "at", "key"),
    [
        ({"layer": "x"}, True, None),
        ({"layer": "x", "update": "columns"}, False, None),
        ({"layers": "x"}, True, "x"),
        ({"layer": "x"}, False, ""),
        ({"update": "x"}, False, ""),
    ],
)
def test_every_axis_is_drawn_or_selected(used, at, key):
    findings = list(check_axes(SERIES["utilisation.decoder"], used, at, where))
    assert [finding.where for finding in findings][:1] == ([] if key is None else [key])


def test_a_series_without_updates_has_no_place_in_the_training():
    used = {"task": "rows", "layer": "columns"}
    (finding,) = check_axes(SERIES["gates.decoder"], used, True, where)
    assert finding.where == "at"


def test_a_key_is_written_in_the_panel_or_for_all_panels(tmp_path):
    drawn = figure(
        tmp_path, "kind: lines, x: update, lines: {a: small}, panels: {A: {series: gradient_norm}}"
    )
    assert path_of(drawn, "A", ("series",)) == ("panels", "A", "series")
    assert path_of(drawn, "A", ("x",)) == ("x",)
