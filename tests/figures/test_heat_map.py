"""Heat maps: what figures.yaml may say, the numbers of the csv, and the drawing."""

import matplotlib
import pytest

from fathom.artefacts.figures import drawing, heat_map
from fathom.io.errors import Findings
from tests.support.refused import prose, refused
from tests.support.small_figures import figure, findings, inputs, run, write_array, write_series

SAMPLES = (
    "kind: heat_map, series: samples.decoder, rows: task, columns: layer, at: 100%,"
    " panels: {A: small}"
)
PLACES = (
    "kind: heat_map, rows: none, columns: layer, at: [1%, 100%],"
    " panels: {D: {run: small, series: samples.decoder}}"
)
SIMILARITY = (
    "kind: heat_map, series: similarity, rows: task, columns: task, numbers: true,"
    " range: [lowest possible, 1], panels: {A: {run: small, order: [fra, bos]}}"
)


@pytest.fixture
def small(tmp_path):
    files = run(tmp_path)
    write_series(
        files,
        "decoder_samples",
        ("task", "layer"),
        [
            (update, (task, str(layer)), layer / 10 + update / 1000 + (task == "fra"))
            for update in (1, 100)
            for task in ("bos", "fra")
            for layer in (1, 2, 10)
        ],
    )
    return files


def numbers(tmp_path, text, runs):
    """Return a figure's numbers."""
    return heat_map.rows(figure(tmp_path, text).settings, inputs(runs))


def drawn(tmp_path, text, runs):
    """Return a figure as it is drawn."""
    settings = figure(tmp_path, text).settings
    with matplotlib.rc_context(drawing.style()):
        return heat_map.draw(settings, heat_map.rows(settings, inputs(runs)))


@pytest.mark.parametrize(
    ("text", "old", "new", "key", "nearest"),
    [
        (SAMPLES, "A: small", "A: smal", "panels.A", "small"),
        (SAMPLES, "samples.decoder", "samples.decodre", "series", "samples.decoder"),
        (SAMPLES, "rows: task", "rows: tasks", "rows", "task"),
        (SAMPLES, "columns: layer", "columns: layers", "columns", "layer"),
        (SAMPLES, "at: 100%, ", "", "figure1", "at"),
        (SAMPLES, "columns: layer, ", "", "figure1", "columns"),
        (SIMILARITY, "fra, bos", "fra, bso", "order", "bos"),
        (PLACES, "[1%, 100%]", "100%", "at", "rows"),
        (SAMPLES, "at: 100%", "at: [1%, 100%]", "at", "rows"),
        (SAMPLES, "at: 100%", "range: [1, 0], at: 100%", "range", prose("range", 1.0, 0.0)),
    ],
)
def test_what_does_not_exist_is_a_finding_with_its_key(tmp_path, text, old, new, key, nearest):
    assert old in text
    finding = "\n".join(findings(figure(tmp_path, text.replace(old, new))))
    assert key in finding
    assert nearest in finding


@pytest.mark.parametrize(
    ("text", "old", "new", "key"),
    [
        (SIMILARITY, "fra, bos", "fra, fra", "panels.A.order"),
        (PLACES, "[1%, 100%]", "[1%, 1%]", "at"),
    ],
)
def test_a_name_or_place_is_there_once(tmp_path, text, old, new, key):
    assert old in text
    with refused("twice", ..., 2, where=f"figure1.{key}", error=Findings):
        figure(tmp_path, text.replace(old, new))


@pytest.mark.parametrize("text", [SAMPLES, PLACES, SIMILARITY])
def test_a_right_figure_has_no_finding(tmp_path, text):
    assert findings(figure(tmp_path, text)) == []


