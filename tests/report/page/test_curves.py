"""What the curves of a table's rows are called, and which table shows a run."""

from types import SimpleNamespace

from fathom.artefacts.page.curves import run_labels, table_curves


def cell(row, column, source, block="", kind="run"):
    """Return a cell of a table."""
    return SimpleNamespace(row=row, column=column, source=source, block=block, kind=kind)


def test_a_run_is_called_after_its_row():
    cells = [cell("Deep", "avg", "p/a"), cell("Deep", "bos", "p/a"), cell("Wide", "avg", "p/b")]
    assert run_labels(cells) == {"p/a": "Deep", "p/b": "Wide"}


def test_where_a_row_has_several_runs_the_column_is_named_too():
    cells = [cell("Deep", "6", "p/a"), cell("Deep", "12", "p/b"), cell("x", "y", "", kind="empty")]
    assert run_labels(cells) == {"p/a": "Deep, 6", "p/b": "Deep, 12"}


def test_blocks_are_named():
    assert run_labels([cell("Deep", "avg", "p/a", "Related")]) == {"p/a": "Related: Deep"}


def test_a_run_is_drawn_in_the_first_table_that_shows_it(lay_out, compare):
    sources = compare().sources
    runs = {name: SimpleNamespace(source=source) for name, source in sources.items()}
    artefacts = SimpleNamespace(updates=lambda name: 100)
    first, second = table_curves(artefacts, [lay_out(), lay_out()], runs)
    assert first.elsewhere == ()
    assert second.elsewhere == ("6/6", "24/24", "LL-D, 6/12", "Control")
    assert second.pictures == ()
