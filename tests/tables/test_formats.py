"""A table's files: numbers with all digits, and text that no format mistakes for markup."""

import csv
import re
from dataclasses import replace

import pytest

from fathom.artefacts.table.comparison import compare_table
from fathom.artefacts.table.formats import html, markdown, numbers, tex, write
from fathom.artefacts.table.view import BlockView, CellView, RowView, TableView, view
from tests.support.small_tables import KNOWN, SIGNATURE, reported, table, typical

SUFFIXES = ("csv", "md", "tex", "html")
NASTY = "a|b_c & <i>x</i> 5 % [1] ±½α ^~\\{}$#*`"


@pytest.fixture
def compared(tmp_path):
    drawn = table(tmp_path, "table1")
    printed = (reported("6/6", "bos", "22.0", mark="bold"),)
    sources = typical(tmp_path / "results").sources
    return compare_table(drawn, KNOWN.cells(drawn), printed, sources, "paper")


@pytest.fixture
def small():
    """A table of one row with every kind of cell, and text full of markup."""
    cells = (CellView("1.0", "±0.1", bold=True), CellView("diverged", span=2), CellView(span=0))
    rows = (RowView(NASTY, "result", cells), RowView("paper", "paper", (CellView("9"),) * 3))
    block = BlockView("A block", ("c_1", "c|2", "c3"), rows)
    return TableView("p_table1", "Table 1 · T", NASTY, (block,), (NASTY,))


def test_every_format_is_written(compared, tmp_path):
    write(view(compared, "P"), numbers(compared), tmp_path / "out" / "table1")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == sorted(f"table1.{suffix}" for suffix in SUFFIXES)


def test_writing_twice_gives_the_same_bytes(compared, tmp_path):
    for name in ("one", "two"):
        write(view(compared, "P"), numbers(compared), tmp_path / name)
    for suffix in SUFFIXES:
        first, second = (tmp_path / f"{name}.{suffix}" for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_the_csv_has_all_digits_and_where_they_are_from(compared, tmp_path):
    write(view(compared, "P"), numbers(compared), tmp_path / "table1")
    with open(tmp_path / "table1.csv", encoding="utf-8", newline="") as stream:
        rows = {(line["row"], line["column"]): line for line in csv.DictReader(stream)}
    avg = rows["6/6", "avg"]
    assert (float(avg["value"]), avg["seeds"], avg["sentences"]) == (29.5, "2", "1000")
    assert (avg["measurement"], avg["metric"]) == ("bleu.test.plain.13a", SIGNATURE)
    assert (avg["run"], avg["scale"]) == ("p/small", "paper")
    assert rows["24/24", "bos"]["words"] == "diverged at update 122"
    assert rows["24/24", "bos"]["value"] == ""
    assert ("6/6", "avg_hard") not in rows


def test_html_escapes_text(small):
    page = html("T", [small])
    assert "<i>x" not in page
    assert "&lt;i&gt;x&lt;/i&gt;" in page
    assert "<script" not in page


def test_html_reads_on_a_phone_and_to_a_screen_reader(small):
    page = html("T", [small])
    for text in (
        'name="viewport" content="width=device-width, initial-scale=1"',
        "overflow-x: auto",
        "position: sticky; left: 0",
        "<caption>A block</caption>",
        '<th scope="col">c_1</th>',
        '<th scope="row">paper</th>',
    ):
        assert text in page


def test_html_needs_nothing_from_the_network(small):
    assert not re.search(r"(src|href)=|@import|url\(", html("T", [small]))


def test_html_has_a_cell_for_each_column_and_one_for_a_shared_outcome(small):
    page = html("T", [small])
    first, second = re.findall(r"<tr class=\"(?:result|paper)\">.*?</tr>", page, re.DOTALL)
    assert '<td><b>1.0</b> <small>±0.1</small></td><td colspan="2">diverged</td>' in first
    assert second.count("<td>") == 3


def test_a_page_of_several_tables_has_a_heading_and_an_anchor_for_each(small):
    page = html("All", [small, small], ["Five cells."])
    assert page.count('<h2 id="p_table1">Table 1 · T</h2>') == 2
    assert "<p>Five cells.</p>" in page
    assert "<h2" not in html("Table 1 · T", [small])


def test_markdown_has_one_line_a_row_and_escapes_text(small):
    lines = markdown(small).split("\n")
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 4
    bars = [len(re.findall(r"(?<!\\)\|", line)) for line in rows]
    assert bars == [5, 5, 5, 5]
    assert len({len(line) for line in rows}) == 1
    assert r"a\|b_c & \<i>x\</i> 5 %" in rows[2]
    assert "**1.0 ±0.1**" in rows[2]
    assert lines[0] == "# Table 1 · T"


MARKDOWN = {
    "[a](javascript:b)": "\\[a](javascript:b)",
    "![a](b)": "!\\[a](b)",
    "[a][b]": "\\[a][b]",
    "[1] [8, 9]": "[1] [8, 9]",
    "~~a~~": "\\~~a\\~~",
    "a\n\n# b": "a # b",
    "# a": "\\# a",
    "> a": "\\> a",
    "- a": "\\- a",
    "1. a": "1\\. a",
    "1.5 a": "1.5 a",
    "```": "\\`\\`\\`",
}


@pytest.mark.parametrize(("text", "escaped"), MARKDOWN.items())
def test_a_caption_in_markdown_is_one_paragraph_of_plain_text(small, text, escaped):
    lines = markdown(replace(small, caption=text, notes=(text,))).split("\n")
    assert lines[2] == escaped
    assert f"- {escaped}" in lines


def test_a_caption_in_tex_has_no_empty_line(small):
    r"""An empty line ends the argument of \caption with an error."""
    assert ". a b}" in tex(replace(small, caption="a\n\nb"))


def test_tex_escapes_text_and_has_balanced_braces(small):
    text = tex(small)
    assert r"a$|$b\_c \& $<$i$>$x$<$/i$>$ 5 \% {[}1{]} $\pm$$\frac{1}{2}$$\alpha$" in text
    assert r"\multicolumn{2}{c}{diverged}" in text
    assert r"\textbf{1.0 $\pm$0.1}" in text
    bare = re.sub(r"\\[{}\\]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin") == text.count(r"\end")


def test_tex_gives_each_row_a_field_for_each_column(small):
    body = tex(small).split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line for line in body.split("\n") if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in rows] == [2, 3]
