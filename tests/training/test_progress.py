"""What a user sees of a training, and what its log keeps."""

import io
import os
import sys

from rich.console import Console

from fathom.io.screen import say
from fathom.train import progress
from fathom.train.progress import BarReporter, Reporter, reporter


def show(shown):
    """Report a short training."""
    shown.line("before")
    shown.start("run-1", 2, 4)
    shown.update(3, 4.5)
    shown.row("update 3 of 4, NLL 4.500")
    shown.line("a checkpoint is damaged")
    shown.stop()
    shown.line("finished")


def test_plain_lines_show_every_row_and_the_log_keeps_all(tmp_path):
    lines = []
    show(Reporter(lines.append, tmp_path / "run" / "train.log"))
    expected = ["before", "update 3 of 4, NLL 4.500", "a checkpoint is damaged", "finished"]
    assert lines == expected
    log = (tmp_path / "run" / "train.log").read_text(encoding="utf-8")
    assert log.split("\n") == [*expected, ""]


def test_a_bar_shows_updates_and_nll_and_the_log_keeps_the_rows(tmp_path):
    lines, terminal = [], io.StringIO()
    shown = BarReporter(lines.append, tmp_path / "train.log")
    shown.bar.live.console = Console(file=terminal, force_terminal=True, width=120)
    show(shown)
    # Outside the bar's life lines go the usual way.
    assert lines == ["before", "finished"]
    assert "3 of 4 updates" in terminal.getvalue()
    assert "NLL 4.500" in terminal.getvalue()
    assert "a checkpoint is damaged" in terminal.getvalue()
    log = (tmp_path / "train.log").read_text(encoding="utf-8").split("\n")
    assert log == [
        "before", "update 3 of 4, NLL 4.500", "a checkpoint is damaged", "finished", "",
    ]  # fmt: skip


def test_a_bar_is_for_terminals_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert type(reporter(print, tmp_path / "train.log")) is Reporter
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    assert type(reporter(print, tmp_path / "train.log")) is BarReporter


def test_a_line_is_in_the_log_before_it_is_printed(tmp_path):
    log = tmp_path / "train.log"
    logged = []
    shown = Reporter(lambda line: logged.append(log.read_text(encoding="utf-8")), log)
    shown.line("one")
    shown.row("two")
    assert logged == ["one\n", "one\ntwo\n"]


def test_a_bar_on_a_terminal_that_goes_away_stops_nothing(tmp_path, monkeypatch):
    ours, theirs = os.openpty()
    with open(theirs, "w", encoding="utf-8", buffering=1) as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        shown = reporter(say, tmp_path / "train.log")
        assert type(shown) is BarReporter
        shown.start("run-1", 0, 4)
        shown.update(1, 5.0)
        os.close(ours)
        shown.update(2, 4.5)
        shown.row("update 2 of 4")
        shown.line("a checkpoint is damaged")
        shown.stop()
        shown.line("finished")
        os.dup2(os.open(os.devnull, os.O_WRONLY), theirs)
    log = (tmp_path / "train.log").read_text(encoding="utf-8").split("\n")
    assert log == ["update 2 of 4", "a checkpoint is damaged", "finished", ""]
