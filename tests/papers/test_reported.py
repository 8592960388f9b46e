"""Every printed cell has a place in its table, and every place a printed cell."""

from pathlib import Path

import pytest

from fathom.config import reported
from tests.support.refused import prose, says

ROOT = Path(__file__).parents[2]


@pytest.fixture
def printed(papers, known):
    """All reported cells of all papers."""
    return [
        cell
        for paper in papers.values()
        for table in paper.tables.values()
        for cell in reported.read(paper.reported(table.name), table.cells(known), ROOT)
    ]


def test_all_814_cells_of_the_three_papers_are_read(printed):
    numbers = [cell for cell in printed if cell.number is not None]
    outcomes = [cell for cell in printed if cell.outcome]
    empty = [cell for cell in printed if cell.note == reported.EMPTY]
    assert (len(numbers), len(outcomes), len(empty)) == (741, 65, 8)
    assert len(printed) == 814


def test_every_csv_belongs_to_a_table(papers):
    for paper in papers.values():
        files = {path.stem for path in (paper.folder / "reported").glob("*.csv")}
        assert files == set(paper.tables)


def test_a_misprint_keeps_its_digits_and_is_compared_as_corrected(printed):
    misprints = [cell for cell in printed if cell.right]
    assert [(cell.value, cell.number) for cell in misprints] == [
        ("224", 287.0),
        ("314", 31.4),
        ("195", 185.0),
        ("151", 176.0),
    ]


def test_marks_and_standard_errors_are_kept(printed):
    marks = [cell.mark for cell in printed if cell.mark]
    assert {mark: marks.count(mark) for mark in marks} == {"bold": 13, "added": 13, "delta": 4}
    assert len([cell for cell in printed if cell.deviation is not None]) == 12


def test_digits_are_kept_as_printed(printed):
    first = next(cell for cell in printed if cell.value == "28.50")
    assert first.decimals == 2
    assert next(cell for cell in printed if cell.value == "246").decimals == 0


def averages(printed):
    """Yield each row that prints an average and its tasks, with the mean of its cells."""
    rows = {}
    for cell in printed:
        rows.setdefault((cell.where.rpartition(":")[0], cell.row), {})[cell.column] = cell.number
    for row, cells in rows.items():
        tasks = [cells[name] for name in cells if name not in ("avg", "params", "sharing_rate")]
        if cells.get("avg") is not None and tasks:
            yield row, cells["avg"], sum(tasks) / len(tasks)


def test_printed_averages_fit_their_cells(printed):
    rows = list(averages(printed))
    assert len(rows) == 48
    # A cell is rounded by up to 0.05, an average by up to 0.05 more where it has one digit.
    for row, average, mean in rows:
        assert average == pytest.approx(mean, abs=0.1), row


