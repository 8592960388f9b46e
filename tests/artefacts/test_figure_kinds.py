"""The numbers and the drawing of each kind of figure, and the files and small print of all."""

import math
from dataclasses import replace
from importlib import import_module
from itertools import combinations, product

import matplotlib
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager
from matplotlib.path import Path
from pandas import DataFrame, concat, read_csv

from fathom.artefacts.figures import drawing, heat_map, kinds, labelled_points, lines
from fathom.artefacts.table.differences import difference
from fathom.results.measurements import Number, Record
from fathom.results.recipe import RECIPE
from tests.support.small_disk import small_disk
from tests.support.small_figures import (
    BARS,
    CELLS,
    CURVES,
    MASKS,
    REFERENCE,
    SAMPLES,
    SIMILARITY,
    end,
    figure,
    inputs,
    run,
    write_array,
    write_arrays,
    write_metrics,
    write_series,
)
from tests.support.small_tables import Results, compared, reported, scores, texts


def numbers(folder, text, *runs):
    """Return the numbers of a figure's csv."""
    return kinds.rows(figure(folder, text), inputs(runs))


def axes_of(folder, text, given):
    """Return the panels of a figure as it is drawn from runs, or from inputs."""
    given = inputs(given) if isinstance(given, list) else given
    drawn = figure(folder, text)
    with drawing.styled():
        module = import_module(f"fathom.artefacts.figures.{drawn.settings.kind}")
        return module.draw(drawn.settings, kinds.rows(drawn, given)).axes


def words(texts_of):
    return [text.get_text() for text in texts_of]


@pytest.fixture
def small(tmp_path):
    """A run with metrics, and with series of layers, of tasks and of sources."""
    files = run(tmp_path)
    write_metrics(
        files, [(1, 0.1, 4.0, 5.0, 2.0), (2, 0.2, 3.0, None, 1.0), (3, 0.3, 8.0, 4.0, 1.0)]
    )
    layers = [(u, (str(at),), u + at / 10) for u, at in product((1, 50, 100), (1, 2, 10))]
    write_series(files, "decoder_gradient_norm", ("layer",), layers)
    weights = [
        (update, (str(source), str(memory)), source + memory / 10 + update)
        for update, source, memory in product((1, 2), range(3), (1, 2))
    ]
    write_series(files, "encoder_weights", ("source", "memory"), weights)
    samples = [
        (update, (task, str(layer)), layer / 10 + update / 1000 + (task == "fra"))
        for update, task, layer in product((1, 100), ("bos", "fra"), (1, 2, 10))
    ]
    write_series(files, "decoder_samples", ("task", "layer"), samples)
    return files


# Lines


def test_a_curve_has_all_recorded_points_and_its_moving_median(tmp_path, small):
    frame = numbers(tmp_path, f"{CURVES}, smooth: 3", small, run(tmp_path, "deep"))
    curve = frame[frame["line"] == "a"]
    assert curve["value"].tolist() == [4.0, 3.0, 8.0]
    assert curve["smoothed"].tolist() == [3.5, 4.0, 5.5]


def test_a_name_that_begins_with_an_underscore_is_in_the_legend(tmp_path, small):
    text = "kind: lines, series: nll.train, x: update, lines: {_a: small, b: deep}"
    legend = axes_of(tmp_path, text, [small, run(tmp_path, "deep")])[0].get_legend()
    assert words(legend.texts) == ["_a", "b (not run)"]


def test_a_run_that_recorded_nothing_has_words_also_in_the_legend(tmp_path, small):
    deep = run(tmp_path, "deep")
    frame = numbers(tmp_path, CURVES, small, deep)
    assert frame[frame["line"] == "b"]["words"].tolist() == ["not run"]
    legend = axes_of(tmp_path, CURVES, [small, deep])[0].get_legend()
    assert words(legend.texts) == ["a", "b (not run)"]
    deep.folder.mkdir(parents=True)
    frame = numbers(tmp_path, CURVES, small, deep)
    assert frame[frame["line"] == "b"]["words"].tolist() == ["not recorded"]


def test_layers_are_in_order_at_one_place_of_the_training(tmp_path, small):
    text = "kind: lines, series: gradient_norm.decoder, x: layer, at: 50%, lines: {a: small}"
    frame = numbers(tmp_path, text, small)
    assert frame["x"].tolist() == [1.0, 2.0, 10.0]
    assert frame["update"].unique().tolist() == [50]


