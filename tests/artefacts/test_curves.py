"""Learning curves: points, the unigram baseline, panels and numbers."""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from pandas import DataFrame

from fathom.artefacts.curves import (
    LEGEND,
    LearningCurve,
    SeedCurve,
    curve,
    draw,
    rows,
    run_labels,
    write,
)
from fathom.artefacts.figures.drawing import POINTS, over_seeds, thinned
from fathom.artefacts.table.sources import ResultSource
from fathom.io.records import hashes, write_record
from tests.support.run_files import training

COLUMNS = ("update", "nll", "valid_nll")
FALLING = tuple((float(at), 8.0 - at / 100 + 0.2 * (at % 7)) for at in range(1, 401))


def source_of(folder, kind="finished", ended=True):
    """Return a run of one seed with two rows of metrics."""
    run = folder / "1"
    (run / "measurements").mkdir(parents=True)
    lines = ["\t".join(COLUMNS), "25\t7.0\t", "50\t6.0\t6.5", ""]
    (run / "metrics.tsv").write_text("\n".join(lines), encoding="utf-8")
    if ended:
        write_record(run / "training.json", training(kind, files=hashes(run, "metrics.tsv")))
    return ResultSource("p/run", {1: run / "measurements"}, lambda key: key)


@pytest.mark.parametrize(
    ("kind", "ended", "unigram", "words"),
    [
        ("failed_to_train", True, 6.06, "failed to train"),
        ("finished", False, None, "has not ended"),
    ],
)
def test_a_training_without_a_result_is_drawn_and_says_why(tmp_path, kind, ended, unigram, words):
    (seed,) = curve("Row", source_of(tmp_path, kind, ended)).seeds
    assert seed.unigram == unigram
    assert words in seed.words
    assert seed.training


def test_a_curve_has_both_series_and_the_baseline(tmp_path):
    shown = curve("Row", source_of(tmp_path))
    (seed,) = shown.seeds
    assert seed.training == ((25.0, 7.0), (50.0, 6.0))
    assert seed.validation == ((50.0, 6.5),)
    assert (seed.unigram, shown.last) == (6.06, 6.5)
    assert "unigram baseline 6.06" in shown.words
    assert [(line["series"], line["nll"]) for line in rows([shown])] == [
        ("nll.train", 7.0), ("nll.train", 6.0), ("nll.valid", 6.5), ("unigram", 6.06),
    ]  # fmt: skip


def curve_of(*seeds):
    return LearningCurve("Row", "p/run", seeds)


def seed_of(number, nll, words="", validation=True):
    points = ((25.0, 9.0), (50.0, nll)) if validation else ()
    return SeedCurve(number, (), points, 6.06, words)


NOT_FINITE = "diverged (the loss is not finite)"
MEAN = "validation NLL {:.2f} nats at update 50, mean of {} seeds, unigram baseline 6.06"
THREE, TWO_OF_THREE = MEAN.format(5, 3), f"{MEAN.format(4.5, 2)}, seed 2 {NOT_FINITE}"
BOTH_DIVERGED = f"{MEAN.format(8.5, 2)}, seed 1 diverged, seed 2 diverged"


@pytest.mark.parametrize(
    ("seeds", "last", "words"),
    [
        ((seed_of(1, 4.0), seed_of(2, 5.0), seed_of(3, 6.0)), 5.0, THREE),
        ((seed_of(1, 4.0), seed_of(2, 90.0, NOT_FINITE), seed_of(3, 5.0)), 4.5, TWO_OF_THREE),
        ((seed_of(1, 8.0, "diverged"), seed_of(2, 9.0, "diverged")), 8.5, BOTH_DIVERGED),
        ((seed_of(1, 0.0, "has not ended", validation=False),), None, "has not ended"),
        ((), None, "not run"),
    ],
    ids=["all", "one has no result", "none has a result", "not validated", "not run"],
)
def test_a_run_has_the_mean_of_the_seeds_with_a_result_and_names_the_others(seeds, last, words):
    """The first seed alone was printed, without its number."""
    shown = curve_of(*seeds)
    assert (shown.last, shown.words) == (last, words)


