"""What asks a training to stop, and why it says that it stopped."""

import signal
from itertools import chain

import pytest

from fathom.io.jobs import VARIABLES
from fathom.io.signals import Pending
from fathom.train.stopping import END_TIME, STOP_FILE, Stopping
from tests.support.refused import refused, says


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """Train outside of any job."""
    for name in (*VARIABLES.values(), END_TIME, STOP_FILE):
        monkeypatch.delenv(name, raising=False)


def sent(number):
    pending = Pending()
    pending.number = number
    return pending


def at(*seconds):
    """Return a clock that says these seconds one after the other, then the last one for ever."""
    times = iter(chain(seconds, (seconds[-1] for _ in range(99))))
    return lambda: next(times)


def why(stopping):
    """Return what stops the training, as the user reads it and as it is recorded."""
    number = stopping.asked(0.0)
    assert number
    return str(stopping.stopped(number, 7)), stopping.why


def test_nothing_asks_a_training_to_stop_that_has_no_end_and_no_signal():
    assert Stopping(Pending()).asked(0.0) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_outside_of_a_job_a_signal_is_a_user_who_cancels(number):
    line, reason = why(Stopping(sent(number)))
    assert reason == "cancelled"
    says("stopped after", signal.Signals(number).name, 7).check(line)


def test_inside_a_job_a_signal_may_be_anyones(monkeypatch):
    """Field fault 3: the next attempt knows whether the job was put back into the queue."""
    monkeypatch.setenv("PBS_JOBID", "41")
    assert why(Stopping(sent(signal.SIGTERM)))[1] == "stopped"
    assert why(Stopping(sent(signal.SIGINT)))[1] == "cancelled"


@pytest.mark.parametrize(("now", "reason"), [(100.0, "stopped"), (9_900.0, "limit")])
def test_a_signal_near_the_end_of_the_job_is_the_warning_of_its_limit(monkeypatch, now, reason):
    """Field fault 3: by the time that is left, not by the name of the signal."""
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv(END_TIME, "10000")
    assert why(Stopping(sent(signal.SIGUSR1), clock=at(now)))[1] == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("limit\n", "limit"),
        ("preempted by job 9", "preempted"),
        ("", "cancelled"),
        ("x", "cancelled"),
    ],
)
def test_a_stop_file_stops_and_may_say_why(tmp_path, monkeypatch, content, reason):
    """Field fault 2: a warning that comes while torch is imported reaches no handler."""
    path = tmp_path / "stop"
    monkeypatch.setenv(STOP_FILE, str(path))
    stopping = Stopping(Pending())
    assert stopping.asked(0.0) == 0
    path.write_text(content, encoding="utf-8")
    line, recorded = why(stopping)
    assert recorded == reason
    says("stopped after", "its stop file", 7).check(line)
    assert stopping.stopped(stopping.asked(0.0), 7).code == 143


def test_a_stop_file_explains_a_signal(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv(STOP_FILE, str(tmp_path / "stop"))
    stopping = Stopping(sent(signal.SIGTERM))
    number = stopping.asked(0.0)
    (tmp_path / "stop").write_text("preempted", encoding="utf-8")
    stopping.stopped(number, 7)
    assert stopping.why == "preempted"


@pytest.mark.parametrize(
    ("update", "save", "needed"), [(0, 0, 10), (20, 0, 30), (0, 30, 70), (20, 30, 90)]
)
def test_a_training_stops_while_there_is_time_for_an_update_and_a_save(
    monkeypatch, update, save, needed
):
    """Field fault 2: the time is that of the longest update and twice that of the longest save."""
    for left, stops in ((needed + 1, False), (needed, True)):
        monkeypatch.setenv(END_TIME, str(1000 + update + left))
        stopping = Stopping(Pending(), clock=at(1000.0, 1000.0 + update))
        stopping.asked(save)
        assert bool(stopping.asked(save)) == stops


def test_the_end_of_the_job_is_a_limit_with_the_exit_code_of_term(monkeypatch):
    monkeypatch.setenv(END_TIME, "1000")
    stopping = Stopping(Pending(), clock=at(995.0))
    line, reason = why(stopping)
    assert reason == "limit"
    says("stopped after", "the end of its job's time", 7).check(line)
    assert stopping.stopped(stopping.asked(0.0), 7).code == 143


def test_one_process_reads_file_and_clock_for_all(tmp_path, monkeypatch):
    monkeypatch.setenv(END_TIME, "1")
    monkeypatch.setenv(STOP_FILE, str(tmp_path))
    assert Stopping(Pending(), reads=False).asked(0.0) == 0
    assert Stopping(sent(signal.SIGTERM), reads=False).asked(0.0) == signal.SIGTERM


def test_an_end_that_is_no_time_is_refused(monkeypatch):
    monkeypatch.setenv(END_TIME, "tomorrow")
    with refused("no end of a job", "tomorrow", where=END_TIME):
        Stopping(Pending())