def test_a_line_for_each_place_on_an_axis(tmp_path, small):
    text = (
        "kind: lines, series: mixture_weights, x: update, select: {memory: last}, line_by: source,"
        " labels: [0%, 50%, 100%], lines: {s: small}"
    )
    frame = numbers(tmp_path, text, small)
    first = frame[frame["update"] == 1]
    assert first["value"].tolist() == pytest.approx([1.2, 2.2, 3.2])
    assert list(zip(first["line"], first["label"], strict=True))[1] == ("1", "50%")
    legend = axes_of(tmp_path, text, [small])[0].get_legend()
    assert words(legend.texts) == ["0%", "50%", "100%"]


def test_labels_are_spread_evenly_over_the_lines():
    assert lines._labels(("0%", "50%", "100%"), 5) == ["0%", "", "50%", "", "100%"]
    assert lines._labels(("0%", "40%", "60%", "100%"), 3) == ["0%", "40%, 60%", "100%"]
    assert lines._labels((), 3) == []


def test_a_drawing_of_lines_has_its_panels_and_names_its_axes(tmp_path, small):
    text = (
        "kind: lines, x: update, reference: 1, colours: {a: red}, lines: {a: small},"
        " panels: {Train: {series: nll.train in bits}, Norm: {series: gradient_norm, log_y: true}}"
    )
    train, norm = axes_of(tmp_path, text, [small])
    assert (train.get_title("left"), norm.get_title("left")) == ("Train", "Norm")
    assert (train.get_xlabel(), train.get_ylabel()) == ("update", "nll, train (bits)")
    assert (train.get_yscale(), norm.get_yscale()) == ("linear", "log")
    assert [line.get_color() for line in train.lines] == ["red", "black"]


def test_a_line_is_the_median_of_its_seeds_with_their_range_and_names_those_that_lack_it(tmp_path):
    small = run(tmp_path, seeds=(1, 2, 3, 4))
    for seed, nll in ((1, 4.0), (2, 9.0), (3, 5.0)):
        write_metrics(small.with_seed(seed), [(1, 0.1, nll, None, None), (2, 0.2, nll, None, None)])
    text = "kind: lines, series: nll.train, x: update, lines: {a: small}"
    frame = numbers(tmp_path, text, small)
    assert frame.loc[frame["seed"] == 4, "note"].tolist() == ["a, seed 4: not run"]
    axes = axes_of(tmp_path, text, [small])[0]
    assert list(axes.lines[0].get_ydata()) == [5.0, 5.0]
    bounds = axes.collections[0].get_paths()[0].get_extents()
    assert (bounds.ymin, bounds.ymax) == (4.0, 9.0)
    assert words(axes.get_legend().texts) == ["a"]


# Heat maps


def gated(folder, alphas, series="samples"):
    """Return a run with the α of two layers of one task by seed, and samples of ½."""
    files = run(folder, seeds=tuple(alphas))
    for seed, of_layers in alphas.items():
        for name, values in ((f"decoder_{series}", (0.5, 0.5)), ("decoder_alpha", of_layers)):
            rows = [(100, ("bos", str(at + 1)), value) for at, value in enumerate(values)]
            write_series(files.with_seed(seed), name, ("task", "layer"), rows)
    return files


def hatched(axes):
    """Return the fields of each hatch as row and column."""
    places = {}
    for patch in axes.patches:
        boxes = [Path(box).get_extents() for box in patch.get_path().to_polygons()]
        places[patch.get_hatch()] = [
            (int(box.y0 + 0.5), int(box.x0 + 0.5) + further)
            for box in boxes
            for further in range(round(box.width))
        ]
    return places


def test_gates_that_are_undecided_or_differ_between_seeds_are_hatched_and_counted(tmp_path):
    """The colours had the range of the data: a p of .48 read as skipped, one of .52 as selected."""
    small = gated(tmp_path, {1: (0.09, 2.0), 2: (-0.05, -1.0)})
    axes = axes_of(tmp_path, f"{SAMPLES}, range: [0, 1]", [small])
    assert hatched(axes[0]) == {heat_map.HATCHED: [(0, 0)], heat_map.DISAGREE: [(0, 1)]}
    assert axes[0].images[0].get_clim() == (0.0, 1.0)
    assert "½" in words(axes[1].get_yticklabels())
    note = numbers(tmp_path, SAMPLES, small)["note"][0]
    assert "gates whose α is smaller than 0.1 in size (50% of A)" in note
    assert "seeds differ in the side of ½ (50% of A)" in note


