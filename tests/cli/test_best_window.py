"""`fathom best-window`: a real run, its checkpoints' scores, and the window that they choose."""

import multiprocessing
import os
import shutil
import signal
import sys
from statistics import fmean, stdev

import pytest
import torch
from sacrebleu import corpus_bleu

from fathom.decode import checkpoint_translations as module
from fathom.io.files import read_lines
from fathom.io.integrity import read_record, write_record
from fathom.io.locks import only_writer
from fathom.results import measurements
from tests.cli.conftest import invoke
from tests.support.refused import prose, says
from tests.support.small_project import RUN
from tests.support.trained import put_checkpoint

FORK = multiprocessing.get_context("fork")
UPDATES = (1, 2, 3, 4, 5, 6)
TASKS = ("bos", "kor")
# Words match too seldom in so little text; letters do.
METRIC = "char"
KEEP = f"      keep_weights: {len(UPDATES)}  # §4\n"


@pytest.fixture(scope="session")
def saved(encoded, tmp_path_factory):
    """A project with a trained run that saved its weights, which are then made to differ much."""
    folder = tmp_path_factory.mktemp("saved") / "project"
    shutil.copytree(encoded, folder)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    text = runs.read_text(encoding="utf-8")
    for old, new in (
        ("updates: 4  #", f"updates: {len(UPDATES)}  #"),
        ("validate_every: 4  #", "validate_every: 1  #"),
        ("      clip: 1.0  # §4\n", f"      clip: 1.0  # §4\n{KEEP}"),
    ):
        assert old in text
        text = text.replace(old, new)
    runs.write_text(text, encoding="utf-8")
    invoke(folder, ("train", RUN))
    for update in UPDATES:
        (path,) = folder.glob(f"results/runs/*/*/1/checkpoints/update_{update}.pt")
        checkpoint = torch.load(path, weights_only=True)
        stream = torch.Generator().manual_seed(update)
        for tensor in checkpoint["model"].values():
            if tensor.is_floating_point():
                tensor += torch.randn(tensor.shape, generator=stream) * tensor.std().nan_to_num()
        put_checkpoint(path, checkpoint)
    return folder


@pytest.fixture(scope="session")
def measured(saved, tmp_path_factory):
    """The same project with a window of three that was made without an interruption."""
    folder = tmp_path_factory.mktemp("measured") / "project"
    shutil.copytree(saved, folder)
    invoke(folder, ("best-window", RUN, "--size", "3"))
    return folder


def texts_of(folder):
    (found,) = folder.glob(f"results/runs/sample/{RUN}-*/1/window/plain-*")
    return found


def files_of(folder):
    """Return the measurement files of windows."""
    return sorted(folder.glob(f"results/runs/sample/{RUN}-*/1/measurements/window.plain-*.json"))


def file_of(folder):
    (path,) = files_of(folder)
    return measurements.read(path)


def results_of(folder):
    """Return what a window left, but for the lock, which names its holder."""
    paths = [path for path in texts_of(folder).iterdir() if "lock" not in path.name]
    return {path.name: path.read_bytes() for path in [*paths, *files_of(folder)]}


def by_hand(folder, split, update):
    """Return a checkpoint's score of each task, from the text alone."""
    (corpus,) = folder.glob("results/corpora/*")
    return {
        task: corpus_bleu(
            read_lines(texts_of(folder) / f"{task}.{split}.{update}.txt"),
            [read_lines(corpus / task / f"{split}.eng")],
            tokenize=METRIC,
        ).score
        for task in TASKS
    }


@pytest.mark.slow
def test_the_window_is_the_one_that_is_found_by_hand(measured):
    file = file_of(measured)
    updates = file.settings["updates"][METRIC]
    means = {update: fmean(by_hand(measured, "valid", update).values()) for update in UPDATES}
    assert len(set(means.values())) == len(UPDATES)
    starts = UPDATES[: len(UPDATES) - 2]
    best = max(starts, key=lambda start: sum(means[start + step] for step in range(3)))
    assert updates == [best, best + 1, best + 2]
    test = {update: by_hand(measured, "test", update) for update in updates}
    record = file.measurements[f"bleu.test.plain.window.{METRIC}"]
    scores = [fmean(tasks.values()) for tasks in test.values()]
    assert record.all.value == pytest.approx(fmean(scores), abs=1e-5)
    assert record.all.spread == pytest.approx(stdev(scores), abs=1e-5)
    for task in TASKS:
        own = [tasks[task] for tasks in test.values()]
        assert record.tasks[task].value == pytest.approx(fmean(own), abs=1e-5)


