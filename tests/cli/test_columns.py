"""Rows are aligned on a terminal and separated by tabs elsewhere."""

import re
import sys

import pytest

from fathom.cli.columns import print_columns

# Letters of a terminal that change the style of a text.
STYLE = re.compile(r"\x1b\[[0-9;]*m")
ROWS = [("static", "1"), ("a run with a long name", "22")]


def test_in_a_pipe_a_line_is_a_row(capsys):
    print_columns(("run", "seeds"), ROWS)
    assert capsys.readouterr().out == "run\tseeds\nstatic\t1\na run with a long name\t22\n"


@pytest.mark.parametrize("width", [20, 80])
def test_on_a_terminal_columns_are_aligned_and_fit(capsys, monkeypatch, width):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    print_columns(("run", "seeds"), ROWS)
    lines = STYLE.sub("", capsys.readouterr().out).split("\n")
    assert all(len(line) <= width for line in lines)
    (first,) = (line for line in lines if line.startswith("static"))
    assert lines[0].index("seeds") == first.index("1")