def test_an_axis_is_named_once_in_a_line_and_a_column_of_panels(tmp_path):
    """Each panel repeated the names of its neighbour."""
    drawn = drawing.panels(6)[1]  # three in a line
    for at, panel in enumerate(drawn):
        panel.set_xticks([0], ["other" if at == 5 else "task"])
        panel.set_yticks([0], ["other" if at == 1 else "layer"])
    drawing.share_labels(drawn)
    named = [
        [bool(words(axis.get_ticklabels())) for axis in (panel.xaxis, panel.yaxis)]
        for panel in drawn
    ]
    below, left = ([each[side] for each in named] for side in (0, 1))
    assert below == [False, False, True, True, True, True]
    assert left == [True, True, True, True, False, False]


def test_the_probability_is_that_of_alpha_and_measured_gates_give_their_alpha(tmp_path):
    small = gated(tmp_path, {1: (0.09, 2.0)})
    frame = numbers(tmp_path, SAMPLES.replace("samples", "probability"), small)
    p = [1 / (1 + math.exp(-alpha)) for alpha in (0.09, 2.0)]
    assert frame["value"].tolist() == pytest.approx(p)
    labels = {"task": ["bos"], "layer": ["1", "2"]}
    write_array(small, "gates.decoder", "gates", ("task", "layer"), labels, [p])
    text = SAMPLES.replace("samples", "gates").replace(", at: 100%", "")
    frame = numbers(tmp_path, text, small)
    assert frame["alpha"].tolist() == pytest.approx([0.09, 2.0])
    assert frame["undecided"].tolist() == [1.0, 0.0]


def test_fields_are_of_one_place_in_the_training(tmp_path, small):
    frame = numbers(tmp_path, SAMPLES, small)
    assert frame["update"].unique().tolist() == [100]
    fields = {(row.row, row.column): row.value for row in frame.itertuples()}
    assert fields["fra", "10"] == pytest.approx(2.1)
    assert len(fields) == 6
    # Names read downwards, and layers would grow upwards.
    image = axes_of(tmp_path, SAMPLES, [small])[0].images[0]
    assert (image.origin, image.get_array().shape) == ("upper", (2, 3))
    assert image.get_array()[1, 2] == pytest.approx(2.1)


