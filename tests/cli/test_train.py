"""`fathom train`: one run, started, stopped, and started again."""

import io
import os
import random
import signal
import sys
from pathlib import Path

import pytest
import torch

from fathom.cli.main import main
from fathom.config.load import load
from fathom.io.files import read_json
from fathom.io.integrity import read_record
from fathom.io.signals import SIGNALS, Stopped
from fathom.nn.weights import read_checkpoint
from fathom.results import recipe
from fathom.results.run_state import read_state
from tests.support.refused import prose, says
from tests.support.small_project import RUN, paths
from tests.support.stopped_jobs import FATHOM, HEARD, PIPE, RULE, start

MANY = 100


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
    nll = read_record(place / "training.json")["validation"]["nll"]
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
    before = recipe.RECIPE["training"]
    monkeypatch.setitem(recipe.RECIPE, "training", before + 1)
    assert prose("already finished") in call("train", RUN).err
    config = place.parents[4] / "config" / "config.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(f"{text}retrain: stale\n", encoding="utf-8")
    answer = call("train", RUN)
    assert prose("other recipe", before, before + 1) in answer.err
    assert "update 1 of 4" in answer.err
    assert read_record(place / "training.json")["recipe"] == before + 1
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


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_stopped_run_ends_in_the_code_of_the_signal_and_resumes(
    place, trained, call, monkeypatch, number
):
    with monkeypatch.context() as patched:
        terminal = Terminal(number)
        patched.setattr(sys, "stderr", terminal)
        patched.setattr(sys, "argv", ["fathom", "train", RUN])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == Stopped(number).code
    last = terminal.getvalue().removesuffix("\n").split("\n")[-1]
    says("stopped after", number.name, 2, remedy=prose("start again")).check(last)
    assert not (place / "training.json").exists()
    again = call("train", RUN)
    assert again.code == 0
    says("resuming", 2).check(again.err)
    (unbroken,) = trained.glob(f"results/runs/sample/{RUN}-*/1/training.json")
    for key in ("outcome", "validation", "parameters"):
        assert read_record(place / "training.json")[key] == read_record(unbroken)[key]


@pytest.fixture
def unbroken(place, call):
    """The folder of a run of many quick updates, which no signal stopped."""
    folder = Path.cwd()
    path = folder / "config/papers/sample/runs.yaml"
    text = path.read_text(encoding="utf-8").replace("validate_every: 4", "validate_every: 25")
    path.write_text(text.replace("updates: 4", f"updates: {MANY}"), encoding="utf-8")
    assert call("train", RUN).code == 0
    [made] = (folder / "results").glob(f"runs/sample/{RUN}-*/1/training.json")
    return made.parent.rename(folder / "unbroken")


def series(folder):
    """Return the bytes of metrics.tsv and of all diagnostics."""
    paths = (folder / "metrics.tsv", *sorted((folder / "diagnostics").iterdir()))
    return {path.name: path.read_bytes() for path in paths}


def weights(folder):
    """Return the tensors of the newest state."""
    return torch.load(folder / "checkpoints" / "last.pt", weights_only=True)["model"]


def rows(path):
    """Return how many rows a series has after its header."""
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0


@pytest.mark.slow
def test_a_signal_to_the_whole_job_at_any_update_loses_nothing(unbroken, call):
    """It killed tee; the next line then ended the training before its state was saved."""
    project, dice = unbroken.parent, random.Random()
    place = next((project / "results").glob(f"runs/sample/{RUN}-*")) / "1"
    updates = sorted(dice.sample(range(1, MANY - 10), 3))
    for line, number, update in zip(
        (PIPE, RULE, RULE), dice.choices(HEARD, k=3), updates, strict=True
    ):
        # Those of the job before count, too: this job must have written one.
        least = max(update, rows(place / "metrics.tsv"))
        job = start(project, f"train {RUN}", line)
        code = job.stop(number, lambda: rows(place / "metrics.tsv") > least)  # noqa: B023
        attempt = read_json(place / "attempts.json")["attempts"][-1]
        assert (attempt["ended_as"], not (place / "training.json").exists()) == ("cancelled", True)
        assert attempt["to_update"] >= update
        if line == RULE:
            assert code == Stopped(number).code
            last = job.log.read_text(encoding="utf-8").removesuffix("\n").split("\n")[-1]
            says("stopped after", number.name, attempt["to_update"]).check(last)
    assert call("train", RUN).code == 0
    assert series(place) == series(unbroken)
    ours, theirs = weights(place), weights(unbroken)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert not list(place.rglob(".*.part"))


