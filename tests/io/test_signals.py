"""Signals that stop: wherever a command is, or where it says that it can."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from fathom.io.signals import SIGNALS, Stopped, deferred, raised
from tests.support.specs import ROOT

EACH = pytest.mark.parametrize("number", SIGNALS)
WAYS = pytest.mark.parametrize("way", ["raised", "deferred"])


@pytest.fixture(autouse=True)
def heard():
    """Take signals as a command does that is started at a terminal."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def handlers():
    return [signal.getsignal(number) for number in SIGNALS]


def send(number):
    os.kill(os.getpid(), number)


@EACH
def test_a_signal_ends_a_block_wherever_it_is_and_others_are_ignored_afterwards(number):
    with pytest.raises(Stopped) as caught, raised() as pending:
        send(number)
    assert caught.value.number == pending.number == number
    after = dict(zip(SIGNALS, handlers(), strict=True))
    assert after.pop(signal.SIGINT) == signal.SIG_DFL
    assert set(after.values()) == {signal.SIG_IGN}


@EACH
def test_a_deferred_signal_waits_until_it_is_asked_for_also_inside_a_block_that_raises(number):
    with raised():
        before = handlers()
        with deferred() as pending:
            assert pending.number == 0
            send(number)
            assert pending.number == number
        assert handlers() == before
        with pytest.raises(Stopped):
            send(signal.SIGINT)


SCRIPT = """
import os, signal
from fathom.io import signals
with signals.{way}():
    try:
        {first}
    finally:
        {second}
        print("still here")
"""


def two_signals(way, first, second):
    """Return how a process ends that gets two signals inside a block, and what it prints."""
    sent = {key: f"os.kill(os.getpid(), signal.SIG{name})" for key, name in (first, second)}
    ended = run(SCRIPT.format(way=way, **sent))
    return ended.returncode, ended.stdout


def run(script):
    """Run a script, which takes Ctrl-C as a command at a terminal does."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT / "lib")},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


WHILE_NUMPY = """
import importlib, os, signal, sys
from fathom.io.signals import Stopped, raised


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy.linalg":
            os.kill(os.getpid(), signal.SIGTERM)


sys.meta_path.insert(0, Finder())
with raised():
    import {module}
    print("still here")
"""


@pytest.mark.parametrize(
    "module", ["fathom.train.loop", "fathom.decode.translate", "fathom.decode.trained_run"]
)
def test_a_signal_during_the_imports_of_a_long_job_ends_it(module):
    """torch's C code swallowed it where it imports numpy, and the job ran on."""
    ended = run(WHILE_NUMPY.format(module=module))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Stopped: stopped by SIGTERM" in ended.stderr


@WAYS
@pytest.mark.parametrize("first", ["TERM", "INT"])
def test_a_second_ctrl_c_ends_the_process_at_once(way, first):
    assert two_signals(way, ("first", first), ("second", "INT")) == (-signal.SIGINT, "")


@WAYS
@pytest.mark.parametrize("numbers", [("TERM", "TERM"), ("USR1", "TERM"), ("INT", "HUP")])
def test_a_scheduler_may_send_its_signals_again(way, numbers):
    """Slurm, srun and torchrun all send TERM to a training, which saves then."""
    code, out = two_signals(way, *zip(("first", "second"), numbers, strict=True))
    assert out == "still here\n"
    assert code == (1 if way == "raised" else 0)


@pytest.mark.parametrize(
    ("name", "code"), [("TERM", 143), ("USR1", 143), ("INT", 130), ("HUP", 129)]
)
def test_a_stop_names_its_signal_and_a_schedulers_warning_ends_in_the_exit_code_of_term(name, code):
    stopped = Stopped(getattr(signal, f"SIG{name}"), " after update 3")
    assert stopped.code == code
    assert f"SIG{name} after update 3" in str(stopped)
    assert not isinstance(stopped, Exception)


def test_a_signal_that_is_ignored_from_the_start_stays_ignored():
    """As SIGHUP is after `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with raised():
            send(signal.SIGHUP)
        with deferred() as pending:
            send(signal.SIGHUP)
        assert pending.number == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_another_thread_a_block_runs_as_it_is():
    numbers = []

    def block():
        with deferred() as pending:
            numbers.append(pending.number)

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert numbers == [0]


def test_after_the_first_signal_a_process_ends_in_peace():
    """A second TERM came while the message of the first was printed: the process died of it."""
    script = """
import os, signal
from fathom.io.signals import Stopped, ignore_others, raised
try:
    with raised():
        os.kill(os.getpid(), signal.SIGHUP)
except Stopped as stopped:
    ignore_others()
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGUSR1)
    raise SystemExit(stopped.code)
"""
    assert run(script).returncode == 129


@pytest.mark.parametrize("number", [number for number in SIGNALS if number != signal.SIGINT])
def test_a_signal_while_a_command_ends_does_not_kill_it(number):
    """A finished translation ended in -15 once in ten times."""
    script = f"""
import os, signal, sys
from fathom.cli.main import main
set_handler = signal.signal
def send_after(number, handler):
    before = set_handler(number, handler)
    if number != signal.SIGINT and not callable(handler):
        os.kill(os.getpid(), {int(number)})
    return before
signal.signal, sys.argv = send_after, ["fathom", "--version"]
main()
"""
    ended = run(script)
    assert ended.returncode in (0, Stopped(number).code)
    assert ("stopped by" in ended.stderr) == (ended.returncode != 0)


@pytest.mark.parametrize(("before_jobs", "code"), [(True, 130), (False, -signal.SIGINT)])
def test_before_any_job_ctrl_c_ends_a_start_of_snakemake_in_one_line(before_jobs, code):
    """It ended in 60 lines of Snakemake and config."""
    ended = run(f"""
import os
from fathom.io.signals import end_in_one_line
end_in_one_line(before_jobs=True)
end_in_one_line({before_jobs})
os.kill(os.getpid(), 2)
""")
    assert ended.returncode == code
    assert ended.stderr.startswith("fathom: stopped by SIGINT before any job; ") == before_jobs
