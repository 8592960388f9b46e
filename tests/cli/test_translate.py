"""`fathom translate`: the held-out sentences of a run, or a user's own."""

import io
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from fathom.cli import translate as verb
from fathom.cli.main import main
from fathom.io.files import read_json
from fathom.io.signals import Stopped
from tests.support.refused import prose, refused, says
from tests.support.small_project import GATED, RUN, TEST_SENTENCES
from tests.support.specs import ROOT, small_spec
from tests.support.stopped_jobs import HEARD, start


def decodings(folder, run=RUN):
    """Return the folders of a run's decodings by split and gates."""
    found = folder.glob(f"results/runs/sample/{run}-*/1/decodings/*/decoding.json")
    return {path.parent.name.partition("-")[0]: path.parent for path in found}


def test_every_test_sentence_of_every_task_gets_its_line(own, summarised, call):
    folder = own(summarised)
    decoding = decodings(folder)["test.plain"]
    before = {path.name: path.read_bytes() for path in decoding.glob("*.txt")}
    for path in (*decoding.glob("*.txt"), decoding / "decoding.json"):
        path.unlink()
    answer = call("translate", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert list(decoding.parent.glob("asked-*.json"))
    assert f"test, plain: kor {TEST_SENTENCES} sentences" in answer.err
    assert {path.name: path.read_bytes() for path in decoding.glob("*.txt")} == before
    assert sorted(before) == ["bos.txt", "kor.txt"]
    assert all(text.count(b"\n") == TEST_SENTENCES for text in before.values())
    assert read_json(decoding / "decoding.json")["outcome"] == "finished"


def test_without_options_every_decoding_that_tables_show_is_made(own, encoded, call):
    folder = own(encoded)
    assert call("train", GATED).code == 0
    assert call("translate", GATED).code == 0
    assert set(decodings(folder, GATED)) == {"test.soft", "test.hard"}
    assert call("translate", GATED, "--split", "valid", "--gates", "hard").code == 0
    assert set(decodings(folder, GATED)) == {"test.soft", "test.hard", "valid.hard"}


def test_a_decoding_that_is_there_is_not_made_again_unless_it_is_named(own, summarised, call):
    folder = own(summarised)
    path = decodings(folder)["test.plain"] / "decoding.json"
    before = path.stat().st_mtime_ns
    says("all translated").check(call("translate", RUN).err)
    assert path.stat().st_mtime_ns == before
    assert "sentences" in call("translate", RUN, "--split", "test").err
    assert path.stat().st_mtime_ns > before


@pytest.mark.parametrize(
    ("typed", "lines"),
    [("čalo ži\n\nna\n", 3), ("čalo ži\nna", 2), ("one\u2028two\n", 1), ("", 0)],
)
def test_a_users_text_is_answered_line_by_line(trained, call, monkeypatch, typed, lines):
    monkeypatch.chdir(trained)
    answer = call("translate", RUN, "--task", "bos", typed=typed.encode())
    assert answer.code == 0
    assert answer.out.count("\n") == lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("static_2_3",), says("unknown", "run", "static_2_3", nearest="static_2_2")),
        ((RUN, "--task", "koor"), says("unknown", "task", "koor", nearest="kor")),
        ((RUN, "--split", "tset"), says("unknown", "held-out split", "tset", nearest="test")),
        (
            (RUN, "--gates", "soft"),
            says(
                "unknown",
                "gates",
                "soft",
                where=f"sample/{RUN}",
                remedy=prose("valid names", "plain"),
            ),
        ),
        ((GATED, "--gates", "hrad"), says("unknown", "gates", "hrad", nearest="hard")),
        *(
            ((RUN, "--device", name), says("unknown", "device", name, remedy="cuda:<n>"))
            for name in ("gpu", "xpu", "meta", "mps", "cuda:x", "")
        ),
        ((RUN, "--seed", "1,2"), says("no seed", "1,2", where="--seed")),
        ((RUN, "--seed", "99999999999999999999"), says("no seed")),
        (
            (RUN, "--results", "re{x}sults"),
            says("impossible folder", "re{x}sults", where="results re{x}sults"),
        ),
        ((RUN, "--results", ""), says("impossible folder", "")),
        (
            (RUN, "--seed", "2"),
            says(
                "no such file",
                where="/2/training.json",
                remedy=f"`fathom train sample/{RUN} --scale small --seed 2`",
            ),
        ),
        ((GATED,), says("no such file", where="training.json")),
        ((RUN, "--seed", "2", "--task", "bos"), says("no such file", where="/2/training.json")),
        ((RUN, "--task", "bos", "--split", "test"), says("text or split", where=RUN)),
    ],
)
def test_a_mistake_is_refused_in_one_line_before_torch_is_loaded(
    trained, call, monkeypatch, words, message
):
    monkeypatch.chdir(trained)
    monkeypatch.setitem(sys.modules, "torch", None)
    message.check(call("translate", *words, typed=b"a\n").one_line)


