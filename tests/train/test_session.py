"""What stops a training, what is recorded of its attempts, who reports an error, and its device."""

import errno
import io
import os
import signal
import sys
from itertools import chain

import pytest
import torch
from rich.console import Console

from fathom.io.errors import FathomError
from fathom.io.files import read_json, write_json
from fathom.io.locks import HOLDER, Held, Holder, only_writer
from fathom.io.machine import VARIABLES
from fathom.io.screen import say
from fathom.io.signals import Pending, Stopped
from fathom.results.recipe import RECIPE
from fathom.results.run_state import FAILED, OUT_OF_MEMORY, TRAINING, fail, read_state
from fathom.results.training_record import in_tf32
from fathom.train import session
from fathom.train.environment import choose_device, device_facts, require_arithmetic, versions
from fathom.train.progress import Reporter
from fathom.train.ranks import PeerLost, Ranks
from fathom.train.session import (
    ATTEMPTS,
    DAMAGED,
    Attempt,
    Session,
    delete_stale,
    recipe_of,
    recorded,
)
from fathom.train.stopping import END_TIME, STOP_FILE, Stopping
from tests.support.refused import refused, says
from tests.support.small_corpus import silent
from tests.support.small_runs import specification, train_run


def begun(folder, last_seen=None, report=silent):
    """Begin an attempt; `last_seen` is when a process that was killed before it was seen last."""
    return Attempt(folder, Held(folder / HOLDER, Holder.here(), last_seen), report)


def test_an_attempt_without_an_end_was_killed_and_stays_in_the_list(tmp_path):
    begun(tmp_path).start(0, 100)
    second = begun(tmp_path)
    second.start(40, 100)
    second.end(100, "finished")
    first, last = recorded(tmp_path)
    assert (first["from_update"], first["end"], first["ended_as"]) == (0, None, "killed")
    assert (last["from_update"], last["to_update"], last["ended_as"]) == (40, 100, "finished")
    assert last["pid"]


@pytest.mark.parametrize(
    ("recorded_as", "last_seen", "job", "ended_as"),
    [
        # Both are SIGKILL to the process: the time tells a kill at the limit from another.
        (None, 9_995, "41", "limit"),
        (None, 10_020, "41", "limit"),
        (None, 5_000, "41", "killed"),
        # Preemption and scancel send the same signal: a job that was preempted runs again.
        ("stopped", None, "41", "preempted"),
        ("stopped", None, "42", "cancelled"),
    ],
)
def test_the_next_attempt_finds_out_why_a_job_ended(
    tmp_path, monkeypatch, recorded_as, last_seen, job, ended_as
):
    """Job 41 ends at the second 10,000."""
    monkeypatch.setenv("SLURM_JOB_ID", "41")
    monkeypatch.setenv(END_TIME, "10000")
    first = begun(tmp_path)
    first.start(0, 100)
    if recorded_as:
        first.end(40, recorded_as)
    monkeypatch.setenv("SLURM_JOB_ID", job)
    begun(tmp_path, last_seen).start(40, 100)
    assert recorded(tmp_path)[0]["ended_as"] == ended_as


def test_a_resumed_training_has_the_lowest_recipe_of_its_attempts(tmp_path, monkeypatch):
    for recipe in (3, 2, 4):
        monkeypatch.setitem(RECIPE, "training", recipe)
        attempt = begun(tmp_path)
        attempt.start(0, 100)
    assert attempt.recipe == 2
    # One without a recipe is older than all.
    assert [recipe_of(each) for each in ({}, {"recipe": None}, {"recipe": "2"})] == [0, 0, 0]


DAMAGES = [b"", b"{}", b"[]", b"\0\0\0", b"\xff", b'{"attempts": {}}', b'{"attempts": [1]}']


@pytest.mark.parametrize("content", DAMAGES)
def test_a_damaged_list_is_set_aside_with_one_line_and_begins_again(tmp_path, content):
    (tmp_path / ATTEMPTS).write_bytes(content)
    assert recorded(tmp_path) is None
    lines = []
    attempt = begun(tmp_path, report=lines.append)
    assert len(lines) == 1
    says("damaged; renamed to", where=ATTEMPTS).check(lines)
    assert (tmp_path / DAMAGED).read_bytes() == content
    attempt.start(3, 100)
    assert [entry["from_update"] for entry in recorded(tmp_path)] == [3]


@pytest.fixture
def attempt(tmp_path):
    """An attempt that trains from update 40 of 60."""
    with only_writer(tmp_path, silent) as held:
        attempt = Attempt(tmp_path, held, silent)
        attempt.start(40, 60)
        yield attempt


def last(tmp_path):
    attempt = read_json(tmp_path / "attempts.json")["attempts"][-1]
    return attempt["ended_as"], attempt.get("to_update")


def test_an_attempt_begins_with_a_number_and_a_place(tmp_path, attempt):
    read = read_state(tmp_path)
    assert (read.state, read.update, read.updates, read.attempt) == ("training", 40, 60, 1)
    assert read.pid == attempt.held.holder.pid
    assert last(tmp_path) == (None, None)