def test_several_places_are_rows_and_average_the_tasks(tmp_path, small):
    text = (
        "kind: heat_map, rows: none, columns: layer, at: [1%, 100%],"
        " panels: {D: {run: small, series: samples.decoder}}"
    )
    frame = numbers(tmp_path, text, small)
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
    frame = numbers(tmp_path, text, files)
    assert frame[frame["row"] == "1"]["value"].tolist() == [5.0, 2.0, 5.5]
    assert frame[frame["row"] == "2"]["value"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("shown_as", [{}, {"fra": "FRA~songs"}])
def test_tasks_are_in_the_given_order_and_called_after_their_text(tmp_path, shown_as):
    small, labels = run(tmp_path, shown_as=shown_as), {"task": ["bos", "fra"]}
    values = [[1.0, 0.75], [0.75, 1.0]]
    write_array(small, "similarity", "sharing", ("task", "task"), labels, values)
    axes = axes_of(tmp_path, SIMILARITY, [small])[0]
    names = [shown_as.get("fra", "fra"), "bos"]
    assert words(axes.get_yticklabels()) == words(axes.get_xticklabels()) == names
    assert words(axes.texts) == ["1.00", "0.75", "0.75", "1.00"]


def test_the_lowest_possible_similarity_follows_from_the_masks(tmp_path, small):
    """3 of 4 groups are active: two tasks share 2 of 3 at least."""
    labels = {"task": ["bos"], "site": ["encoder 1"], "group": list("1234")}
    write_array(small, "masks", "sharing", ("task", "site", "group"), labels, [[[1, 1, 0, 1]]])
    assert heat_map._lowest(small) == pytest.approx(2 / 3)


@pytest.mark.parametrize("text", [SAMPLES, MASKS])
def test_a_panel_without_numbers_says_why(tmp_path, text):
    assert words(axes_of(tmp_path, text, [run(tmp_path)])[0].texts) == ["not run"]


def test_masks_of_tasks_without_an_update_are_hatched_and_hollow(tmp_path):
    """Ties give them the first groups at all sites, so untrained tasks were "identical"."""
    small, labels = run(tmp_path), {"task": ["bos", "fra"]}
    first, other = [[1, 1, 0], [1, 1, 0]], [[1, 1, 0], [0, 1, 1]]
    axes = {"site": ["encoder 1", "encoder 2"], "group": ["1", "2", "3"]}
    records = {
        "masks": Record(axes=("task", *axes), labels=labels | axes, values=[first, other]),
        "similarity": Record(
            axes=("task", "task"), labels=labels, values=[[1.0, 0.75], [0.75, 1.0]]
        ),
        "phi_size": Record(tasks={"bos": Number(value=0.0), "fra": Number(value=0.4)}),
    }
    write_arrays(small, "sharing", records)
    map_axes = axes_of(tmp_path, SIMILARITY, [small])[0]
    assert sorted(hatched(map_axes)[heat_map.HATCHED]) == [(0, 1), (1, 0), (1, 1)]
    assert numbers(tmp_path, SIMILARITY, small)["note"][0].endswith("A: no update of bos (hatched)")
    assert numbers(tmp_path, MASKS, small)["note"][0].endswith("A: no update of bos (hollow)")
    hollow = [
        line
        for line in axes_of(tmp_path, MASKS, [small])[0].lines
        if line.get_markerfacecolor() == "white"
    ]
    assert [len(line.get_xdata()) for line in hollow] == [1]


def test_cells_of_a_table_are_fields_in_order_with_their_numbers_or_words(tmp_path):
    results = Results(tmp_path / "results")
    for seed, bos in ((1, 20.0), (2, 22.0)):
        results.write("p/small", {BLEU: scores(bos, 38.0)}, seed)
    results.write("p/deep", {}, outcome="diverged")
    results.write("p/gated", {"bleu.test.soft.13a": scores(22.0, 40.0)})
    given = compared_bars(results)
    frame = kinds.rows(figure(tmp_path, CELLS), given)
    fields = {(line.row, line.column): line for line in frame.itertuples()}
    assert fields["2", "0.3"].value == 29.5
    assert (fields["2", "0.3"].seeds, fields["2", "0.3"].unit) == (2, "BLEU")
    assert fields["10", "0.1"].words == "diverged at update 122"
    axes, bar = axes_of(tmp_path, CELLS, given)
    # Numbers by size, upwards and to the right.
    assert words(axes.get_xticklabels()) == ["0.1", "0.3"]
    assert words(axes.get_yticklabels()) == ["2", "10"]
    image = axes.images[0]
    assert image.origin == "lower"
    assert image.get_array().filled(0).tolist() == [[0, 29.5], [0, 31.0]]
    assert image.get_clim() == (29.5, 31.0)
    said = {text.get_position(): text.get_text() for text in axes.texts}
    assert said == {
        (1, 0): "29.50",
        (1, 1): "31.00",
        (0, 0): "not run",
        (0, 1): "diverged at update 122",
    }
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == ("p", "λ", "avg BLEU")


# Labelled points


def test_points_of_other_seeds_are_small_and_turned_onto_the_first(tmp_path):
    first, other = np.array([[0.0, 1.0], [2.0, 0.0], [-2.0, -1.0]]), np.array([[0, -1], [1, 0]])
    frames = [
        DataFrame(points, columns=["x", "y"]).assign(label=["a", "b", "c"])
        for points in (first, first @ other)
    ]
    assert labelled_points._turned(frames[1], frames[0]) == pytest.approx(first)


def masks(folder, **changes):
    """Return a run with the masks of three tasks, two of them equal."""
    files = run(folder, **changes)
    labels = {"task": ["bos", "fra", "ell"], "site": ["encoder 1"], "group": ["1", "2", "3"]}
    values = [[[1, 1, 0]], [[1, 1, 0]], [[0, 1, 1]]]
    write_array(files, "masks", "sharing", ("task", "site", "group"), labels, values)
    return files


def test_components_are_those_of_the_covariance():
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(8, 5))
    points, explained = labelled_points.principal(vectors)
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred)
    for at in (0, 1):
        expected = centred @ directions[:, -1 - at]
        assert np.abs(points[:, at]) == pytest.approx(np.abs(expected))
        assert explained[at] == pytest.approx(values[-1 - at] / values.sum())


