"""What figures.yaml may say: names, series, axes and tables that exist and fit."""

from typing import get_args

import pytest
from matplotlib.colors import is_color_like

from fathom.config.schema.figures import Colour, FigureSettings
from fathom.io.errors import Findings
from tests.support.small_figures import (
    BARS,
    CELLS,
    CURVES,
    MASKS,
    SAMPLES,
    SIMILARITY,
    figure,
    findings,
)
from tests.support.small_tables import TABLES, table

WEIGHTS = "kind: lines, series: mixture_weights, x: update, line_by: source, lines: {a: small}"
PLACES = (
    "kind: heat_map, rows: none, columns: layer, at: [1%, 100%],"
    " panels: {D: {run: small, series: samples.decoder}}"
)


@pytest.mark.parametrize(
    ("text", "old", "new", "key", "words"),
    [
        (CURVES, "a: small", "a: smal", "lines.a", "'small'"),
        (CURVES, "nll.train", "nll.trian", "series", "'nll.train'"),
        (CURVES, "nll.train", "nll.train in bit", "series", "'bits'"),
        (SAMPLES, "samples.decoder", "samples.decoder in bits", "series", "no unit 'bits' of samp"),
        (CURVES, "series: nll.train, ", "", "figure1: ", "no series is given"),
        (CURVES, "x: update", "x: updates", "x", "'update'"),
        (CURVES, "lines: {a", "colours: {c: red}, lines: {a", "colours.c", "valid names: a, b"),
        (CURVES, "series: nll.train", "series: samples.decoder", "figure1: ", "add `select"),
        (CURVES, "series: nll.train", "series: gates.decoder, at: 50%", "at", "delete `at`"),
        (CURVES, "x: update,", "", "figure1: ", "x: update"),
        (CURVES, "lines: {a: small, b: deep}", "smooth: 3", "figure1: ", "add `lines"),
        (CURVES, "x: update", "x: layer, panels: {A: {}}", "x", "no axis 'layer'"),
        (CURVES, "x: update", "panels: {A: {x: layer}}", "panels.A.x", "no axis 'layer'"),
        (SAMPLES, "A: small", "A: smal", "panels.A", "'small'"),
        (SAMPLES, "samples.decoder", "samples.decodre", "series", "'samples.decoder'"),
        (SAMPLES, "rows: task", "rows: tasks", "rows", "'task'"),
        (SAMPLES, "columns: layer", "columns: layers", "columns", "'layer'"),
        (SAMPLES, "at: 100%, ", "", "panels.A: ", "add `at`"),
        (SAMPLES, "columns: layer, ", "", "panels.A: ", "add `columns`"),
        (SAMPLES, "at: 100%", "at: [1%, 100%]", "at", "rows: none"),
        (SAMPLES, "at: 100%", "range: [1, 0], at: 100%", "range", "1.0 is not below 0.0"),
        (SIMILARITY, "fra, bos", "fra, bso", "panels.A.order", "'bos'"),
        (PLACES, "[1%, 100%]", "100%", "at", "rows: none"),
        (CELLS, "table: table1", "table: tabel1", "table", "'table1'"),
        (CELLS, "value: avg", "value: agv", "value", "'avg'"),
        (CELLS, '0.3": small', '0.3": smal', "cells.2, 0.3", "'small'"),
        (CELLS, '"2, 0.3"', '"2"', "cells.2", "'2' is not a row and a column"),
        (CELLS, "rows: λ, ", "", "figure1: ", "add `rows`"),
        (CELLS, "numbers: true", "smooth: 3", "smooth", "cells of a table have no `smooth`"),
        (CELLS, "numbers: true", "range: [lowest possible, 1]", "range", "write a number"),
        (CELLS, "table: table1, ", "", "cells", "add `table`"),
        (MASKS, "A: small", "A: smal", "panels.A", "'small'"),
        (MASKS, "series: masks", "series: mask", "series", "'masks'"),
        (MASKS, "points: task", "points: tasks", "points", "'task'"),
        (MASKS, "series: masks", "series: gradient_ratio", "points", "none"),
        (BARS, "table: table1", "table: tabel1", "table", "'table1'"),
        (BARS, "less: 6/6", "less: 6/7", "less", "'6/6'"),
        (BARS, 'deeper: "24/24"', 'deeper: "24/25"', "bars.deeper", "'24/24'"),
        (BARS, "LL-D, 6/12", "LL-D, 6/21", "not_drawn", "'LL-D, 6/12'"),
        (BARS, "[tasks]", "[bso]", "columns", "'bos'"),
        (BARS, '"24/24"}', '"24/24", same: "24/24"}', "bars.same", "row '24/24' is in bars.deeper"),
        (BARS, '["LL-D, 6/12"]', '["24/24"]', "not_drawn.0", "row '24/24' is in bars.deeper"),
        (BARS, '"24/24"}', '"24/24", none: 6/6}', "bars.none", "row '6/6' is subtracted"),
        (BARS, "[tasks]", "[bos, tasks]", "columns", "column 'bos' is there 2 times"),
        (BARS, "[tasks]", "[tasks, depth_decoder]", "columns", "columns of several units"),
    ],
)
def test_what_does_not_fit_is_a_finding_with_its_key(tmp_path, text, old, new, key, words):
    assert old in text
    tables = {"table1": table(tmp_path)}
    assert findings(figure(tmp_path, text), tables) == []
    wrong = [
        finding
        for finding in findings(figure(tmp_path, text.replace(old, new)), tables)
        if words in finding and ("figure1" in key or f"figure1.{key}" in finding)
    ]
    assert wrong
    assert all(finding.startswith("figures.yaml:1: figure1") for finding in wrong)


