"""Lines: what figures.yaml may say, the numbers of the csv, and the drawing."""

from typing import get_args

import matplotlib
import pytest
from matplotlib.colors import is_color_like

from fathom.artefacts.figures import drawing, lines
from fathom.config.schema.figures import Colour
from fathom.io.errors import Findings
from tests.support.refused import refused, says
from tests.support.small_figures import (
    figure,
    findings,
    inputs,
    run,
    write_metrics,
    write_series,
)

CURVES = "kind: lines, series: nll.train, x: update, lines: {a: small, b: deep}"
LAYERS = "kind: lines, series: gradient_norm.decoder, x: layer, at: 50%, lines: {a: small}"


@pytest.fixture
def small(tmp_path):
    files = run(tmp_path)
    write_metrics(
        files, [(1, 0.1, 4.0, 5.0, 2.0), (2, 0.2, 3.0, None, 1.0), (3, 0.3, 8.0, 4.0, 1.0)]
    )
    places = [
        (update, (str(layer),), update + layer / 10)
        for update in (1, 50, 100)
        for layer in (1, 2, 10)
    ]
    write_series(files, "decoder_gradient_norm", ("layer",), places)
    weights = [
        (update, (str(source), str(memory)), source + memory / 10 + update)
        for update in (1, 2)
        for source in range(3)
        for memory in (1, 2)
    ]
    write_series(files, "encoder_weights", ("source", "memory"), weights)
    return files


def numbers(tmp_path, text, runs):
    """Return a figure's numbers."""
    return lines.rows(figure(tmp_path, text).settings, inputs(runs))


def drawn(tmp_path, text, runs):
    """Return a figure as it is drawn."""
    settings = figure(tmp_path, text).settings
    with matplotlib.rc_context(drawing.style()):
        return lines.draw(settings, lines.rows(settings, inputs(runs)))


@pytest.mark.parametrize(
    ("old", "new", "key", "nearest"),
    [
        ("a: small", "a: smal", "lines.a", "small"),
        ("nll.train", "nll.trian", "series", "nll.train"),
        ("x: update", "x: updates", "x", "update"),
        ("lines: {a", "colours: {c: red}, lines: {a", "colours.c", "valid names: a, b"),
        ("series: nll.train", "series: samples.decoder", "figure1", "select"),
        ("x: update,", "", "figure1", "x: update"),
        ("lines: {a: small, b: deep}", "smooth: 3", "figure1", "lines"),
    ],
)
def test_what_does_not_exist_is_a_finding_with_its_key(tmp_path, old, new, key, nearest):
    assert old in CURVES
    finding = findings(figure(tmp_path, CURVES.replace(old, new)))[0]
    assert f"figure1.{key}" in finding or key in finding.split(";")[0]
    assert nearest in finding


@pytest.mark.parametrize("text", ["samples.decoder, at: 50%", "mixture_weights, at: 50%"])
@pytest.mark.parametrize("place", ["last", "2"])
def test_a_place_that_the_axis_has_is_right(tmp_path, text, place):
    x, axis = ("layer", "task") if "samples" in text else ("source", "memory")
    place = place if axis == "memory" or place == "last" else "bos"
    drawn = (
        f"kind: lines, series: {text}, x: {x}, select: {{{axis}: '{place}'}}, lines: {{a: deep}}"
    )
    assert findings(figure(tmp_path, drawn)) == []


@pytest.mark.parametrize(
    ("text", "axis", "place", "message"),
    [
        ("samples.decoder", "layer", "99", says("unknown", "layer", 99, remedy="1 to 6")),
        ("samples.decoder", "layer", "lats", says("unknown", "layer", "lats", remedy="last")),
        ("samples.decoder", "task", "bso", says("unknown", "task", "bso", nearest="bos")),
        ("mixture_weights", "memory", "7", says("unknown", "memory", 7, remedy="1 to 6")),
        ("mixture_weights", "source", "13", says("unknown", "source", 13, remedy="0 to 12")),
    ],
)
def test_a_place_that_the_axis_lacks_is_a_finding_with_its_key(
    tmp_path, text, axis, place, message
):
    x = {"layer": "task", "task": "layer", "memory": "source", "source": "memory"}[axis]
    drawn = f"kind: lines, series: {text}, x: {x}, at: 50%, select: {{{axis}: '{place}'}}"
    (finding,) = findings(figure(tmp_path, f"{drawn}, lines: {{a: deep}}"))
    assert f"figure1.select.{axis}: " in finding
    message.check(finding)


def test_a_colour_is_a_name_of_matplotlibs_or_a_number(tmp_path):
    for colour in (*get_args(get_args(Colour)[0]), "#4477AA"):
        assert is_color_like(colour)
        figure(tmp_path, f"{CURVES}, colours: {{a: '{colour}'}}")
    with refused("not possible", "bluee", where="colours.a", nearest="blue", error=Findings):
        figure(tmp_path, f"{CURVES}, colours: {{a: bluee}}")