def test_missing_weights_are_refused_before_torch_is_loaded(own, trained, call, monkeypatch):
    folder = own(trained)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    path.unlink()
    monkeypatch.setitem(sys.modules, "torch", None)
    says("no checkpoint", where="last.pt").check(call("translate", RUN).one_line)


def test_text_that_is_not_utf_8_is_refused_with_its_place(trained, call, monkeypatch):
    monkeypatch.chdir(trained)
    line = call("translate", RUN, "--task", "bos", typed="na é".encode("latin-1")).one_line
    says("byte", 4, where="standard input", remedy=prose("convert")).check(line)


@pytest.fixture
def piped(monkeypatch):
    """A function that puts a real pipe with some text in place of standard input."""
    streams = []

    def put(text, tasks=("bos", "kor")):
        reading, writing = os.pipe()
        os.write(writing, text)
        os.close(writing)
        streams.append(os.fdopen(reading))
        monkeypatch.setattr(sys, "stdin", streams[0])
        return verb._piped_task(small_spec(tasks=tasks))

    yield put
    for stream in streams:
        stream.close()


def test_text_that_is_piped_in_is_of_the_only_task(piped):
    assert piped("čalo\n".encode(), tasks=("bos",)) == "bos"
    assert sys.stdin.buffer.read() == "čalo\n".encode()


def test_text_that_is_piped_in_is_refused_where_a_run_has_several_tasks(piped):
    with refused("text of which task", where="paper/small", remedy="bos, kor"):
        piped(b"a\n")


def test_an_empty_pipe_is_no_text(piped):
    assert piped(b"") is None


def test_what_a_workflow_runs_leaves_standard_input_alone(piped, monkeypatch):
    monkeypatch.setenv("FATHOM_CONFIG", "{}")
    assert piped(b"a\n") is None


def test_a_pipe_without_a_writer_that_writes_is_not_waited_for(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(verb, "PATIENCE", 0.01)
    with os.fdopen(reading) as stream, os.fdopen(writing, "w"):
        monkeypatch.setattr(sys, "stdin", stream)
        assert verb._piped_task(small_spec()) is None


def test_a_closed_standard_input_is_refused(trained, monkeypatch, capsys):
    monkeypatch.chdir(trained)
    monkeypatch.setattr(sys, "argv", ["fathom", "translate", RUN, "--task", "bos"])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    says("standard input closed", where=RUN).check(capsys.readouterr().err)


@pytest.mark.slow
def test_at_a_terminal_each_line_is_answered_before_the_next_is_typed(trained):
    keyboard, terminal = pty.openpty()
    words = [sys.executable, "-c", "from fathom.cli.main import main; main()"]
    process = subprocess.Popen(
        [*words, "translate", RUN, "--task", "bos"],
        cwd=trained,
        env=os.environ | {"PYTHONPATH": str(ROOT / "lib")},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    says("type text", "bos").check(process.stderr.readline().decode())
    for text in ("čalo ži\n", "na\n", "\n"):
        os.write(keyboard, text.encode())
        assert process.stdout.readline().endswith(b"\n")
    os.write(keyboard, b"\x04")
    out, err = process.communicate(timeout=60)
    os.close(keyboard)
    assert (process.returncode, out, err) == (0, b"", b"")


class Keyboard(io.BytesIO):
    """A standard input at which the user presses Ctrl-C."""

    def read(self, *_):
        """Send the signal that the terminal would send."""
        os.kill(os.getpid(), signal.SIGINT)
        return b""


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_ends_in_130_without_a_traceback(trained, monkeypatch, capsys):
    monkeypatch.chdir(trained)
    monkeypatch.setattr(sys, "argv", ["fathom", "translate", RUN, "--task", "bos"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Keyboard()))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_signal_to_the_whole_job_at_any_time_leaves_nothing_half_done(own, summarised, call):
    """It ended in -15, with an empty log."""
    folder = own(summarised)
    decoding = decodings(folder)["test.plain"]
    before = {path.name: path.read_bytes() for path in decoding.iterdir()}
    [asked] = decoding.parent.glob("asked-*.json")
    shutil.rmtree(decoding)
    asked.unlink()
    dice = random.Random()
    # While packages are imported, while the network is built, and while it translates.
    for earliest in (1.0, 2.0, None):
        begun, delay = time.monotonic(), dice.random() + (earliest or 60)
        job = start(folder, f"translate {RUN}")
        texts = partial(Path.exists, decoding / "bos.txt")
        number = dice.choice(HEARD)
        code = job.stop(number, lambda: texts() or time.monotonic() > begun + delay)  # noqa: B023
        assert code == Stopped(number).code or asked.exists()
        if code:
            [*_, last] = job.log.read_text(encoding="utf-8").splitlines()
            says("stopped", number.name, remedy=prose("start again")).check(last)
    assert call("translate", RUN).code == 0
    unscored = {name: text for name, text in before.items() if (decoding / name).exists()}
    assert {path.name: path.read_bytes() for path in decoding.iterdir()} == unscored
    assert {"bos.txt", "kor.txt", "decoding.json"} <= set(unscored)
