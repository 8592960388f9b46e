"""Figures: their look and small print, equal files, and their points for each seed."""

from dataclasses import replace
from importlib import import_module

import matplotlib
import pytest
from pandas import read_csv

from fathom.artefacts.figures import drawing, kinds
from tests.support.small_disk import small_disk
from tests.support.small_figures import (
    REFERENCE,
    end,
    figure,
    inputs,
    run,
    write_metrics,
)


def test_looks_differ_in_colour_and_in_grey_print_and_a_ramp_goes_from_dark_to_light():
    looks = [drawing.look(at) for at in range(7)]
    assert len({look.color for look in looks}) == len({look.hatch for look in looks}) == 7
    assert drawing.look(7) == drawing.look(0)
    dark, light = (sum(drawing.ramp(at, 5)[:3]) for at in (0, 4))
    assert dark < light
    assert drawing.ramp(0, 1) == drawing.ramp(0, 5)


def test_fonts_can_be_edited_in_the_pdf_and_no_latex_is_needed():
    style = drawing.style()
    assert (style["pdf.fonttype"], style["text.usetex"]) == (42, False)
    with matplotlib.rc_context(style):
        assert matplotlib.rcParams["font.family"] == ["serif"]


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