def test_a_failure_is_no_end_of_an_attempt_that_has_ended_or_never_trained(tmp_path, attempt):
    attempt.end(40, "limit")
    attempt.failed("failed")
    Attempt(tmp_path, attempt.held, silent).failed("failed")
    assert last(tmp_path) == ("limit", 40)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Wait for nobody."""
    monkeypatch.setattr(session, "PATIENCE", 0.0)


def end(folder, rank, error, attempt=None, world=3, recorded=None):
    """End a process by an error, after another one has recorded one."""
    with Session(Ranks(rank, world), folder) as together:
        together.begin(None if rank else attempt)
        if recorded:
            fail(folder, recorded, "no memory is left")
        raise error


FULL, BUG = torch.OutOfMemoryError("full"), RuntimeError("a bug")
MISSING = FathomError("no such file", "tensors.json", "encode it")
LOST = PeerLost()
ENDS = {
    # The process that has an error says it.
    "the first without memory": (0, FULL, torch.OutOfMemoryError, OUT_OF_MEMORY),
    "another without memory": (2, FULL, torch.OutOfMemoryError, OUT_OF_MEMORY),
    "the first with a bug": (0, BUG, RuntimeError, FAILED),
    "another with a bug": (2, BUG, RuntimeError, FAILED),
    # Of those that lost a process the first one; where it is the one that is lost, the second.
    "the first that lost one": (0, LOST, PeerLost, FAILED),
    "the second that lost one": (1, LOST, PeerLost, FAILED),
    "the third that lost one": (2, LOST, SystemExit, TRAINING),
    # Refused is what all of them refuse, or one.
    "the first that refuses": (0, MISSING, FathomError, FAILED),
    "one that refuses": (2, MISSING, FathomError, FAILED),
    # A stop is no error.
    "a stop": (0, Stopped(15), Stopped, TRAINING),
}


@pytest.mark.parametrize(("rank", "error", "raised", "kind"), ENDS.values(), ids=ENDS)
def test_the_process_that_has_an_error_says_and_records_it(
    tmp_path, attempt, rank, error, raised, kind
):
    with pytest.raises(raised):
        end(tmp_path, rank, error, attempt)
    found = read_state(tmp_path)
    assert found.state == kind
    assert kind == TRAINING or found.reason == str(error)


@pytest.mark.parametrize(
    ("rank", "error"), [(0, LOST), (1, LOST), (2, LOST), (1, FULL), (2, MISSING)]
)
def test_a_process_is_silent_where_another_one_has_said_why(tmp_path, attempt, rank, error):
    with pytest.raises(SystemExit) as ended:
        end(tmp_path, rank, error, attempt, recorded=OUT_OF_MEMORY)
    assert ended.value.code == 1
    assert read_state(tmp_path).state == OUT_OF_MEMORY
    if rank == 0:
        assert last(tmp_path)[0] == "out_of_memory"


@pytest.mark.parametrize(
    ("error", "kind"),
    [(LOST, FAILED), (FULL, OUT_OF_MEMORY), (OSError(errno.ENOSPC, "full"), FAILED)],
)
def test_a_process_alone_says_its_error_and_records_it(tmp_path, attempt, error, kind):
    """torchrun passes on no exit code."""
    with pytest.raises(type(error)):
        end(tmp_path, 0, error, attempt, world=1)
    assert (read_state(tmp_path).state, read_state(tmp_path).reason) == (kind, str(error))
    assert last(tmp_path) == (kind, 40)


def test_an_error_before_the_attempt_begins_leaves_the_state_of_the_one_before(tmp_path, attempt):
    attempt.write(state="saved")
    with pytest.raises(ValueError, match="so"), Session(Ranks(0, 2), tmp_path):
        raise ValueError("so")
    assert read_state(tmp_path).state == "saved"


@pytest.fixture
def folder(tmp_path):
    """A finished run's folder."""
    for name in ("checkpoints/last.pt", "decodings/a/fra.txt", "training.json", "train.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_training_of_an_older_recipe_leaves_only_its_log(folder):
    attempts = [{"recipe": RECIPE["training"]}, {"recipe": RECIPE["training"] - 1}]
    write_json(folder / "attempts.json", {"attempts": attempts})
    lines = []
    delete_stale(folder, lines.append)
    assert {name for name in names(folder) if not name.startswith("lock")} == {"train.log"}
    assert len(lines) == 1


@pytest.mark.parametrize(
    "content", [{"attempts": [{"recipe": RECIPE["training"]}]}, {}], ids=["current", "damaged"]
)
def test_a_training_that_is_not_known_to_be_older_stays(folder, content):
    write_json(folder / "attempts.json", content)
    before, lines = names(folder), []
    delete_stale(folder, lines.append)
    delete_stale(folder / "never began", lines.append)
    assert names(folder) == before
    assert lines == []


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
    assert Stopping(Pending()).asked(0.0) == 0
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
    assert choose_device("cuda:1").index == 1
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert choose_device("auto").index == 1
    assert current == [torch.device("cuda:1")] * 2


def test_a_device_that_there_is_not_is_refused_with_those_that_there_are(current, monkeypatch):
    with refused("no device 'cuda:2'", remedy="below 2"):
        choose_device("cuda:2")
    with refused("no device 'gpu'", remedy="write auto, cpu, cuda or cuda:<n>"):
        choose_device("gpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with refused("no CUDA device found", remedy="write auto or cpu"):
        choose_device("cuda:1")
    assert current == []


def test_versions_name_what_a_result_depends_on():
    found = versions()
    assert found["python"].startswith("3.")
    assert found["torch"].split("+")[0] == torch.__version__.split("+")[0]
