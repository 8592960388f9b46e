"""`fathom translate`: the test sentences of a run, or a user's own."""

import io
import os
import signal
import sys

import pytest

from fathom.cli.main import main
from fathom.cli.translate import chosen_gates
from fathom.errors import FathomError
from fathom.io.files import read_json
from fathom.project.load import load
from tests.cli.small_project import RUN, TEST_SENTENCES


def test_every_test_sentence_of_every_task_gets_its_line(own, concluded, call):
    folder = own(concluded)
    (decoding,) = folder.glob("results/small/runs/*/1/decodings/plain")
    before = {path.name: path.read_bytes() for path in decoding.glob("*.txt")}
    for path in (*decoding.glob("*.txt"), decoding / "decoding.json"):
        path.unlink()
    answer = call("translate", RUN, "--gates", "plain")
    assert (answer.code, answer.out) == (0, "")
    assert f"translate: kor {TEST_SENTENCES} sentences" in answer.err
    assert {path.name: path.read_bytes() for path in decoding.glob("*.txt")} == before
    assert sorted(before) == ["bos.test.txt", "kor.test.txt"]
    assert all(text.count(b"\n") == TEST_SENTENCES for text in before.values())
    assert read_json(decoding / "decoding.json")["outcome"] == "decoded"


@pytest.mark.parametrize(
    ("typed", "lines"),
    [("čalo ži\n\nna\n", 3), ("čalo ži\nna", 2), ("one\u2028two\n", 1), ("", 0)],
)
def test_a_users_text_is_answered_line_by_line(concluded, call, monkeypatch, typed, lines):
    monkeypatch.chdir(concluded)
    answer = call("translate", RUN, "--task", "bos", typed=typed.encode())
    assert answer.code == 0
    assert answer.out.count("\n") == lines


def test_an_unknown_task_is_told_the_nearest(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    line = call("translate", RUN, "--task", "koor", typed=b"a\n").one_line
    assert "no task 'koor'; nearest valid name: 'kor'" in line


def test_text_that_is_not_utf_8_is_told_with_its_place(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    line = call("translate", RUN, "--task", "bos", typed="na é".encode("latin-1")).one_line
    assert "standard input: not UTF-8 at byte 4; convert the text first" in line


@pytest.mark.parametrize("words", [(), ("--task", "bos")])
def test_a_run_that_is_not_trained_is_told(encoded, call, monkeypatch, words):
    monkeypatch.chdir(encoded)
    assert "training.json: no such file" in call("translate", RUN, *words).one_line


def test_gates_that_the_run_has_not_are_told(concluded, call, monkeypatch):
    monkeypatch.chdir(concluded)
    line = call("translate", RUN, "--gates", "soft").one_line
    assert f"run {RUN} is not decoded with 'soft' gates; valid names: plain" in line


def test_without_gates_those_are_taken_that_are_compared(concluded):
    catalog = load(concluded)
    plain, gated = (catalog.spec(run, "small") for run in (RUN, "ll_d_12_24"))
    assert chosen_gates(catalog, plain, None) == "plain"
    assert chosen_gates(catalog, gated, None) == "soft"
    assert chosen_gates(catalog, gated, "hard") == "hard"
    with pytest.raises(FathomError, match="nearest valid name: 'hard'"):
        chosen_gates(catalog, gated, "hrad")


class Keyboard(io.BytesIO):
    """A standard input at which the user presses Ctrl-C."""

    def read(self, *_):
        """Send the signal that the terminal would send."""
        os.kill(os.getpid(), signal.SIGINT)
        return b""


@pytest.fixture
def interruptible():
    """Take Ctrl-C as Python does, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_ends_in_130_without_a_traceback(concluded, monkeypatch, capsys):
    monkeypatch.chdir(concluded)
    monkeypatch.setattr(sys, "argv", ["fathom", "translate", RUN, "--task", "bos"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Keyboard()))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert "Traceback" not in capsys.readouterr().err
