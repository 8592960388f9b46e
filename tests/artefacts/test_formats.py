"""A table's files and its lines: all digits, and text that no format mistakes for markup."""

import re
from dataclasses import replace

import pytest
from jinja2 import UndefinedError

from fathom.artefacts.rendering import environment
from fathom.artefacts.table.formats import html, markdown, terminal, tex
from fathom.artefacts.table.view import BlockView, CellView, RowView, TableView
from fathom.cli.draw import print_table

NASTY = "a|b_c & <i>x</i> 5 % [1] ±½α ^~\\{}$#*`"


@pytest.fixture
def small():
    """A table of one row with every kind of cell, and text full of markup."""
    cells = (CellView("1.0", "±0.1", bold=True), CellView("diverged", span=2), CellView(span=0))
    rows = (RowView(NASTY, "result", cells), RowView("paper", "paper", (CellView("9"),) * 3))
    block = BlockView("A block", ("c_1", "c|2", "c3"), rows)
    return TableView("p_table1", "Table 1 · T", NASTY, (block,), (NASTY,))


def test_html_escapes_text_needs_no_network_and_reads_to_a_screen_reader(small):
    page = html(small)
    assert "<i>x" not in page
    assert not re.search(r"<script|(src|href)=|@import|url\(", page)
    for text in (
        "&lt;i&gt;x&lt;/i&gt;",
        'name="viewport" content="width=device-width, initial-scale=1"',
        "overflow-x: auto",
        "<caption>A block</caption>",
        '<th scope="col">c_1</th>',
        '<th scope="row">paper</th>',
        '<td><b>1.0</b> <small>±0.1</small></td><td colspan="2">diverged</td>',
    ):
        assert text in page
    (paper,) = re.findall(r"<tr class=\"paper\">.*?</tr>", page, re.DOTALL)
    assert paper.count("<td>") == 3


def test_markdown_has_one_line_per_row_and_escapes_text(small):
    lines = markdown(small).split("\n")
    rows = [line for line in lines if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in rows] == [5, 5, 5, 5]
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


def test_tex_escapes_text_and_has_balanced_braces(small):
    text = tex(small)
    assert r"a$|$b\_c \& $<$i$>$x$<$/i$>$ 5 \% {[}1{]} $\pm$$\frac{1}{2}$$\alpha$" in text
    assert r"\multicolumn{2}{c}{diverged}" in text
    assert r"\textbf{1.0 $\pm$0.1}" in text
    bare = re.sub(r"\\[{}\\]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin") == text.count(r"\end")
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line for line in body.split("\n") if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", line)) for line in rows] == [2, 3]
    # An empty line ends the argument of \caption with an error.
    assert ". a b}" in tex(replace(small, caption="a\n\nb"))


TEX = {
    "λ, τ → ∞": r"$\lambda$, $\tau$ $\rightarrow$ $\infty$",
    "✓ ± † ≤ ⇒ ∈": r"$\checkmark$ $\pm$ $^{\dagger}$ $\leq$ $\Rightarrow$ $\in$",
    "ΑΩο": r"$\mathrm{A}$$\Omega$$\mathrm{o}$",
    "ðı Übung e\u0301 “a” — 5 °": "ðı Übung é “a” — 5 °",  # T1 has these letters and marks
}


@pytest.mark.parametrize(("text", "written"), TEX.items())
def test_pdflatex_takes_greek_letters_arrows_and_relations(small, text, written):
    row = replace(small.blocks[0].rows[0], label=text)
    made = tex(replace(small, blocks=(replace(small.blocks[0], rows=(row,)),)))
    assert f"\n{written} & " in made
    assert made.startswith("% Needs ")


@pytest.mark.parametrize("text", ["字 汉", "ह", "Ж", "Ħ", "ή", "∛", "✗", "\u200b"])
def test_a_table_with_letters_that_pdflatex_lacks_names_xelatex(small, text):
    first, second = tex(replace(small, caption=text)).split("\n")[:2]
    named = text if text.isprintable() else "U+200B"
    assert first.startswith(f"% pdfLaTeX has no {named}: this table needs XeLaTeX")
    assert second.startswith("% Needs ")


def block(*rows, columns=("Avg.", "bos", "fra")):
    """Return a block of rows, each a label and cells; text alone is a cell."""
    views = [
        RowView(label, "result", tuple(c if isinstance(c, CellView) else CellView(c) for c in row))
        for label, *row in rows
    ]
    return BlockView("", columns, tuple(views))


def lines_of(part, width):
    lines, without_spreads = terminal(part, width)
    return [line for line, _ in lines], without_spreads


def test_words_that_neighbours_share_are_printed_over_their_columns_in_a_terminal():
    """They were wrapped inside the first of them."""
    shared = (CellView("not measured", span=3), CellView(span=0), CellView(span=0))
    lines, _ = lines_of(block(("6/6", "1.2", "3.4", "5.6"), ("24/24", *shared)), 40)
    assert lines[-2:] == ["6/6     1.2  3.4  5.6", "24/24  not measured"]


def test_a_terminal_wraps_between_words_and_leaves_out_spreads_where_it_is_narrow():
    rows = [("6/6", CellView("1.2", "±0.1"), CellView("no layer is left"), "5")]
    wide, without = lines_of(block(*rows), 60)
    assert (wide[-1].split("  ")[0], without) == ("6/6", False)
    assert wide[-1].endswith("1.2 ±0.1  no layer is left    5")
    narrow, without = lines_of(block(*rows), 21)
    assert without
    assert not any("±" in line for line in narrow)
    assert all(len(line) <= 21 for line in narrow)
    assert [line.split() for line in narrow[2:]] == [
        ["6/6", "1.2", "no", "5"], ["layer"], ["is"], ["left"],
    ]  # fmt: skip


def test_columns_without_room_follow_below_and_repeat_the_words_that_they_share():
    cells = ("12345678", CellView("diverged", span=2), CellView(span=0))
    lines, _ = lines_of(block(("6/6", *cells)), 18)
    assert [line.split() for line in lines if "6/6" in line] == [
        ["6/6", "12345678"], ["6/6", "diverged"],
    ]  # fmt: skip
    lines, _ = lines_of(block(("6/6", cells[1], cells[2], "12345678")), 12)
    assert sum("diverged" in line for line in lines) == 2


def test_a_terminal_of_eighty_columns_shows_every_column_and_says_where_spreads_are(
    monkeypatch, capsys
):
    monkeypatch.setenv("COLUMNS", "80")
    columns = tuple(f"{what} {side}." for side in ("enc", "dec") for what in ("E[L]", "Σp", "|a|"))
    numbers = ("2.50", "4.45", "0.04", "4.88", "3.19", "0.14")
    cells = (CellView("1.84", "±0.43"), *(CellView(number, "±0.1234") for number in numbers))
    part = block(("LL-Both, 24/24", *cells), columns=("Avg., hard", *columns))
    print_table(TableView("t", "T", "c", (part,), ()))
    printed = capsys.readouterr().out
    assert all(number in printed for number in ("1.84", *numbers))
    assert "±0" not in printed
    assert "narrow" in printed


def test_templates_escape_text_and_refuse_names_that_they_do_not_get():
    templates = environment(autoescape=True)
    text = templates.from_string("{{ text }}").render(text='<b a="&">')
    assert text == "&lt;b a=&#34;&amp;&#34;&gt;"
    with pytest.raises(UndefinedError):
        templates.from_string("{{ nothing }}").render()
