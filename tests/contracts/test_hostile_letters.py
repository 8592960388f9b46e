"""Letters that some format reads as its own, in each place where a user's name is shown."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from fathom.artefacts.figures import drawing
from fathom.artefacts.rendering import write_csv
from fathom.artefacts.table.formats import html, markdown, terminal, tex
from fathom.artefacts.table.view import BlockView, CellView, RowView, TableView

LETTERS = [
    "λ → ∞ ✓", "± † ‡ ≤ ½", "é e\u0301 Å ł", "Ж", "汉字", "हिन्दी", "עברית", "🙂", "a\u200bb",
    "a|b", "$x_1$", "$", "$$", "a\\b", "\\n", "<b>&amp;</b>", "100 %", "#1", "=1+1",
    "@x", "a,b", ";", '"', "'", "{x}", "{{x}}", "<<x>>", "<% x %>", "%s", "~^", "[1]", "[a](b)",
    "*a*", "_a_", "`a`", "-->", "]]>", "- a", "1. a",
]  # fmt: skip


class Texts(HTMLParser):
    """The texts of a page."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def handle_data(self, data):
        self.texts.append(data.strip())


def table(text):
    """Return a table with a text in each place."""
    cells = (CellView("1.0", "±0.1", bold=True), CellView(text, span=2), CellView(span=0))
    rows = (RowView(text, "result", cells), RowView(text, "paper", (CellView("9"),) * 3))
    return TableView("p_table1", text, text, (BlockView(text, (text, "b", "c"), rows),), (text,))


def in_tex(text):
    made = tex(table(text))
    others = {letter for letter in made.split("\\begin{table}")[1] if ord(letter) > 0x17F}
    named = made.startswith("% pdfLaTeX has no ")
    assert named == bool(others - {*"“”"})
    body = made.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line for line in body.split("\n") if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [2, 3]
    plain = re.sub(r"\\textbackslash|\\[\\{}$&#%_]", "", made.split("\\begin{table}")[1])
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert not re.search(r"[#~^]", re.sub(r"\$[^$]*\$|\{\}", "", plain))


def in_markdown(text):
    lines = markdown(table(text)).split("\n")
    rows = [line for line in lines if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in rows] == [5, 5, 5, 5]


def in_html(text):
    page = Texts()
    page.feed(html(table(text)))
    assert page.texts.count(text) >= 6


def in_csv(text, folder):
    write_csv(folder / "t.csv", ["row", "value"], [{"row": text, "value": 1.5}])
    (row,) = csv.DictReader(io.StringIO((folder / "t.csv").read_text("utf-8")))
    assert row == {"row": text, "value": "1.5"}


def in_terminal(text):
    lines, _ = terminal(table(text).blocks[0], 200)
    assert len(lines) == 4
    assert lines[2][0].startswith(text)


@pytest.mark.parametrize("text", LETTERS)
def test_a_users_letters_mean_nothing_to_any_format(text, tmp_path):
    in_tex(text)
    in_markdown(text)
    in_html(text)
    in_csv(text, tmp_path)
    in_terminal(text)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("suffix", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG"), ("svg", b"<?")]
)
def test_a_users_letters_are_printed_as_they_are_in_figures(suffix, start):
    """In titles, legends, ticks and notes; a `$` in the name of a column began a formula."""
    with drawing.styled():
        made, (axes,) = drawing.panels(1, height=9)
        for text in LETTERS:
            axes.plot([1, 2], label=text)
        axes.set(title=LETTERS[-1], xlabel=LETTERS[-2], ylabel=LETTERS[-3])
        axes.set_xticks(range(len(LETTERS)), LETTERS)
        lines = axes.get_lines()
        axes.legend(lines, [line.get_label() for line in lines])
        drawing.print_around(made, "a title", LETTERS)
        content = drawing.rendered(made, suffix)
    assert content.startswith(start)
    if suffix == "svg":
        page = Texts()
        page.feed(content.decode())
        assert not [text for text in LETTERS if page.texts.count(text) < 3]