@pytest.mark.parametrize(
    ("text", "axis", "place", "remedy"),
    [
        ("samples.decoder", "task", "last", None),
        ("samples.decoder", "task", "bos", None),
        ("mixture_weights", "memory", "last", None),
        ("mixture_weights", "memory", "2", None),
        ("samples.decoder", "layer", "99", "write 1 to 6, or last"),
        ("samples.decoder", "layer", "lats", "write 1 to 6, or last"),
        ("samples.decoder", "task", "bso", "'bos'"),
        ("mixture_weights", "memory", "7", "write 1 to 6, or last"),
        ("mixture_weights", "source", "13", "write 0 to 12, or last"),
    ],
)
def test_a_place_that_the_axis_lacks_is_a_finding_with_its_key(tmp_path, text, axis, place, remedy):
    x = {"layer": "task", "task": "layer", "memory": "source", "source": "memory"}[axis]
    drawn = f"kind: lines, series: {text}, x: {x}, at: 50%, select: {{{axis}: '{place}'}}"
    found = findings(figure(tmp_path, f"{drawn}, lines: {{a: deep}}"))
    assert len(found) == (remedy is not None)
    for finding in found:
        assert finding.startswith(f"figures.yaml:1: figure1.select.{axis}: no {axis} '{place}'; ")
        assert remedy in finding


def test_a_table_must_have_what_its_bars_show(tmp_path):
    means = table(tmp_path, text=TABLES.replace("[params, avg, tasks]", "[params, avg]", 1))
    (finding,) = findings(figure(tmp_path, BARS), {"table1": means})
    assert "figure1.columns: the table has no columns of single tasks" in finding
    blocks = """
table1:
  title: Domains in blocks
  section: §5
  blocks:
    A: {rows: {one: small}, columns: [bos, fra]}
    B: {rows: {two: deep}, columns: [fra]}
"""
    text = "kind: grouped_bars, table: table1, columns: [bos, fra], less: one, bars: {other: two}"
    (finding,) = findings(figure(tmp_path, text), {"table1": table(tmp_path, text=blocks)})
    assert "figure1.bars.other: row 'two' has no column 'bos'" in finding


@pytest.mark.parametrize(
    ("text", "old", "new", "key"),
    [
        (CURVES, "x: update", "x: 3", "x"),
        *(
            (CURVES, "x: update", f"x: update, {wrong}", wrong.partition(":")[0])
            for wrong in ("smooth: 0", "at: half", "at: epoch 0", "at: 0%", "at: 500%")
        ),
        (CURVES, "x: update", "x: update, labels: [a, a]", "labels"),
        (CURVES, "x: update", "x: update, log: true", "log"),
        (CURVES, "x: update", "x: update, colours: {a: bluee}", "colours.a"),
        (SIMILARITY, "fra, bos", "fra, fra", "panels.A.order"),
        (PLACES, "[1%, 100%]", "[1%, 1%]", "at"),
        (BARS, '{deeper: "24/24"}', "{}", "bars"),
        (BARS, "[tasks]", "[]", "columns"),
        (BARS, "[tasks]", "[bos, bos]", "columns"),
        (BARS, '["LL-D, 6/12"]', '["24/24", "24/24"]', "not_drawn"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_line(tmp_path, text, old, new, key):
    assert old in text
    with pytest.raises(Findings) as caught:
        figure(tmp_path, text.replace(old, new))
    assert caught.value.where == f"figures.yaml:1: figure1.{key}"


def test_a_colour_is_a_name_of_matplotlibs_or_a_number(tmp_path):
    for colour in (*get_args(get_args(Colour)[0]), "#4477AA"):
        assert is_color_like(colour)
        figure(tmp_path, f"{CURVES}, colours: {{a: '{colour}'}}")


def test_a_panel_replaces_what_the_figure_says(tmp_path):
    text = (
        "kind: lines, series: nll.train, x: update, smooth: 3, lines: {a: small},"
        " panels: {T: {}, V: {series: nll.valid, lines: {b: {run: deep, series: gradient_norm}}}}"
    )
    settings = figure(tmp_path, text).settings
    parts = settings.parts()
    assert (parts["T"].series, parts["T"].smooth) == ("nll.train", 3)
    assert (parts["V"].series, parts["V"].smooth) == ("nll.valid", 3)
    assert parts["V"].line("b").series == "gradient_norm"
    assert settings.runs == ("small", "deep")
    assert settings.series_of("deep") == ("gradient_norm",)


def test_only_measured_series_have_keys(tmp_path):
    assert figure(tmp_path, SAMPLES).settings.measurements("small") == ()
    assert figure(tmp_path, SIMILARITY).settings.measurements("small") == ("similarity", "masks")
    assert figure(tmp_path, MASKS).settings.measurements("small") == ("masks",)
    nothing = FigureSettings(kind="lines", title="A title", section="§4")
    assert (nothing.runs, nothing.tables, nothing.measurements("a")) == ((), (), ())
