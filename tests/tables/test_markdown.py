"""A sheet as Markdown."""

from fathom.tables.layout import Grid, Sheet, Shown
from fathom.tables.markdown import page, table

GRID = Grid(
    heading="",
    header=("Model", "|alpha|"),
    body=((Shown("6/6"), Shown("20.7", "±1.2")), (Shown("a_b *c*"), Shown("diverged", span=2))),
    footer=(Shown("test sentences"), Shown("438")),
)


def test_columns_are_aligned_and_bars_escaped():
    assert table(GRID).split("\n") == [
        r"| Model            | \|alpha\| |",
        "| ---------------- | --------: |",
        "| 6/6              | 20.7 ±1.2 |",
        r"| a_b \*c\*        |  diverged |",
        "| *test sentences* |     *438* |",
    ]


def test_text_that_would_be_markup_is_escaped():
    sheet = Sheet("<b> `x`", "p < 0.5 of |x|, _so_", (GRID,), ("one", "two"))
    text = page(sheet)
    assert text.startswith("# \\<b> \\`x\\`\n\np < 0.5 of |x|, \\_so\\_\n\n| Model")
    assert text.endswith("\n\n- one\n- two\n")


def test_a_second_grid_has_its_heading_and_note():
    second = Grid("Gates", ("Model",), ((Shown("6/6"),),), note="What they mean.")
    assert "## Gates\n\n| Model |\n| ----- |\n| 6/6   |\n\nWhat they mean." in page(
        Sheet("T", "C", (GRID, second), ())
    )
