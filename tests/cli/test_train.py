"""`fathom train`: one run, started, stopped, and started again."""

import io
import os
import signal
import sys

import pytest

from fathom.cli.main import main
from fathom.io.files import read_json, write_json
from fathom.project.load import load
from fathom.provenance import recipe
from tests.support.refused import prose, says
from tests.support.small_project import RUN, paths


@pytest.fixture
def place(own, encoded):
    """The folder that the run is to have, in a project where it has not begun."""
    folder = own(encoded)
    return paths(folder).run(load(folder).spec(f"sample/{RUN}", "small"), 1)


def test_a_run_ends_in_its_record_and_is_not_trained_again(place, call):
    answer = call("train", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert "update 4 of 4" in answer.err
    assert (place / "measurements" / "training.json").is_file()
    before = (place / "training.json").read_bytes()
    nll = read_json(place / "training.json")["validation"]["nll"]
    again = call("train", place.parent.name)
    assert again.code == 0
    assert prose("already finished", prose("validation NLL", f"{nll:.2f}")) in again.err
    assert (place / "training.json").read_bytes() == before


def test_text_that_is_not_encoded_is_named_with_the_command(own, text, call):
    folder = own(text)
    data = load(folder).spec(f"sample/{RUN}", "small").data
    line = call("train", RUN).one_line
    command = f"`fathom encode {data.folder} --scale small`"
    says("no such file", where="tensors.json", remedy=command).check(line)


def test_another_seed_has_its_own_folder(place, call):
    assert call("train", RUN, "--seed", "2").code == 0
    assert [path.name for path in place.parent.iterdir()] == ["2"]


def test_a_run_of_an_older_recipe_is_trained_again_only_where_that_is_asked_for(
    place, call, monkeypatch
):
    call("train", RUN)
    monkeypatch.setitem(recipe.RECIPE, "training", 2)
    assert prose("already finished") in call("train", RUN).err
    config = place.parents[4] / "config" / "config.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(f"{text}retrain: stale\n", encoding="utf-8")
    answer = call("train", RUN)
    assert prose("other recipe", 1, 2) in answer.err
    assert "update 1 of 4" in answer.err
    assert read_json(place / "training.json")["recipe"] == 2
    assert prose("already finished") in call("train", RUN).err


class Terminal(io.StringIO):
    """A standard error at which the user presses a key when the first update is printed."""

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
def test_a_stopped_run_ends_in_128_and_the_signal_and_resumes(
    place, trained, call, monkeypatch, number
):
    with monkeypatch.context() as patched:
        terminal = Terminal(number)
        patched.setattr(sys, "stderr", terminal)
        patched.setattr(sys, "argv", ["fathom", "train", RUN])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 128 + number
    assert "after update 1" in terminal.getvalue().removesuffix("\n").split("\n")[-1]
    assert not (place / "training.json").exists()
    again = call("train", RUN)
    assert again.code == 0
    assert "after update 1" in again.err
    (unbroken,) = trained.glob(f"results/runs/sample/{RUN}-*/1/training.json")
    for key in ("outcome", "validation", "parameters"):
        assert read_json(place / "training.json")[key] == read_json(unbroken)[key]


def test_a_damaged_record_is_refused_with_file_and_key(place, call):
    call("train", RUN)
    path = place / "training.json"
    write_json(path, read_json(path) | {"unigram_nll": "low"})
    line = call("train", RUN).one_line
    assert "training.json" in line
    assert "unigram_nll" in line


def test_text_that_is_not_encoded_is_named(own, text, call):
    folder = own(text)
    says("no such file", where="tensors.json").check(call("train", RUN).one_line)
    assert not list((folder / "results").glob("runs/*/*/1/training.json"))


def test_an_unknown_device_is_refused_before_torch_is_loaded(place, call, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    answer = call("train", RUN, "--device", "gpu")
    says("unknown", "device", "gpu", remedy=prose("devices")).check(answer.one_line)