@pytest.mark.parametrize(
    "wrong",
    [
        "smooth: 0",
        "at: half",
        "at: epoch 0",
        "at: 0%",
        "at: 500%",
        "labels: [a, a]",
        "log: true",
        "x: 3",
    ],
)
def test_what_is_no_setting_is_refused_with_its_line(tmp_path, wrong):
    key = wrong.partition(":")[0]
    text = CURVES.replace("x: update, ", "") if key == "x" else CURVES
    with refused(where=f"figures.yaml:1: figure1.{key}", error=Findings):
        figure(tmp_path, f"{text}, {wrong}")


def test_a_panel_replaces_what_the_figure_says(tmp_path):
    text = (
        "kind: lines, series: nll.train, x: update, smooth: 3, lines: {a: small},"
        " panels: {T: {}, V: {series: nll.valid, lines: {b: {run: deep, series: gradient_norm}}}}"
    )
    parts = figure(tmp_path, text).settings.parts()
    assert (parts["T"].series, parts["T"].smooth) == ("nll.train", 3)
    assert (parts["V"].series, parts["V"].smooth) == ("nll.valid", 3)
    assert parts["V"].line("b").series == "gradient_norm"
    assert figure(tmp_path, text).settings.runs == ("small", "deep")


def test_a_curve_has_all_recorded_points_and_its_moving_median(tmp_path, small):
    frame = numbers(tmp_path, f"{CURVES}, smooth: 3", [small, run(tmp_path, "deep")])
    curve = frame[frame["line"] == "a"]
    assert curve["value"].tolist() == [4.0, 3.0, 8.0]
    assert curve["smoothed"].tolist() == [3.5, 4.0, 5.5]


def test_a_run_that_recorded_nothing_has_words(tmp_path, small):
    deep = run(tmp_path, "deep")
    frame = numbers(tmp_path, CURVES, [small, deep])
    assert frame[frame["line"] == "b"]["words"].tolist() == ["not run"]
    deep.folder.mkdir(parents=True)
    frame = numbers(tmp_path, CURVES, [small, deep])
    assert frame[frame["line"] == "b"]["words"].tolist() == ["not recorded"]


def test_layers_are_in_order_at_one_place_of_the_training(tmp_path, small):
    frame = numbers(tmp_path, LAYERS, [small])
    assert frame["x"].tolist() == [1.0, 2.0, 10.0]
    assert frame["update"].unique().tolist() == [50]


def test_a_line_for_each_place_on_an_axis(tmp_path, small):
    text = (
        "kind: lines, series: mixture_weights, x: update, select: {memory: last}, line_by: source,"
        " labels: [0%, 50%, 100%], lines: {s: small}"
    )
    assert findings(figure(tmp_path, text)) == []
    frame = numbers(tmp_path, text, [small])
    first = frame[frame["update"] == 1]
    assert first["value"].tolist() == pytest.approx([1.2, 2.2, 3.2])
    assert list(zip(first["line"], first["label"], strict=True))[1] == ("1", "50%")
    names = [item.get_text() for item in drawn(tmp_path, text, [small]).axes[0].get_legend().texts]
    assert names == ["0%", "50%", "100%"]


def test_claims_can_name_each_line_and_lines_along_an_axis_by_their_labels(tmp_path):
    text = f"{CURVES}, panels: {{A: {{}}, B: {{x: epoch}}}}"
    made = figure(tmp_path, text).settings.drawn()
    assert [(one.panel, one.label, one.axes, one.run) for one in made] == [
        ("A", "a", ("update",), "small"),
        ("A", "b", ("update",), "deep"),
        ("B", "a", ("epoch",), "small"),
        ("B", "b", ("epoch",), "deep"),
    ]
    text = "kind: lines, series: mixture_weights, x: update, line_by: source, lines: {a: small}"
    assert figure(tmp_path, text).settings.drawn() == ()
    labelled = figure(tmp_path, f"{text}, labels: [0%, 100%]").settings.drawn()
    assert [one.label for one in labelled] == ["0%", "100%"]


def test_labels_are_spread_evenly_over_the_lines():
    assert lines._labels(("0%", "50%", "100%"), 5) == ["0%", "", "50%", "", "100%"]
    assert lines._labels(("0%", "40%", "60%", "100%"), 3) == ["0%", "40%, 60%", "100%"]
    assert lines._labels((), 3) == []


def test_the_drawing_has_a_panel_for_each_and_names_its_axes(tmp_path, small):
    text = (
        "kind: lines, x: update, reference: 1, colours: {a: red}, lines: {a: small},"
        " panels: {Train: {series: nll.train in bits}, Norm: {series: gradient_norm, log_y: true}}"
    )
    train, norm = drawn(tmp_path, text, [small]).axes
    assert (train.get_title("left"), norm.get_title("left")) == ("Train", "Norm")
    assert (train.get_xlabel(), train.get_ylabel()) == ("update", "nll, train (bits)")
    assert (train.get_yscale(), norm.get_yscale()) == ("linear", "log")
    assert [line.get_color() for line in train.lines] == ["red", "black"]


def test_a_missing_line_is_named_in_the_legend(tmp_path, small):
    figure = drawn(tmp_path, CURVES, [small, run(tmp_path, "deep")])
    assert [item.get_text() for item in figure.axes[0].get_legend().texts] == ["a", "b (not run)"]