FILE = "latent_depth/reported/table5.csv"
SIX = "6/6,bos,20.7,,,,"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            FILE,
            SIX,
            "6/6,bos,2O.7,,,,",
            says("no number", "'2O.7'", where=f"{FILE}:3", remedy=prose("write the digits")),
        ),
        (
            FILE,
            SIX,
            "6/6,bos,\uff12\uff10.7,,,,",
            says("no number", "'\uff12\uff10.7'", where=f"{FILE}:3"),
        ),
        (
            FILE,
            SIX,
            "6/6,bos,2_0.7,,,,",
            says("no number", "'2_0.7'", where=f"{FILE}:3"),
        ),
        (
            FILE,
            SIX,
            "6/6,bos,20.7,-1,,,",
            says("no number", "'-1'", where=f"{FILE}:3"),
        ),
        (
            FILE,
            SIX,
            "6/7,bos,20.7,,,,",
            says("unknown", "row", "6/7", where=f"{FILE}:3", nearest="6/6"),
        ),
        (
            FILE,
            SIX,
            "6/6,bso,20.7,,,,",
            says("column of a row", "6/6", "bso", where=f"{FILE}:3", nearest="bos"),
        ),
        (
            FILE,
            f"{SIX}\n",
            "",
            says(
                "no reported cell",
                "6/6",
                "bos",
                where=FILE,
                remedy=f"6/6,bos,<number>,,,, or note {reported.EMPTY}",
            ),
        ),
        (
            FILE,
            SIX,
            f"{SIX}\n{SIX}",
            says("cell in two lines", 3, where=f"{FILE}:4", remedy=prose("one of two")),
        ),
        (FILE, SIX, "6/6,bos,,,,,", says("no number or outcome", where=f"{FILE}:3")),
        (
            FILE,
            SIX,
            "6/6,bos,,,,,divergd",
            says("unknown", "outcome", "divergd", where=f"{FILE}:3", nearest="diverged"),
        ),
        (
            FILE,
            SIX,
            "6/6,bos,,,,,N/A as printed",
            says("N/A", "latent_depth/m2o_diverse_6_6", where=f"{FILE}:3"),
        ),
        (
            FILE,
            SIX,
            "6/6,bos,20.7,0.1,,,",
            says("one seed", "latent_depth/m2o_diverse_6_6", where=f"{FILE}:3"),
        ),
        (
            FILE,
            SIX,
            "6/6,bos,20.7,,bold,,",
            says("mark", "bold", where=f"{FILE}:3", remedy=prose("mark of the best")),
        ),
        (FILE, SIX, "6/6,bos,,,bold,,diverged", says("mark without number", where=f"{FILE}:3")),
        (
            FILE,
            SIX,
            "6/6,bos,20.7,,,",
            says("fields of a CSV", 6, where=f"{FILE}:3", remedy=prose("quote a comma", 7)),
        ),
        (
            FILE,
            "row,column",
            "rows,column",
            says("header", where=f"{FILE}:1", remedy="row,column,value,stderr,mark,right,note"),
        ),
        (
            "transparent_attention/reported/table1.csv",
            "transparent,big6,,,,,N/A as printed",
            "transparent,big6,27.1,,,,",
            says("empty cell", where="table1.csv:21", remedy=prose("note N/A", reported.EMPTY)),
        ),
        (
            "lamgd/paper.yaml",
            "  added: {means: difference, to: Transformer}",
            "  added: {means: difference, to: Transfromer}",
            says(
                "unknown",
                "row, column or run",
                "Transfromer",
                where="table3.csv:31",
                nearest="Transformer",
            ),
        ),
    ],
)
def test_a_fault_is_found_with_line_and_nearest_name(faults, file, old, new, message):
    message.check(faults(file, old, new))


@pytest.mark.parametrize("line", ["6/6,bso,20.7,,,,", "6/66,bos,20.7,,,,"])
def test_a_misspelled_line_is_one_finding(faults, line):
    assert len(faults(FILE, SIX, line)) == 1


def test_the_line_of_a_missing_cell_can_be_pasted(faults):
    old = "    24/12: m2o_diverse_24_12\n"
    found = faults("latent_depth/tables.yaml", old, f'{old}    "ours, a": m2o_diverse_6_6\n')
    says("no reported cell", remedy='"ours, a",bos,<number>,,,,').check(found)


def test_a_table_without_reported_cells_is_found(project, known):
    from tests.support.papers import findings_of

    (project / "config/papers" / FILE).unlink()
    found = findings_of(project, "latent_depth", known)
    says("no such file", where=FILE, remedy=prose("copy the numbers")).check(found)


def test_a_table_that_excel_saved_reads_as_before(papers, known, tmp_path):
    """Excel begins a file with a byte-order mark and ends lines with CR and LF."""
    paper = papers["latent_depth"]
    cells = paper.tables["table5"].cells(known)
    own = paper.reported("table5")
    saved = tmp_path / own.name
    saved.write_bytes(b"\xef\xbb\xbf" + own.read_bytes().replace(b"\n", b"\r\n"))
    assert [cell.value for cell in reported.read(saved, cells, tmp_path)] == [
        cell.value for cell in reported.read(own, cells, ROOT)
    ]


@pytest.mark.parametrize("damage", ['6/6,"bos"x,20.7,,,,', '6/6,"bos,20.7,,,,'])
def test_a_line_that_is_no_csv_is_refused(faults, damage):
    (line,) = faults(FILE, SIX, damage)
    says("not CSV").check([line])
