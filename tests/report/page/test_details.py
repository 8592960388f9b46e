"""The details of a cell."""

import pytest

from fathom.artefacts.page.details import details


@pytest.fixture
def lines_of(compare, lay_out):
    """A function that returns the details of a cell by name."""

    def lines(row, column, comparable=True):
        shown = details(lay_out(comparable), compare(comparable), "small: half of all")
        return next(
            {line.name: line for line in item.lines}
            for _, item in shown
            if item.cell.row == row and item.cell.column.startswith(column)
        )

    return lines


def test_every_cell_has_details_with_its_run(compare, lay_out):
    table = lay_out()
    shown = list(details(table, compare(), ""))
    assert [item.cell for _, item in shown] == list(table.cells)
    assert {source for source, _ in shown} >= {"p/small", "p/deep", "p/gated", "p/control"}


def test_numbers_intervals_and_seeds_are_given_with_their_files(lines_of):
    lines = lines_of("6/6", "bos")
    assert lines["Value"].text == "20.5, BLEU, mean of 2 seeds"
    assert lines["95 % interval"].text.startswith("19.5 to 21.5")
    assert lines["Standard error"].text == "0.5 over seeds"
    assert lines["Seed 1"].text == "20"
    assert lines["Seed 2"].file.is_file()
    assert lines["Computed"].text.startswith("nrefs:1")
    assert lines["Measurement"].text == "bleu.test.plain.13a"


def test_the_difference_names_what_counts_as_reproduced(lines_of):
    assert lines_of("6/6", "Avg")["Difference"].text.startswith("0.0; up to ")


def test_a_misprint_has_both_values(lines_of):
    assert lines_of("6/6", "Params")["Misprint"].text == "printed 224, must mean 66.3"


def test_a_cell_that_is_not_judged_says_why(lines_of):
    assert "small: half of all" in lines_of("6/6", "Avg", comparable=False)["Why"].text


def test_a_cell_of_ours_is_not_in_the_paper(lines_of):
    assert lines_of("Control *", "Avg")["Reported"].text == "not in the paper"
