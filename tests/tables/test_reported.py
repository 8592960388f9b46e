"""Reported numbers are kept as printed, and checked against their table."""

import pytest

from fathom.errors import FathomError, Findings
from fathom.tables.reported import read

HEADER = "row,column,value,stderr,note\n"


@pytest.fixture
def written(tmp_path, table):
    """A function that writes lines below the header and reads them for the table."""

    def reading(text, header=HEADER):
        path = tmp_path / "main.csv"
        path.write_text(header + text, encoding="utf-8")
        return read(path, table)

    return reading


def test_digits_are_kept_as_printed(written):
    cell = written("6/6,fra,40.0,,\n")[0]
    assert (cell.digits, cell.value, cell.outcome, cell.note) == ("40.0", 40.0, "", "")


def test_an_id_with_a_comma_is_quoted(written):
    assert written('"LL-D, 6/12",avg,28.43,0.07,\n')[0].row == "LL-D, 6/12"


@pytest.mark.parametrize("outcome", ["diverged", "failed to train"])
def test_an_outcome_stands_in_place_of_a_number(written, outcome):
    cell = written(f"24/24,avg,,,{outcome}\n")[0]
    assert (cell.digits, cell.value, cell.outcome) == ("", None, outcome)


def test_a_misprint_keeps_its_digits_and_is_compared_by_the_right_value(written):
    cell = written("6/6,bos,314,,misprint: 31.4\n")[0]
    assert (cell.digits, cell.value, cell.note) == ("314", 31.4, "misprint: 31.4")


def test_other_notes_are_no_cause(written):
    assert written("6/6,bos,31.4,,bold\n")[0].note == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("6/7,bos,20.7,,", "main.csv:2: no row '6/7'; nearest valid name: '6/6'"),
        ("6/6,boss,20.7,,", "main.csv:2: no column 'boss'; nearest valid name: 'bos'"),
        ("6/6,bos,20;7,,", "main.csv:2: '20;7' is no number"),
        ("6/6,bos,nan,,", "main.csv:2: 'nan' is no number"),
        ("6/6,bos,20.7,,misprint: x", "main.csv:2: 'x' is no number"),
        ("6/6,bos,,,", "main.csv:2: neither a number nor a note; note an outcome: diverged or"),
        ("6/6,bos,,,divergd", "main.csv:2: no outcome 'divergd'; nearest valid name: 'diverged'"),
        ("LL-D, 6/12,bos,20.7,,", "main.csv:2: 6 fields; write 5; quote an id that has a comma"),
    ],
)
def test_a_wrong_line_is_told_with_its_number(written, line, message):
    with pytest.raises(Findings) as caught:
        written(line + "\n")
    assert message in str(caught.value)


def test_every_wrong_line_is_told(written):
    with pytest.raises(Findings) as caught:
        written("6/7,bos,20.7,,\n6/6,boss,20.7,,\n6/6,bos,1,,\n6/6,bos,1,,\n")
    told = str(caught.value).split("\n")
    assert len(told) == 3
    assert "main.csv:5: the cell stands in line 4 too" in told[2]


def test_another_header_is_refused(written):
    with pytest.raises(FathomError, match="write row,column,value,stderr,note"):
        written("", header="row,column,value\n")


def test_a_cell_that_the_paper_leaves_empty_is_known_by_its_note(written):
    cell = written("6/6,bos,,,N/A as printed\n")[0]
    assert (cell.value, cell.outcome) == (None, "")


def test_a_file_that_is_not_utf_8_is_told(tmp_path, table):
    """It ended in a traceback."""
    (tmp_path / "main.csv").write_bytes(HEADER.encode() + b"6/6,bos,20.7,,caf\xe9\n")
    with pytest.raises(FathomError, match=r"main\.csv: not UTF-8"):
        read(tmp_path / "main.csv", table)


def test_a_missing_file_is_told(tmp_path, table):
    with pytest.raises(FathomError, match="no such file"):
        read(tmp_path / "main.csv", table)