def test_components_do_not_depend_on_the_order_of_points_and_equal_ones_explain_nothing():
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(6, 4))
    points, _ = labelled_points.principal(vectors)
    turned, _ = labelled_points.principal(vectors[::-1])
    assert turned[::-1] == pytest.approx(points)
    points, explained = labelled_points.principal(np.ones((3, 4)))
    assert np.abs(points).max() == pytest.approx(0.0)
    assert explained.tolist() == [0.0, 0.0]


def test_the_sign_of_a_component_does_not_depend_on_rounding():
    """Opposite columns of masks have equal weights; which was larger differed between CPUs."""
    column = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    vectors = np.stack([column, 1 - column], axis=1)
    first, second = (
        labelled_points.principal(vectors * factors)[0]
        for factors in ([1 + 1e-13, 1.0], [1.0, 1 + 1e-13])
    )
    assert first[:, 0] == pytest.approx(second[:, 0])


def test_a_seed_that_is_not_run_is_no_line_beside_those_of_another_seed(own_project):
    settings = own_project.papers["transparent_attention"].figures["figure4"].settings
    drawn = {"line": "0", "label": "0%", "seed": 2, "x": [1.0, 2.0], "smoothed": [0.1, 0.2]}
    lacks = {"line": "s", "label": "s", "seed": [1], "words": "not run"}
    frame = concat([DataFrame(lacks), DataFrame({**drawn, "words": ""})])
    (axes,) = lines.draw(settings, frame.assign(panel="", run="p/a")).axes
    assert words(axes.get_legend().get_texts()) == ["0%"]


def test_names_cover_no_mark_and_no_other_name():
    """Those of neighbours were written over each other."""
    places = {(0.0, 0.0): "glg", (0.1, 0.0): "slk", (0.05, 0.2): "bel", (4.0, 5.0): "tur, aze"}
    figure, (panel,) = drawing.panels(1, height=3.0)
    panel.plot(*zip(*places, strict=True), "o", markersize=3)
    labelled_points._write_names(panel, places)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in panel.texts]
    assert words(panel.texts) == [*places.values()]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    marks = panel.transData.transform([*places])
    assert not any(box.contains(*mark) for box in boxes for mark in marks)


def test_equal_points_share_one_label(tmp_path):
    frame = numbers(tmp_path, MASKS, masks(tmp_path))
    assert frame["label"].tolist() == ["bos", "fra", "ell"]
    assert frame["explained_x"].tolist() == pytest.approx([1.0] * 3)
    axes = axes_of(tmp_path, MASKS, [masks(tmp_path)])[0]
    assert sorted(words(axes.texts)) == ["bos, fra", "ell"]
    assert "100%" in axes.get_xlabel()
    axes = axes_of(tmp_path, MASKS, [masks(tmp_path, shown_as={"ell": "ELL~songs"})])[0]
    assert sorted(words(axes.texts)) == ["ELL~songs", "bos, fra"]


# Grouped bars

BLEU = "bleu.test.plain.13a"
PRINTED = (
    reported("6/6", "bos", "20.0"),
    reported("6/6", "fra", "38.0"),
    reported("24/24", "bos", "21.5"),
    reported("24/24", "fra", note="diverged"),
)


def given_bars(folder, deep=(21.5, 37.0), outcome="finished", printed=PRINTED, base=True):
    """Return a table whose rows have these scores."""
    results = Results(folder / "results")
    if base:
        results.write("p/small", {BLEU: scores(20.0, 38.0)}, 1)
    results.write("p/deep", {BLEU: scores(*deep)} if outcome == "finished" else {}, 1, outcome)
    results.write("p/gated", {"bleu.test.soft.13a": scores(22.0, 40.0)})
    return compared_bars(results, printed)


def compared_bars(results, printed=()):
    return inputs([], {"table1": compared(results, printed=printed)})