def states(place):
    """Return the weights of the last state, and what was measured with them."""
    weights = read_checkpoint(place / "checkpoints" / "last.pt")["model"]
    return weights, read_record(place / "training.json")["validation"]


@pytest.mark.parametrize("content", [b"", b"{}", None])
def test_a_training_whose_record_is_damaged_resumes_and_records_the_same(place, call, content):
    call("train", RUN)
    path = place / "training.json"
    weights, validation = states(place)
    edited = path.read_bytes().replace(b'"update": 4', b'"update": 3')
    path.write_bytes(edited if content is None else content)
    answer = call("train", RUN)
    assert answer.code == 0
    says("resuming", 4).check(answer.err)
    assert str(path.relative_to(Path.cwd())) in answer.err
    again, measured = states(place)
    assert measured == validation
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_weights_that_were_lost_are_made_again_by_the_command_that_the_message_names(place, call):
    call("train", RUN)
    weights, validation = states(place)
    for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(b"\0" * 99)):
        damage(place / "checkpoints" / "last.pt")
        line = call("translate", RUN, "--split", "test").one_line
        command = f"fathom train sample/{place.parent.name} --seed 1"
        assert line.endswith(f"; {command}")
        answer = call(*command.split()[1:])
        assert answer.code == 0, answer.err
        says(where="last.pt", remedy=prose("resuming now")).check(answer.err)
        again, measured = states(place)
        assert measured == validation
        assert all(torch.equal(weights[name], again[name]) for name in weights)
        assert call("translate", RUN).code == 0


def test_text_that_is_not_encoded_is_named(own, text, call):
    folder = own(text)
    says("no such file", where="tensors.json").check(call("train", RUN).one_line)
    assert not list((folder / "results").glob("runs/*/*/1/training.json"))


def test_an_unknown_device_is_refused_before_torch_is_loaded(place, call, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    answer = call("train", RUN, "--device", "gpu")
    says("unknown", "device", "gpu", remedy=prose("devices")).check(answer.one_line)


TORCHRUN = (
    "exec {python} -m torch.distributed.run --standalone --nproc-per-node 2 --no-python {words} "
    "> {log} 2>&1"
)


@pytest.mark.slow
def test_torchrun_starts_stops_and_resumes_a_training_of_two_processes(unbroken, call):
    """Field fault 2: torchrun ends in 1, and state.json says that the state was saved."""
    project = Path.cwd()
    place = next((project / "results").glob(f"runs/sample/{RUN}-*")) / "1"
    command = f"{FATHOM} train {RUN}"
    line = TORCHRUN.replace("{python}", sys.executable).replace("{words}", command)
    job = start(project, "", line)
    code = job.stop(signal.SIGTERM, lambda: rows(place / "metrics.tsv") > 3)
    assert code == 1
    state = read_state(place)
    assert (state.state, state.reason) == ("saved", "cancelled")
    printed = job.log.read_text(encoding="utf-8")
    assert len(says("stopped after", "SIGTERM", state.update).check(printed)) == 1
    assert call("train", RUN).code == 0
    assert read_state(place).state == read_record(place / "training.json")["outcome"]["kind"]
    assert read_record(place / "training.json")["totals"]["updates"] == MANY
