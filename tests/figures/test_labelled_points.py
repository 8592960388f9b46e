"""Labelled points: principal components, equal points, and what is refused."""

import matplotlib
import numpy as np
import pytest

from fathom.artefacts.figures import drawing, labelled_points
from tests.support.small_figures import figure, findings, inputs, run, write_array

MASKS = "kind: labelled_points, series: masks, points: task, project: pca, panels: {A: small}"


@pytest.fixture
def small(tmp_path):
    files = run(tmp_path)
    labels = {"task": ["bos", "fra", "ell"], "site": ["encoder 1"], "group": ["1", "2", "3"]}
    values = [[[1, 1, 0]], [[1, 1, 0]], [[0, 1, 1]]]
    write_array(files, "masks", "sharing", ("task", "site", "group"), labels, values)
    return files


@pytest.mark.parametrize(
    ("old", "new", "key", "nearest"),
    [
        ("A: small", "A: smal", "panels.A", "small"),
        ("series: masks", "series: mask", "series", "masks"),
        ("points: task", "points: tasks", "points", "task"),
        ("series: masks", "series: gradient_ratio", "points", "none"),
    ],
)
def test_what_does_not_exist_is_a_finding_with_its_key(tmp_path, old, new, key, nearest):
    finding = findings(figure(tmp_path, MASKS.replace(old, new)))[0]
    assert f"figure1.{key}" in finding
    assert nearest in finding


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


def test_the_sign_of_a_component_does_not_depend_on_the_order_of_points():
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(6, 4))
    points, _ = labelled_points.principal(vectors)
    turned, _ = labelled_points.principal(vectors[::-1])
    assert turned[::-1] == pytest.approx(points)


def test_equal_vectors_explain_nothing():
    points, explained = labelled_points.principal(np.ones((3, 4)))
    assert np.abs(points).max() == pytest.approx(0.0)
    assert explained.tolist() == [0.0, 0.0]


def test_a_task_with_another_text_is_called_after_it(tmp_path, small):
    named = run(tmp_path, shown_as={"ell": "ELL~songs"})
    settings = figure(tmp_path, MASKS).settings
    frame = labelled_points.rows(settings, inputs([named]))
    assert frame["label"].tolist() == ["bos", "fra", "ell"]
    axes = labelled_points.draw(settings, frame).axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["ELL~songs", "bos, fra"]


def test_names_of_neighbours_are_above_and_below_and_inside_the_panel(tmp_path, small):
    settings = figure(tmp_path, MASKS).settings
    frame = labelled_points.rows(settings, inputs([small]))
    axes = labelled_points.draw(settings, frame).axes[0]
    left, right = sorted(axes.texts, key=lambda text: text.xy[0])
    assert (left.get_ha(), right.get_ha()) == ("left", "right")
    assert (left.get_va(), right.get_va()) == ("bottom", "top")


def test_equal_points_share_one_label(tmp_path, small):
    settings = figure(tmp_path, MASKS).settings
    frame = labelled_points.rows(settings, inputs([small]))
    assert frame["label"].tolist() == ["bos", "fra", "ell"]
    assert frame["explained_x"].tolist() == pytest.approx([1.0] * 3)
    with matplotlib.rc_context(drawing.style()):
        axes = labelled_points.draw(settings, frame).axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["bos, fra", "ell"]
    assert "100%" in axes.get_xlabel()


def test_a_panel_without_numbers_says_why(tmp_path):
    settings = figure(tmp_path, MASKS).settings
    frame = labelled_points.rows(settings, inputs([run(tmp_path)]))
    axes = labelled_points.draw(settings, frame).axes[0]
    assert [text.get_text() for text in axes.texts] == ["not run"]