def bars(folder, given=None, **changes):
    """Return the figure's numbers by row and column."""
    frame = kinds.rows(figure(folder, BARS), given or given_bars(folder, **changes))
    return {(line.row, line.column): line for line in frame.itertuples()}


@pytest.fixture
def scored(tmp_path):
    """Inputs of a figure whose rows are scored on the same sentences."""
    results = Results(tmp_path / "results")
    results.score("p/small", texts(0.4, seed=2))
    results.score("p/deep", texts(0.1))
    results.write("p/gated", {"bleu.test.soft.13a": scores(22.0, 40.0)})
    return compared_bars(results)


def test_bars_are_the_papers_columns_of_single_tasks_with_its_differences(tmp_path):
    found = bars(tmp_path)
    rows = ("24/24", "LL-D, 6/12")
    assert [*found] == [(row, column) for row in rows for column in ("bos", "fra")]
    assert found["24/24", "bos"].reported == pytest.approx(1.5)
    assert math.isnan(found["24/24", "fra"].reported)
    # A row that is not drawn has no label.
    hidden = found["LL-D, 6/12", "bos"]
    assert (hidden.label, hidden.value) == ("", 2.0)


def test_rows_on_the_same_sentences_have_paired_intervals(tmp_path, scored):
    line = bars(tmp_path, scored)["24/24", "bos"]
    made = scored.tables["table1"]
    cells = {(item.result.cell.row, item.result.cell.column): item.result for item in made.cells}
    less = difference(cells["24/24", "bos"], cells["6/6", "bos"], made.sources)
    assert (line.value, line.low) == (less.result.value, less.result.value - less.half)
    assert line.high - line.value == pytest.approx(less.half)
    assert (line.p, line.p_sacrebleu) == (less.paired.p, less.paired.p_sacrebleu)
    assert (line.interval, line.note) == (less.method, "")
    assert (line.label, line.less, line.scale) == ("deeper", "6/6", "tiny")
    alone = bars(tmp_path, scored)["LL-D, 6/12", "bos"]
    assert (math.isnan(alone.low), alone.interval) == (True, "")
    assert alone.note.startswith("LL-D, 6/12: no interval of the difference: ")
    title = axes_of(tmp_path, BARS, scored)[0].get_legend().get_title().get_text()
    assert title == f"Whiskers: {line.interval}"
    assert "95 % paired bootstrap interval of the difference, 10,000 draws" in title


def test_seeds_that_are_not_shown_are_noted_for_both_rows(tmp_path):
    made = given_bars(tmp_path).tables["table1"]
    sources = {name: replace(made.sources[name], unused=(7,)) for name in ("p/deep", "p/small")}
    given = inputs([], {"table1": replace(made, sources=made.sources | sources)})
    notes = bars(tmp_path, given)["24/24", "bos"].note.split("; ")
    unshown = "seed 7 is trained and not shown"
    said = [f"{row}: {unshown}" for row in ("24/24", "6/6")]
    assert [note for note in notes if note.endswith(unshown)] == said


def test_the_notes_of_cells_are_in_the_csv(tmp_path, monkeypatch):
    results = Results(tmp_path / "results")
    for name in ("p/small", "p/deep"):
        results.write(name, {BLEU: scores(20.0, 38.0)})
    monkeypatch.setitem(RECIPE, "scoring", RECIPE["scoring"] + 1)
    notes = bars(tmp_path, compared_bars(results))["24/24", "bos"].note.split("; ")
    assert [note.partition(": ")[0] for note in notes] == ["24/24"] * 3
    assert sum("is older than" in note for note in notes) == 2


def test_a_run_without_a_result_has_words_and_a_mark(tmp_path):
    assert bars(tmp_path, base=False)["24/24", "bos"].words == "not run (6/6)"
    given = given_bars(tmp_path / "other", outcome="diverged")
    line = bars(tmp_path, given)["24/24", "fra"]
    assert (math.isnan(line.value), line.words) == (True, "diverged at update 122")
    axes = axes_of(tmp_path, BARS, given)[0]
    assert words(axes.texts) == ["×", "×"]
    assert words(axes.get_legend().texts)[0] == "deeper (× diverged at update 122)"


