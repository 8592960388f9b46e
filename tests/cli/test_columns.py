"""Rows are aligned on a terminal and separated by tabs elsewhere."""

import re
import sys

import pytest

from fathom.cli.columns import print_columns, print_line

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


LINE = "model.width    512    config/papers/sample/runs.yaml:12    §3: width of the Transformer"


def test_a_line_is_wrapped_on_a_terminal_and_complete_elsewhere(capsys, monkeypatch):
    print_line(LINE)
    assert capsys.readouterr().out == f"{LINE}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_line(LINE)
    first, *others = capsys.readouterr().out.removesuffix("\n").split("\n")
    assert len(others) > 1
    assert all(len(line) <= 40 for line in (first, *others))
    assert all(line.startswith("    ") for line in others)
    assert " ".join(" ".join((first, *others)).split()) == " ".join(LINE.split())
    monkeypatch.setenv("COLUMNS", "200")
    print_line(LINE)
    assert capsys.readouterr().out == f"{LINE}\n"
