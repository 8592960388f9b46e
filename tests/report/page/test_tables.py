"""Tables on the page: the paper's shape, both numbers, difference, sign and word."""

from fathom.artefacts.page.tables import minus


def test_the_table_has_the_papers_rows_and_ours_last(lay_out):
    first, added = lay_out().parts
    assert [row.label for row in first.rows] == ["6/6", "24/24", "LL-D, 6/12", "Control *"]
    assert (first.added, added.added) == (False, True)
    assert added.heading == "Not in the paper"


def test_a_cell_has_ours_the_reported_number_and_the_difference(cell_at):
    cell = cell_at("6/6", "bos")
    assert (cell.ours.text, cell.reported.text, cell.reported.spread) == ("20", "22", "±0.1")
    assert cell.difference == "\u22122"
    assert cell.sign.words == "lower"


def test_a_reported_outcome_and_a_misprint_are_shown_as_printed(cell_at):
    assert cell_at("24/24", "Avg").reported.text == "diverged"
    assert cell_at("24/24", "Avg").sign.words == "no result as reported"
    assert cell_at("6/6", "Params").reported.text == "224 [66.3]"


def test_marks_of_the_paper_are_bold(cell_at):
    assert cell_at("6/6", "fra").reported.bold


def test_a_cell_can_be_read_aloud(cell_at):
    spoken = cell_at("6/6", "Avg").spoken
    assert spoken.startswith("6/6, Avg.: ours 29.5")
    assert "reported 29.5" in spoken
    assert spoken.endswith("reproduced")


def test_fragments_are_unique_and_name_the_table(lay_out):
    fragments = [cell.fragment for cell in lay_out().cells]
    assert len(fragments) == len(set(fragments))
    assert all(fragment.startswith("table1-") for fragment in fragments)


def test_a_table_is_judged_only_with_the_papers_settings(lay_out):
    assert lay_out().judged
    small = lay_out(comparable=False)
    assert not small.judged
    assert {cell.sign.words for cell in small.cells if cell.sign} == {"not judged"}
    assert not any(cell.difference for cell in small.cells)


def test_rows_say_how_much_they_learned_or_how_they_ended(lay_out):
    rows = {row.label: row for row in lay_out(comparable=False).parts[0].rows}
    assert rows["6/6"].learned == (1.5,)
    assert rows["24/24"].words == "diverged"
    assert lay_out().most == 1.5


def test_minus_is_as_wide_as_plus():
    assert (minus("-1.5"), minus("-residuals"), minus("2")) == ("\u22121.5", "-residuals", "2")