def test_our_bars_are_filled_and_the_papers_are_outlined(tmp_path):
    axes = axes_of(tmp_path, BARS, given_bars(tmp_path))[0]
    ours, paper = axes.containers[:2]
    assert [bar.get_height() for bar in ours] == [1.5, -1.0]
    assert paper[0].get_height() == pytest.approx(1.5)
    assert paper[0].get_facecolor()[3] == 0.0
    assert matplotlib.colors.to_hex(ours[0].get_facecolor()).upper() == drawing.look(0).color
    assert words(axes.get_xticklabels()) == ["bos", "fra"]
    assert axes.get_ylabel() == "Δ BLEU over 6/6"
    assert words(axes.get_legend().texts) == ["deeper", "paper"]
    assert axes.get_legend().get_title().get_text() == ""
    alone = axes_of(tmp_path, BARS, given_bars(tmp_path, printed=()))[0]
    assert "paper" not in words(alone.get_legend().texts)


# All figures


def test_looks_differ_in_colour_and_in_grey_print_and_a_ramp_goes_from_dark_to_light():
    looks = [drawing.look(at) for at in range(7)]
    assert len({look.color for look in looks}) == len({look.hatch for look in looks}) == 7
    assert drawing.look(7) == drawing.look(0)
    dark, light = (sum(drawing.ramp(at, 5)[:3]) for at in (0, 4))
    assert dark < light
    assert drawing.ramp(0, 1) == drawing.ramp(0, 5)


def test_text_with_dollar_signs_is_no_formula(tmp_path):
    """An unknown command in a title was a traceback."""
    made, (axes,) = drawing.panels(1)
    axes.loglog([1, 1000], [1, 1000], label=r"$\nothing$")
    axes.set_title(r"$\nothing$")
    axes.legend()
    drawing.save(made, tmp_path / "one")
    assert all(label.get_parse_math() for label in axes.get_xticklabels())


def test_a_figure_has_its_panels_in_a_row_its_number_and_its_notes_for_which_it_grows(tmp_path):
    drawn = figure(tmp_path, "kind: lines", "figure4")
    made, axes = drawing.panels(3)
    assert len(axes) == len(made.axes) == 3
    assert made.get_figwidth() == drawing.WIDTH
    drawing.sign(made, drawn, inputs([]))
    assert made.get_suptitle() == "Figure 4 · A title"
    assert made.texts[-1].get_text() == f"{REFERENCE}, §4. Scale: tiny."
    said = "“the loss falls” (§4)"
    drawing.sign(made, drawn, replace(inputs([]), sentences=(said,)))
    assert made.texts[-1].get_text().splitlines()[1:] == [said]

    made, _ = drawing.panels(1)
    notes = [f"note {number} {'of many words ' * 8}" for number in range(drawing.NOTES + 2)]
    drawing.sign(made, drawn, inputs([]), notes)
    lines = made.texts[-1].get_text().split("\n")
    assert len(lines) > 3
    assert max(map(len, lines)) <= drawing.LINE
    text = " ".join(lines)
    assert f"note {drawing.NOTES - 1} " in text
    assert f"note {drawing.NOTES} " not in text
    assert "2 more notes" in text
    grown = drawing.LEADING * (len(lines) - 1)
    assert made.get_figheight() == pytest.approx(drawing.HEIGHT + grown)


def test_a_full_disk_is_raised_as_such_and_leaves_the_figure_of_before(tmp_path):
    """matplotlib ended in an error of its own, which was taken for a bug."""
    made, (axes,) = drawing.panels(1)
    axes.plot([number**2 % 97 for number in range(5000)])
    with small_disk(tmp_path / "disk") as disk:
        (disk.folder / "one.pdf").write_bytes(b"old")
        disk.fill(4096)
        with pytest.raises(OSError, match=r"No space|too large") as caught:
            drawing.save(made, disk.folder / "one")
        disk.free()
        assert caught.value.filename == str(disk.folder / "one.pdf")
        assert [path.name for path in disk.folder.iterdir()] == ["one.pdf"]
        assert (disk.folder / "one.pdf").read_bytes() == b"old"