def test_a_run_is_called_after_its_row_its_block_and_the_column_where_that_decides():
    def cell(row, column, source, block="", **further):
        named = {"row": row, "column": column, "source": source, "block": block}
        return SimpleNamespace(**named, **{"kind": "run", "key": "bleu"} | further)

    cells = [cell("Deep", "avg", "p/a"), cell("Deep", "bos", "p/a"), cell("Wide", "avg", "p/b")]
    assert run_labels(cells) == {"p/a": "Deep", "p/b": "Wide"}
    cells = [cell("Deep", "6", "p/a"), cell("Deep", "12", "p/b"), cell("x", "y", "", kind="empty")]
    assert run_labels(cells) == {"p/a": "Deep, 6", "p/b": "Deep, 12"}
    assert run_labels([cell("Deep", "avg", "p/a", "Related")]) == {"p/a": "Related: Deep"}
    # Curves of the baseline were called "params", after the first row of its table.
    cells = [cell("params", "6", "p/a", key="parameters"), cell("baseline", "6", "p/a")]
    assert run_labels(cells) == {"p/a": "baseline"}


def test_panels_share_an_axis_a_little_above_the_baseline_and_lines_are_thinned():
    curves = [
        LearningCurve("a", "p/a", (SeedCurve(1, FALLING, FALLING[-1:], 7.0, ""),)),
        LearningCurve("b", "p/b", (SeedCurve(1, FALLING, (), None, ""),)),
        LearningCurve("c", "p/c", (SeedCurve(1, FALLING[:9], (), 7.0, ""),)),
    ]
    panels = draw(curves).axes
    assert [panel.get_title("left") for panel in panels] == ["a", "b", "c"]
    assert {panel.get_ylim() for panel in panels} == {(4.0, 8.0)}
    assert [[text.get_text() for text in panel.texts] for panel in panels] == [["4.20"], [], []]
    for panel in panels:
        training = panel.lines[0].get_xydata()
        assert 2 < len(training) <= POINTS
    dashed = [
        [line.get_ydata()[0] for line in panel.lines if line.get_linestyle() == "--"]
        for panel in panels
    ]
    assert dashed == [[7.0], [], [7.0]]


def test_several_seeds_are_a_median_with_their_range():
    """Each seed had a line of its own, as in no other figure."""
    seeds = [SeedCurve(at, (), tuple((x, y + at) for x, y in FALLING), 9.0, "") for at in (1, 2, 6)]
    points = DataFrame([each for seed in seeds for each in seed.validation], columns=["x", "nll"])
    shown = thinned(over_seeds(points, "nll").to_numpy())
    assert len(shown) <= POINTS
    assert np.allclose(shown[:, 1:] - shown[:, 1:2], (0, -1, 4))
    ranges = [len(draw([curve_of(*some)]).axes[0].collections) for some in (seeds, seeds[:1])]
    assert ranges == [1, 0]


def test_the_file_is_xml_with_its_texts_and_equal_bytes_whatever_matplotlibrc_has(tmp_path):
    curves = [curve("Row <1> $x$", source_of(tmp_path))]
    write("<Table> & $more$", curves, tmp_path / "one")
    # As a user's matplotlibrc sets them.
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "axes.facecolor": "red"}):
        write("<Table> & $more$", curves, tmp_path / "two")
    files = [(tmp_path / f"{name}.svg").read_bytes() for name in ("one", "two")]
    assert files[0] == files[1]
    texts = {part.text for part in ElementTree.fromstring(files[0]).iter()}
    assert {"<Table> & $more$", "Row <1> $x$", *LEGEND} <= texts
    assert (tmp_path / "one.csv").read_text(encoding="utf-8").count("nll.train") == 2
