"""Grouped bars, tested by what is drawn: bars, intervals, marks, legend."""

import matplotlib
import pytest

from fathom.errors import FathomError
from fathom.figures.grouped_bars import MARK, draw, figure, read
from fathom.figures.style import look, settings
from fathom.papers.paper import Artefact, Bars

HEADER = "task,series,label,value,low,high,words,baseline,scale\n"
LINES = """bos,A,first,1.5,0.5,2.5,,6/6,tiny
fra,A,first,-0.5,-1.5,0.5,,6/6,tiny
bos,B,second,,,,diverged at update 122,6/6,tiny
fra,B,second,,,,diverged at update 122,6/6,tiny
bos,C,third,0.25,,,,6/6,tiny
fra,C,third,,,,no layer left,6/6,tiny
bos,D,,3.0,,,,6/6,tiny
fra,D,,3.0,,,,6/6,tiny
"""
ARTEFACT = Artefact(
    name="f",
    kind="grouped_bars",
    title="Where depth is added",
    caption="C",
    section="§1",
    rows={},
    columns=(),
    groups={},
    metric=None,
    reported=None,
    bars=Bars("main", "6/6", (), "BLEU above 6/6", {}, ()),
)


@pytest.fixture
def stem(tmp_path):
    (tmp_path / "f.csv").write_text(HEADER + LINES, encoding="utf-8")
    return tmp_path / "f"


@pytest.fixture
def drawn(stem):
    with matplotlib.rc_context(settings()):
        return figure(read(stem.with_suffix(".csv")), "Title", "BLEU above 6/6")


def legend(drawn):
    return [text.get_text() for text in drawn.legends[0].get_texts()]


def test_bars_have_the_heights_of_the_csv(drawn):
    heights = [bar.get_height() for bar in drawn.axes[0].patches]
    assert heights == [1.5, -0.5, 0.25]


def test_a_series_without_a_label_is_not_drawn(drawn):
    assert len(legend(drawn)) == 3


def test_axes_are_labelled_and_the_scale_is_named(drawn):
    axes = drawn.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["bos", "fra"]
    assert axes.get_ylabel() == "BLEU above 6/6"
    assert (axes.get_title("left"), axes.get_title("right")) == ("Title", "scale: tiny")


def test_a_missing_bar_is_a_mark_in_its_place_with_words_in_the_legend(drawn):
    marks = [text for text in drawn.axes[0].texts if text.get_text() == MARK]
    assert len(marks) == 3
    assert marks[0].get_position() == (0.0, 0.0)
    assert legend(drawn) == [
        "first",
        f"second\n{MARK} diverged at update 122",
        f"third\n{MARK} no layer left for fra",
    ]


def test_intervals_stand_where_they_are_known(drawn):
    segments = [segment for lines in drawn.axes[0].collections for segment in lines.get_segments()]
    assert [(float(a[1]), float(b[1])) for a, b in segments] == [(0.5, 2.5), (-1.5, 0.5)]


def test_series_differ_in_colour_and_hatching_also_where_they_have_no_bar(drawn):
    handles = drawn.legends[0].get_patches()
    for position, handle in enumerate(handles):
        assert matplotlib.colors.to_hex(handle.get_facecolor()).upper() == look(position).color
        assert (handle.get_hatch() or "") == look(position).hatch


def test_nothing_but_missing_bars_is_still_a_figure(stem):
    path = stem.with_suffix(".csv")
    path.write_text(HEADER + "bos,A,first,,,,baseline not run,6/6,tiny\n", encoding="utf-8")
    with matplotlib.rc_context(settings()):
        drawn = figure(read(path), "Title", "BLEU")
    assert legend(drawn) == [f"first\n{MARK} baseline not run"]
    assert list(drawn.axes[0].get_yticks()) == []


def test_pdf_and_png_have_the_same_bytes_each_time(stem):
    def files():
        draw(ARTEFACT, stem)
        return [stem.with_suffix(suffix).read_bytes() for suffix in (".pdf", ".png")]

    first = files()
    assert files() == first
    assert first[0].startswith(b"%PDF")
    assert b"CreationDate" not in first[0]
    assert first[1].startswith(b"\x89PNG")


def test_the_settings_of_others_are_left_alone(stem):
    before = dict(matplotlib.rcParams)
    draw(ARTEFACT, stem)
    assert dict(matplotlib.rcParams) == before


def test_a_missing_csv_is_told(tmp_path):
    with pytest.raises(FathomError, match="write it with `fathom figure`"):
        read(tmp_path / "f.csv")


def test_a_csv_without_labels_is_told(tmp_path):
    (tmp_path / "f.csv").write_text(HEADER, encoding="utf-8")
    with pytest.raises(FathomError, match="no series with a label"):
        read(tmp_path / "f.csv")