def test_claims_can_name_each_panel_and_its_rows(tmp_path):
    text = "kind: heat_map, series: similarity, rows: task, columns: task, panels: {A: small}"
    (drawn,) = figure(tmp_path, text).settings.drawn()
    assert (drawn.panel, drawn.label, drawn.axes) == ("A", "", ("task", "task_2"))
    text = "kind: heat_map, series: samples.decoder, rows: none, columns: layer, at: [2%, 100%]"
    (drawn,) = figure(tmp_path, f"{text}, run: small").settings.drawn()
    assert (drawn.run, drawn.rows) == ("small", ("2%", "100%"))


def test_only_measured_series_have_keys(tmp_path):
    assert figure(tmp_path, SAMPLES).settings.measurements("small") == ()
    assert figure(tmp_path, SIMILARITY).settings.measurements("small") == ("similarity", "masks")


def test_fields_are_of_one_place_in_the_training(tmp_path, small):
    frame = numbers(tmp_path, SAMPLES, [small])
    assert frame["update"].unique().tolist() == [100]
    fields = {(row.row, row.column): row.value for row in frame.itertuples()}
    assert fields["fra", "10"] == pytest.approx(2.1)
    assert len(fields) == 6


def test_several_places_are_rows_and_average_the_tasks(tmp_path, small):
    frame = numbers(tmp_path, PLACES, [small])
    fields = {(row.row, row.column): row.value for row in frame.itertuples()}
    assert list(dict.fromkeys(frame["row"])) == ["1%", "100%"]
    assert fields["100%", "1"] == pytest.approx(0.1 + 0.1 + 0.5)


def test_a_moving_median_runs_along_each_row(tmp_path):
    files = run(tmp_path)
    values = {1: (1.0, 9.0, 2.0), 2: (0.0, 0.0, 0.0)}
    rows = [
        (update + 1, (str(layer),), value)
        for layer, series in values.items()
        for update, value in enumerate(series)
    ]
    write_series(files, "decoder_utilisation", ("layer",), rows)
    text = (
        "kind: heat_map, series: utilisation.decoder, rows: layer, columns: update, smooth: 3,"
        " panels: {A: small}"
    )
    frame = numbers(tmp_path, text, [files])
    assert frame[frame["row"] == "1"]["value"].tolist() == [5.0, 2.0, 5.5]
    assert frame[frame["row"] == "2"]["value"].tolist() == [0.0, 0.0, 0.0]


def similar(files):
    """Write a similarity of two tasks, and masks of 3 active groups of 4."""
    labels = {"task": ["bos", "fra"]}
    write_array(
        files, "similarity", "sharing", ("task", "task"), labels, [[1.0, 0.75], [0.75, 1.0]]
    )
    return files


def test_tasks_are_in_the_given_order_and_fields_have_numbers(tmp_path, small):
    axes = drawn(tmp_path, SIMILARITY, [similar(small)]).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["fra", "bos"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["fra", "bos"]
    assert [text.get_text() for text in axes.texts] == ["1.00", "0.75", "0.75", "1.00"]


def test_a_task_with_another_text_is_called_after_it(tmp_path):
    small = run(tmp_path, shown_as={"fra": "FRA~songs"})
    axes = drawn(tmp_path, SIMILARITY, [similar(small)]).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["FRA~songs", "bos"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["FRA~songs", "bos"]


def test_the_lowest_possible_similarity_follows_from_the_masks(tmp_path, small):
    """3 of 4 groups are active: two tasks share 2 of 3 at least."""
    labels = {"task": ["bos"], "site": ["encoder 1"], "group": list("1234")}
    write_array(small, "masks", "sharing", ("task", "site", "group"), labels, [[[1, 1, 0, 1]]])
    assert heat_map._lowest(small) == pytest.approx(2 / 3)


def test_layers_grow_upwards_and_names_read_downwards(tmp_path, small):
    image = drawn(tmp_path, SAMPLES, [small]).axes[0].images[0]
    assert image.origin == "upper"
    assert image.get_array().shape == (2, 3)
    assert image.get_array()[1, 2] == pytest.approx(2.1)


def test_a_panel_without_numbers_says_why(tmp_path):
    axes = drawn(tmp_path, SAMPLES, [run(tmp_path)]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["not run"]
