"""`fathom train`: one run, started, stopped, and started again."""

import io
import os
import signal
import sys

import pytest

from fathom.cli.main import main
from fathom.io.files import read_json
from fathom.project.load import load
from tests.cli.small_project import RUN, paths


@pytest.fixture
def place(own, encoded):
    """The folder that the run is to have, in a project where it has not begun."""
    folder = own(encoded)
    return paths(folder).run(load(folder).spec(RUN, "small"), 1)


def test_a_run_ends_in_its_record_and_is_not_trained_again(place, call):
    answer = call("train", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert "update 4 of 4" in answer.err
    assert "finished at update 4" in answer.err
    before = (place / "training.json").read_bytes()
    assert "has ended before" in call("train", place.parent.name).err
    assert (place / "training.json").read_bytes() == before


def test_another_seed_has_its_own_folder(place, call):
    assert call("train", RUN, "--seed", "2").code == 0
    assert [path.name for path in place.parent.iterdir()] == ["2"]


class Terminal(io.StringIO):
    """A standard error at which the user presses a key when the first update is told."""

    def __init__(self, number):
        """Take the signal's number."""
        super().__init__()
        self.number = number

    def write(self, text):
        """Keep the text; stop after the first update."""
        if "update 1 of" in text:
            os.kill(os.getpid(), self.number)
        return super().write(text)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_run_ends_in_128_and_the_signal_and_goes_on(
    place, concluded, call, monkeypatch, number
):
    with monkeypatch.context() as patched:
        terminal = Terminal(number)
        patched.setattr(sys, "stderr", terminal)
        patched.setattr(sys, "argv", ["fathom", "train", RUN])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 128 + number
    last = terminal.getvalue().removesuffix("\n").split("\n")[-1]
    assert last.endswith("after update 1; start again to go on")
    assert not (place / "training.json").exists()
    again = call("train", RUN)
    assert again.code == 0
    assert "goes on after update 1" in again.err
    (whole,) = concluded.glob(f"results/small/runs/{RUN}-*/1/training.json")
    for fact in ("outcome", "validation", "parameters"):
        assert read_json(place / "training.json")[fact] == read_json(whole)[fact]


def test_text_that_is_not_encoded_is_told(own, text, call):
    folder = own(text)
    assert "tensors.json: no such file" in call("train", RUN).one_line
    assert not list((folder / "results").glob("small/runs/*/1/training.json"))


def test_an_unknown_device_is_told_with_the_known_ones(place, call):
    answer = call("train", RUN, "--device", "gpu")
    assert "no device 'gpu'; write auto, cpu, cuda or cuda:<n>" in answer.one_line