@pytest.mark.slow
def test_test_text_is_translated_inside_the_windows_alone(measured):
    windows = file_of(measured).settings["updates"].values()
    inside = {update for updates in windows for update in updates}
    assert {path.name for path in texts_of(measured).glob("*.txt")} == {
        *(f"{task}.valid.{update}.txt" for task in TASKS for update in UPDATES),
        *(f"{task}.test.{update}.txt" for task in TASKS for update in inside),
    }


def be_killed(folder, after):
    """Make the window in a process of its own that is killed without warning after some files."""

    def child():
        honest, calls = module.write_lines, []

        def kill_after(path, lines):
            if len(calls) == after:
                os.kill(os.getpid(), signal.SIGKILL)
            calls.append(path)
            honest(path, lines)

        module.write_lines = kill_after
        invoke(folder, ("best-window", RUN, "--size", "3"))

    process = FORK.Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("after", [5, 14], ids=["in the curve", "in the window"])
def test_killed_in_the_middle_it_resumes_to_the_same_text(own, saved, measured, call, after):
    folder = own(saved)
    be_killed(folder, after)
    assert files_of(folder) == []
    assert call("best-window", RUN, "--size", "3").code == 0
    assert results_of(folder) == results_of(measured)


@pytest.mark.slow
def test_a_second_start_translates_nothing_and_measures_the_same(own, measured, call):
    folder = own(measured)
    before = results_of(folder)
    answer = call("best-window", RUN, "--size", "3")
    assert prose("files there", 12, 12) in answer.err
    assert " sentences" not in answer.err
    assert results_of(folder) == before


@pytest.mark.slow
def test_another_size_translates_only_what_it_lacks(own, measured, call):
    folder = own(measured)
    answer = call("best-window", RUN, "--size", "4")
    assert prose("files there", 12, 12) in answer.err
    assert len(files_of(folder)) == 2


@pytest.mark.slow
def test_fewer_checkpoints_than_are_asked_for_are_all_taken(own, saved, call):
    folder = own(saved)
    answer = call("best-window", RUN, "--size", "21")
    assert answer.code == 0
    assert file_of(folder).settings["updates"][METRIC] == list(UPDATES)
    assert prose("all are taken", 6, 21) in answer.err


def test_what_fails_leaves_no_measurement_of_before(own, measured, call):
    folder = own(measured)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/update_2.pt")
    path.write_bytes(b"PK")
    next(folder.glob("results/runs/*/*/1/window/*/kor.valid.2.txt")).unlink()
    line = call("best-window", RUN, "--size", "3").err.removesuffix("\n").split("\n")[-1]
    says("no seal", where="update_2.pt", remedy=f"fathom train sample/{RUN}").check(line)
    assert files_of(folder) == []


def test_a_training_without_a_result_passes_its_outcome_on(own, saved, call):
    folder = own(saved)
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    outcome = {"kind": "diverged", "update": 3, "reason": "boom"}
    write_record(path, read_record(path) | {"outcome": outcome})
    answer = call("best-window", RUN, "--size", "3")
    assert answer.code == 0
    says("outcome", "diverged", "boom").check(answer.err)
    assert (file_of(folder).outcome, file_of(folder).measurements) == ("diverged", {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seed", "2", "--size", "3"), says("no such file", where="/2/training.json")),
        (
            ("--gates", "hard", "--size", "3"),
            says("unknown", "gates", "hard", remedy=prose("valid names", "plain")),
        ),
        ((), says("no window", remedy=prose("give a size"))),
    ],
)
def test_a_mistake_is_refused_before_torch_is_loaded(saved, call, monkeypatch, words, message):
    monkeypatch.chdir(saved)
    monkeypatch.setitem(sys.modules, "torch", None)
    message.check(call("best-window", RUN, *words).one_line)


def test_a_window_of_no_checkpoints_is_a_wrong_command_line(saved, call, monkeypatch):
    monkeypatch.chdir(saved)
    assert call("best-window", RUN, "--size", "0").code == 2


def test_a_run_that_saved_no_weights_names_the_setting(own, trained, call):
    own(trained)
    line = call("best-window", RUN, "--size", "3").one_line
    says("saved no weights", 0).check(line)


def test_two_at_a_time_are_refused(own, measured, call):
    folder = own(measured)
    before, ready, done = results_of(folder), FORK.Event(), FORK.Event()

    def hold():
        with only_writer(texts_of(folder), print):
            ready.set()
            done.wait(60)

    holder = FORK.Process(target=hold)
    holder.start()
    ready.wait(60)
    line = call("best-window", RUN, "--size", "3").one_line
    done.set()
    holder.join()
    assert "process" in line
    assert results_of(folder) == before
