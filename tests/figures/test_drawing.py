"""How figures look: colours that differ, the small print, equal files."""

import matplotlib
import pytest

from fathom.artefacts.figures import drawing
from tests.support.small_disk import small_disk
from tests.support.small_figures import REFERENCE, figure, inputs


def test_looks_differ_in_colour_and_in_grey_print():
    looks = [drawing.look(at) for at in range(7)]
    assert len({look.color for look in looks}) == len({look.hatch for look in looks}) == 7
    assert drawing.look(7) == drawing.look(0)


def test_fonts_can_be_edited_in_the_pdf_and_no_latex_is_needed():
    style = drawing.style()
    assert (style["pdf.fonttype"], style["text.usetex"]) == (42, False)
    with matplotlib.rc_context(style):
        assert matplotlib.rcParams["font.family"] == ["serif"]


@pytest.mark.parametrize("count", [1, 3])
def test_a_figure_has_its_panels_in_one_row(count):
    figure, axes = drawing.panels(count)
    assert len(axes) == len(figure.axes) == count
    assert figure.get_figwidth() == drawing.WIDTH


def test_a_ramp_goes_from_dark_to_light():
    dark, light = (sum(drawing.ramp(at, 5)[:3]) for at in (0, 4))
    assert dark < light
    assert drawing.ramp(0, 1) == drawing.ramp(0, 5)


def test_a_figure_says_its_number_paper_and_scale(tmp_path):
    drawn = figure(tmp_path, "kind: lines", "figure4")
    made, _ = drawing.panels(1)
    drawing.sign(made, drawn, inputs([]))
    assert made.get_suptitle() == "Figure 4 · A title"
    (note,) = made.texts[1:] or made.texts
    assert note.get_text() == f"{REFERENCE}, §4. Scale: tiny."


def test_text_with_dollar_signs_is_no_formula(tmp_path):
    """An unknown command in a title was a traceback."""
    made, (axes,) = drawing.panels(1)
    axes.loglog([1, 1000], [1, 1000], label=r"$\nothing$")
    axes.set_title(r"$\nothing$")
    axes.legend()
    drawing.save(made, tmp_path / "one")
    assert all(label.get_parse_math() for label in axes.get_xticklabels())


def test_notes_are_under_the_figure_which_grows_for_them(tmp_path):
    drawn = figure(tmp_path, "kind: lines", "figure4")
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


def test_equal_figures_are_equal_bytes(tmp_path):
    for name in ("one", "two"):
        made, (axes,) = drawing.panels(1)
        axes.plot([1, 2], [3, 4])
        drawing.save(made, tmp_path / name)
    for suffix in ("png", "pdf"):
        assert (tmp_path / f"one.{suffix}").read_bytes() == (
            tmp_path / f"two.{suffix}"
        ).read_bytes()


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
