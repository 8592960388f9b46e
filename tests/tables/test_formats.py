"""A table's four files."""

import csv

from fathom.tables.formats import draw


def lines(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").split("\n")[:-1]))


def test_a_table_is_written_as_csv_md_tex_and_html(table, typical, tmp_path):
    draw(table, typical, "paper", tmp_path / "a_paper" / "main")
    assert {path.name for path in (tmp_path / "a_paper").iterdir()} == {
        "main.csv",
        "main.md",
        "main.tex",
        "main.html",
    }
    assert r"\label{tab:a-paper-main}" in (tmp_path / "a_paper" / "main.tex").read_text("utf-8")


def test_the_csv_begins_like_reported_numbers_and_has_every_digit(table, rows, made, tmp_path):
    scores = {"plain": {"bos": made.score(20.123456789), "fra": made.score(30.0)}}
    placed = rows(table.rows, small=[made.manifest(scores)])
    draw(table, placed, "paper", tmp_path / "main")
    text = (tmp_path / "main.csv").read_text(encoding="utf-8")
    assert text.startswith("row,column,value,stderr,note,")
    found = {(line["row"], line["column"]): line for line in lines(tmp_path / "main.csv")}
    bos = found["6/6", "bos"]
    assert (bos["value"], bos["stderr"], bos["half_width"]) == ("20.123456789", "0.5", "1.0")
    assert (bos["seeds"], bos["sentences"], bos["scale"]) == ("1", "500", "paper")
    assert (bos["gates"], bos["metric"], bos["signature"]) == ("plain", "13a", made.signature)
    assert found["6/6", "params"]["value"] == "66.3"
    assert (found["24/24", "bos"]["value"], found["24/24", "bos"]["note"]) == ("", "not run")


def test_cells_that_do_not_apply_are_left_out_of_the_csv(table, typical, tmp_path):
    draw(table, typical, "paper", tmp_path / "main")
    found = {(line["row"], line["column"]) for line in lines(tmp_path / "main.csv")}
    assert ("LL-D, 6/12", "hard") in found
    assert ("6/6", "hard") not in found


def test_writing_twice_gives_the_same_bytes(table, typical, tmp_path):
    for folder in ("one", "two"):
        draw(table, typical, "paper", tmp_path / folder / "main")
    for suffix in ("csv", "md", "html"):
        first, second = (tmp_path / each / f"main.{suffix}" for each in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_nothing_has_to_exist(table, rows, tmp_path):
    laid = draw(table, rows(table.rows), "tiny", tmp_path / "main")
    assert {row[2].text for row in laid.grids[0].body} == {"not run"}