@pytest.fixture
def font_with(tmp_path):
    """A function that installs a font with some letters, until the test ends."""
    before = list(fontManager.ttflist)

    def install(name, letters):
        pen = TTGlyphPen(None)
        for point in ((0, 0), (0, 900), (900, 900)):
            (pen.lineTo if point != (0, 0) else pen.moveTo)(point)
        pen.closePath()
        glyphs = {".notdef": pen.glyph()} | {
            f"letter{at}": pen.glyph() for at in range(len(letters))
        }
        font = FontBuilder(1000)
        font.setupGlyphOrder([*glyphs])
        font.setupCharacterMap({ord(each): f"letter{at}" for at, each in enumerate(letters)})
        font.setupGlyf(glyphs)
        font.setupHorizontalMetrics(dict.fromkeys(glyphs, (1000, 0)))
        font.setupHorizontalHeader(ascent=900, descent=-100)
        font.setupNameTable({"familyName": name, "styleName": "Regular", "psName": name})
        font.setupOS2()
        font.setupPost()
        font.save(tmp_path / f"{name}.ttf")
        fontManager.addfont(tmp_path / f"{name}.ttf")

    yield install
    fontManager.ttflist[:] = before


def titled(title):
    """Return the bytes of a PDF of an empty panel with a title."""
    with drawing.styled():
        made, (axes,) = drawing.panels(1)
        axes.set_title(title)
        return drawing.rendered(made, "pdf")


@pytest.mark.filterwarnings("error")
def test_letters_that_the_figures_font_lacks_come_from_an_installed_one_or_are_said_once(
    font_with, capfd
):
    """matplotlib drew boxes, and warned with paths, once for each letter and size."""
    assert b"ownfont" not in titled("plain λ → ✓")
    font_with("ownfont", "汉字")
    assert b"ownfont" in titled("汉字")
    assert not "".join(capfd.readouterr())
    for _ in range(2):
        titled("ह 汉")
    no_font = "no font here has ह: figures show boxes; install one that does, such as Noto Sans"
    assert "".join(capfd.readouterr()) == f"fathom: {no_font}\n"


def test_a_figure_of_runs_that_were_not_trained_can_be_drawn(own_project, tmp_path):
    for paper in own_project.papers.values():
        for drawn in paper.figures.values():
            if drawn.settings.tables:
                continue
            runs = [run(tmp_path, name) for name in drawn.settings.runs]
            module = import_module(f"fathom.artefacts.figures.{drawn.settings.kind}")
            frame = module.rows(drawn.settings, inputs(runs))
            assert set(frame["words"]) == {"not run"}
            assert module.draw(drawn.settings, frame).axes


def test_the_notes_of_a_figure_are_in_its_csv_and_under_it(tmp_path, monkeypatch):
    text = "kind: lines, series: nll.train, x: update, smooth: 21, lines: {a: small, b: deep}"
    small, deep = run(tmp_path), run(tmp_path, "deep")
    for files, outcome in ((small, "diverged"), (deep, "finished")):
        write_metrics(files, [(1, 0.1, 4.0, None, None), (2, 0.2, 3.0, None, None)])
        end(files, outcome)
    signed = []
    monkeypatch.setattr(drawing, "sign", lambda *arguments: signed.append(arguments[-1]))
    kinds.draw(figure(tmp_path, text), inputs([small, deep]), tmp_path / "figure")
    few = "2 points, too few for the moving median over 21"
    assert signed == [["a: diverged at update 80", f"a, b: {few}"]]
    written = read_csv(tmp_path / "figure.csv")
    assert written["smoothed"].tolist() == written["value"].tolist()
    assert written["note"].unique().tolist() == [f"a: diverged at update 80; a: {few}", f"b: {few}"]


def test_a_figure_is_written_as_csv_png_and_pdf_and_twice_the_same(tmp_path):
    drawn = figure(tmp_path, "kind: lines, series: nll.train, x: update, lines: {a: small}")
    small = run(tmp_path)
    write_metrics(small, [(1, 0.1, 4.0, None, None), (2, 0.2, 3.0, None, None)])
    for name in ("one", "two"):
        kinds.draw(drawn, inputs([small]), tmp_path / "out" / name)
    for suffix in ("csv", "png", "pdf"):
        first, second = (tmp_path / "out" / f"{name}.{suffix}" for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()
    # Fonts can be edited in the PDF.
    assert b"/Type3" not in (tmp_path / "out" / "one.pdf").read_bytes()
