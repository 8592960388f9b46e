"""What asks a training to stop, what a user sees of it, and its device."""

import io
import os
import signal
import sys
from itertools import chain

import pytest
import torch
from rich.console import Console

from fathom.io.machine import VARIABLES
from fathom.io.screen import say
from fathom.io.signals import Pending
from fathom.results.training_record import in_tf32
from fathom.train.environment import choose_device, device_facts, require_arithmetic, versions
from fathom.train.progress import Reporter
from fathom.train.stopping import END_TIME, STOP_FILE, Stopping
from tests.support.refused import refused, says
from tests.support.small_runs import specification, train_run


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """Train outside of any job."""
    for name in (*VARIABLES, END_TIME, STOP_FILE):
        monkeypatch.delenv(name, raising=False)


def sent(number):
    pending = Pending()
    pending.number = number
    return pending


def at(*seconds):
    """Return a clock that says these seconds one after the other, then the last one for ever."""
    times = iter(chain(seconds, (seconds[-1] for _ in range(99))))
    return lambda: next(times)


def test_nothing_asks_a_training_to_stop_that_has_no_end_and_no_signal():
    assert Stopping(Pending()).asked(0.0) == 0


TERM, INT, USR1 = signal.SIGTERM, signal.SIGINT, signal.SIGUSR1


@pytest.mark.parametrize(
    ("number", "job", "left", "content", "reason"),
    [
        # Outside of a job a signal is a user who cancels.
        (TERM, None, None, None, "cancelled"),
        (INT, None, None, None, "cancelled"),
        (USR1, None, None, None, "cancelled"),
        # Inside a job it may be anyone's: the next attempt knows whether the job runs again.
        (TERM, "41", None, None, "stopped"),
        (INT, "41", None, None, "cancelled"),
        # Near the end of the job it is the warning of its limit, by the time and not by its name.
        (USR1, "41", 9_900, None, "stopped"),
        (USR1, "41", 100, None, "limit"),
        # A stop file explains a signal, and stops without one.
        (TERM, "41", None, "preempted", "preempted"),
        (0, None, None, "limit\n", "limit"),
        (0, None, None, "preempted by job 9", "preempted"),
        (0, None, None, "", "cancelled"),
        (0, None, None, "x", "cancelled"),
    ],
)
def test_a_training_says_what_stops_it_and_why(
    tmp_path, monkeypatch, number, job, left, content, reason
):
    """A warning that comes while torch is imported reaches no handler."""
    path = tmp_path / "stop"
    monkeypatch.setenv(STOP_FILE, str(path))
    if job:
        monkeypatch.setenv("SLURM_JOB_ID", job)
    if left:
        monkeypatch.setenv(END_TIME, str(1000 + left))
    stopping = Stopping(sent(number), clock=at(1000.0))
    agreed = stopping.asked(0.0)
    assert agreed == number
    if content is not None:
        path.write_text(content, encoding="utf-8")
    stopped = stopping.stopped(agreed or stopping.asked(0.0), 7)
    assert stopping.why == reason
    by = signal.Signals(number).name if number else "its stop file"
    says(f"stopped by {by} after update 7").check(str(stopped))
    assert stopped.code == 128 + (INT if number == INT else TERM)


@pytest.mark.parametrize(
    ("update", "save", "needed"), [(0, 0, 10), (20, 0, 30), (0, 30, 70), (20, 30, 90)]
)
def test_a_training_stops_while_there_is_time_for_an_update_and_a_save(
    monkeypatch, update, save, needed
):
    """The time is that of the longest update and twice that of the longest save."""
    for left, stops in ((needed + 1, False), (needed, True)):
        monkeypatch.setenv(END_TIME, str(1000 + update + left))
        stopping = Stopping(Pending(), clock=at(1000.0, 1000.0 + update))
        stopping.asked(save)
        assert bool(stopping.asked(save)) == stops


def test_the_end_of_the_job_is_a_limit_with_the_exit_code_of_term(monkeypatch, tmp_path):
    """Whoever started the job reads the reason in the stop file."""
    monkeypatch.setenv(END_TIME, "1000")
    monkeypatch.setenv(STOP_FILE, str(tmp_path / "stop"))
    stopping = Stopping(Pending(), clock=at(995.0))
    stopped = stopping.stopped(stopping.asked(0.0), 7)
    assert stopping.why == "limit"
    assert (tmp_path / "stop").read_text() == "limit\n"
    says("stopped by the end of its job's time after update 7").check(str(stopped))
    assert stopped.code == 143


def test_one_process_reads_file_and_clock_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv(END_TIME, "1")
    monkeypatch.setenv(STOP_FILE, str(tmp_path))
    assert Stopping(Pending(), reads=False).asked(0.0) == 0
    assert Stopping(sent(signal.SIGTERM), reads=False).asked(0.0) == signal.SIGTERM


def test_an_end_that_is_no_time_is_refused(monkeypatch):
    monkeypatch.setenv(END_TIME, "tomorrow")
    with refused("'tomorrow' is not a time in seconds since 1970", where=END_TIME):
        Stopping(Pending())


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


def test_a_bar_shows_updates_and_nll_and_the_log_keeps_the_rows(tmp_path, monkeypatch):
    lines, terminal = [], io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = Reporter(lines.append, tmp_path / "train.log")
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
        shown = Reporter(say, tmp_path / "train.log")
        assert shown.bar
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


def test_a_cpu_computes_with_one_thread_so_that_sums_repeat():
    assert device_facts(choose_device("cpu"), 2)["threads"] == 1


def test_a_training_in_float16_on_a_cpu_is_refused(tensors, tmp_path):
    half = specification(changes={"training": {"precision": "fp16"}})
    with refused("needs CUDA", where="training.precision: fp16", remedy="GPU"):
        train_run(half, tensors, tmp_path)


def test_an_environment_that_forces_tf32_is_recorded_and_refused_for_exact_products(monkeypatch):
    cuda, cpu = torch.device("cuda"), torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "a GPU")
    require_arithmetic(cuda, "exact", "fp32")
    assert "tf32_override" not in device_facts(cuda, 1)
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    require_arithmetic(cuda, "tf32", "fp32")
    require_arithmetic(cpu, "exact", "fp32")
    with refused("NVIDIA_TF32_OVERRIDE=1", where="matmul: exact", remedy="unset"):
        require_arithmetic(cuda, "exact", "fp32")
    assert in_tf32(device_facts(cuda, 1))
    assert "tf32_override" not in device_facts(cpu, 1)


@pytest.fixture
def current(monkeypatch):
    """Return the devices that become torch's current one, on a machine with two GPUs."""
    devices = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", devices.append)
    return devices


def test_the_device_of_a_process_becomes_the_current_one(current, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert choose_device("auto").index == 1
    assert current == [torch.device("cuda:1")]


def test_a_device_beyond_the_last_is_refused_with_their_number(current):
    assert choose_device("cuda:1").index == 1
    with refused("no device 'cuda:2'", remedy="below 2"):
        choose_device("cuda:2")
    assert current == [torch.device("cuda:1")]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_missing_device_is_said_with_a_remedy():
    with refused("no CUDA device found", remedy="write auto or cpu"):
        choose_device("cuda:1")


def test_an_unknown_device_is_said_with_the_known_ones():
    with refused("no device 'gpu'", remedy="write auto, cpu, cuda or cuda:<n>"):
        choose_device("gpu")


def test_versions_name_what_a_result_depends_on():
    found = versions()
    assert found["python"].startswith("3.")
    assert found["torch"].split("+")[0] == torch.__version__.split("+")[0]
