"""`fathom train` and `translate`: started, stopped, started again, and with a user's text."""

import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from fathom.cli import runs as verbs
from fathom.config.load import load
from fathom.io.errors import FathomError
from fathom.io.files import read_json
from fathom.io.records import read_record
from fathom.io.signals import Stopped
from fathom.results import recipe
from fathom.results.run_state import read_state
from tests.support.refused import says
from tests.support.small_project import GATED, RUN, TEST_SENTENCES, paths
from tests.support.specs import ROOT, small_spec
from tests.support.states import require_equal, state
from tests.support.stopped_jobs import FATHOM, HEARD, PIPE, RULE, said_of, start

MANY = 100


@pytest.fixture
def place(own, encoded):
    """The folder that the run is to have, in a project where it has not begun."""
    folder = own(encoded)
    return paths(folder).run(load(folder).spec(f"sample/{RUN}", "small"), 1)


@pytest.fixture
def ended(own, trained):
    """The folder of a run that has ended."""
    folder = own(trained)
    return paths(folder).run(load(folder).spec(f"sample/{RUN}", "small"), 1)


def test_a_run_ends_in_its_record_and_is_not_trained_again(place, call):
    folder = place.with_name("2")
    answer = call("train", RUN, "--seed", "2")
    assert (answer.code, answer.out) == (0, "")
    assert "update 4 of 4" in answer.err
    assert (folder / "measurements" / "training.json").is_file()
    before = (folder / "training.json").read_bytes()
    nll = read_record(folder / "training.json")["validation"]["nll"]
    again = call("train", place.parent.name, "--seed", "2")
    assert again.code == 0
    assert f"already finished (validation NLL {nll:.2f}); see" in again.err
    assert (folder / "training.json").read_bytes() == before
    assert [path.name for path in place.parent.iterdir()] == ["2"]


JOB_VERBS = (
    ("train", RUN),
    ("translate", RUN),
    ("likelihood", RUN),
    ("best-window", RUN, "--size", "2"),
)


@pytest.mark.parametrize("words", JOB_VERBS)
def test_a_job_with_fewer_gpus_than_it_asked_for_is_refused_at_once(
    project, call, monkeypatch, words
):
    monkeypatch.setenv("SLURM_JOB_ID", "153")
    monkeypatch.setenv("FATHOM_GPUS", str(torch.cuda.device_count() + 1))
    line = call(*words).one_line
    says("asked for", where="job 153", remedy="").check(line)
    if torch.version.cuda is None:
        assert "it asked for 1 GPU, and torch sees none: this torch is built for CPUs" in line
        assert "make environment" in line
    # Of several processes of a node one says it.
    monkeypatch.setenv("LOCAL_RANK", "1")
    answer = call(*words)
    assert (answer.code, answer.out, answer.err) == (1, "", "")


@pytest.mark.parametrize("words", JOB_VERBS)
def test_a_job_begins_with_a_line_on_what_it_has(project, call, monkeypatch, words):
    monkeypatch.setenv("FATHOM_GPUS", "0")
    assert "job 153" not in call(*words).err
    monkeypatch.setenv("SLURM_JOB_ID", "153")
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "31744")
    monkeypatch.setenv("FATHOM_END_TIME", "1e9")
    first = call(*words).err.split("\n")[0]
    form = r"fathom: job 153 on \S+: \d+ of 0 GPUs.*, \d+ cores, 31 GB, until 2001-09-0\d \d\d:\d\d"
    assert re.fullmatch(form, first)
    # Of several processes the first prints it.
    monkeypatch.setenv("RANK", "1")
    assert "job 153" not in call(*words).err


def test_a_training_warns_where_the_scale_averages_early_weights(place, call, edit):
    saves = "      save_every: 1  # §4\n      keep_weights: 2  # §4\n      validate_every: 4  # §4"
    edit("papers/sample/runs.yaml", "      validate_every: 4  # §4", saves)
    edit("papers/sample/runs.yaml", "decoding: {beam: 2", "decoding: {average_of: 2, beam: 2")
    edit("scales/small.yaml", "seeds: 1", "seeds: 1\nrules: [{set: {training.save_every: 2}}]")
    printed = call("train", RUN).err
    assert "the mean of 2 saved weights begins at update 2 of 4; write training" in printed


def test_a_run_of_an_older_recipe_is_trained_again_only_where_that_is_asked_for(
    ended, call, monkeypatch
):
    before = recipe.RECIPE["training"]
    monkeypatch.setitem(recipe.RECIPE, "training", before + 1)
    assert "already finished" in call("train", RUN).err
    with open("config/config.yaml", "a", encoding="utf-8") as stream:
        stream.write("retrain: stale\n")
    answer = call("train", RUN)
    assert f"recipe {before}" in answer.err
    assert "update 1 of 4" in answer.err
    assert read_record(ended / "training.json")["recipe"] == before + 1
    assert "already finished" in call("train", RUN).err


@pytest.fixture
def unbroken(place, call, edit):
    """The folder of a run of many quick updates, which no signal stopped."""
    folder = Path.cwd()
    edit("papers/sample/runs.yaml", "validate_every: 4", "validate_every: 25")
    edit("papers/sample/runs.yaml", "updates: 4", f"updates: {MANY}")
    assert call("train", RUN).code == 0
    [made] = (folder / "results").glob(f"runs/sample/{RUN}-*/1/training.json")
    return made.parent.rename(folder / "unbroken")


def series(folder):
    """Return the bytes of metrics.tsv and of all diagnostics."""
    paths = (folder / "metrics.tsv", *sorted((folder / "diagnostics").iterdir()))
    return {path.name: path.read_bytes() for path in paths}


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
            assert re.search(said_of(number), last)
            assert f"update {attempt['to_update']}" in last
    assert call("train", RUN).code == 0
    assert series(place) == series(unbroken)
    require_equal(state(place)["model"], state(unbroken)["model"])
    assert not list(place.rglob(".*.part"))


def learned(place):
    """Return the weights of the last state, and what was measured with them."""
    return [state(place)["model"], read_record(place / "training.json")["validation"]]


@pytest.mark.parametrize("content", [b"", b"{}", None])
def test_a_training_whose_record_is_damaged_resumes_and_records_the_same(ended, call, content):
    path = ended / "training.json"
    before = learned(ended)
    edited = path.read_bytes().replace(b'"update": 4', b'"update": 3')
    path.write_bytes(edited if content is None else content)
    answer = call("train", RUN)
    assert answer.code == 0
    assert "resuming after update 4" in answer.err
    assert str(path.relative_to(Path.cwd())) in answer.err
    require_equal(learned(ended), before)


def test_weights_that_were_lost_are_made_again_by_the_command_that_the_message_names(ended, call):
    before = learned(ended)
    for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(b"\0" * 99)):
        damage(ended / "checkpoints" / "last.pt")
        line = call("translate", RUN, "--split", "test").one_line
        command = f"fathom train sample/{ended.parent.name} --seed 1"
        assert line.endswith(f"; run `{command}`")
        answer = call(*command.split()[1:])
        assert answer.code == 0, answer.err
        assert "last.pt" in answer.err
        require_equal(learned(ended), before)
    assert call("translate", RUN).code == 0


def test_text_that_is_not_encoded_is_named(own, text, call):
    folder = own(text)
    line = call("train", RUN).one_line
    assert "tensors.json: no such file" in line
    assert f"run `fathom run sample/{RUN} --scale small`" in line
    assert not list((folder / "results").glob("runs/*/*/1/training.json"))


TORCHRUN = (
    "exec {python} -m torch.distributed.run --standalone --nproc-per-node 2 --no-python {words} "
    "> {log} 2>&1"
)


@pytest.mark.slow
def test_torchrun_starts_stops_and_resumes_a_training_of_two_processes(unbroken, call):
    """torchrun ends in 1, and state.json says that the state was saved."""
    project = Path.cwd()
    place = next((project / "results").glob(f"runs/sample/{RUN}-*")) / "1"
    command = f"{FATHOM} train {RUN}"
    line = TORCHRUN.replace("{python}", sys.executable).replace("{words}", command)
    job = start(project, "", line)
    code = job.stop(signal.SIGTERM, lambda: rows(place / "metrics.tsv") > 3)
    assert code == 1
    stopped = read_state(place)
    assert (stopped.state, stopped.reason) == ("saved", "cancelled")
    printed = job.log.read_text(encoding="utf-8")
    assert printed.count("stopped by SIGTERM") == 1
    assert call("train", RUN).code == 0
    assert read_state(place).state == read_record(place / "training.json")["outcome"]["kind"]
    assert read_record(place / "training.json")["totals"]["updates"] == MANY


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


def test_a_decoding_that_is_there_is_not_made_again_unless_it_is_named(own, summarised, call):
    """Without options every decoding that tables show is made."""
    folder = own(summarised)
    assert set(decodings(folder, GATED)) == {"test.soft", "test.hard"}
    path = decodings(folder, GATED)["test.hard"] / "decoding.json"
    before = path.stat().st_mtime_ns
    assert "every translation is there" in call("translate", GATED).err
    assert path.stat().st_mtime_ns == before
    assert "sentences" in call("translate", GATED, "--split", "test", "--gates", "hard").err
    assert path.stat().st_mtime_ns > before
    assert call("translate", GATED, "--split", "valid", "--gates", "hard").code == 0
    assert set(decodings(folder, GATED)) == {"test.soft", "test.hard", "valid.hard"}


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
    ("typed", "message"),
    [
        ("na é".encode("latin-1"), "standard input: not UTF-8 at byte 4; convert the text first"),
        (None, f"sample/{RUN}: standard input is closed; give it text: < sentences.txt"),
    ],
)
def test_standard_input_that_cannot_be_read_is_refused(trained, call, monkeypatch, typed, message):
    monkeypatch.chdir(trained)
    line = call("translate", RUN, "--task", "bos", typed=typed).one_line
    assert line == f"fathom: {message}"


@pytest.fixture
def piped(monkeypatch):
    """A function that puts a real pipe with some text in place of standard input."""
    streams = []

    def put(text, tasks=("bos", "kor")):
        reading, writing = os.pipe()
        os.write(writing, text)
        os.close(writing)
        streams.append(os.fdopen(reading))
        monkeypatch.setattr(sys, "stdin", streams[-1])
        return verbs.piped_task(small_spec(tasks=tasks))

    yield put
    for stream in streams:
        stream.close()


def test_text_that_is_piped_in_is_of_the_only_task(piped):
    assert piped("čalo\n".encode(), tasks=("bos",)) == "bos"
    assert sys.stdin.buffer.read() == "čalo\n".encode()
    assert piped(b"") is None


def test_text_that_is_piped_in_is_refused_where_a_run_has_several_tasks(piped, monkeypatch):
    with pytest.raises(FathomError, match=r"nothing says of which task; add --task .*bos, kor"):
        piped(b"a\n")
    # What a workflow runs leaves standard input alone.
    monkeypatch.setenv("FATHOM_CONFIG", "{}")
    assert piped(b"a\n") is None


def test_a_pipe_without_a_writer_that_writes_is_not_waited_for(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(verbs, "PATIENCE", 0.01)
    with os.fdopen(reading) as stream, os.fdopen(writing, "w"):
        monkeypatch.setattr(sys, "stdin", stream)
        assert verbs.piped_task(small_spec()) is None


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
    assert "type text of bos" in process.stderr.readline().decode()
    for text in ("čalo ži\n", "na\n", "\n"):
        os.write(keyboard, text.encode())
        assert process.stdout.readline().endswith(b"\n")
    os.write(keyboard, b"\x04")
    out, err = process.communicate(timeout=60)
    os.close(keyboard)
    assert (process.returncode, out, err) == (0, b"", b"")


def _says(log, words):
    """Return whether a log has words by now."""
    return log.exists() and words in log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_signal_to_the_whole_job_at_any_time_leaves_nothing_half_done(own, summarised, call):
    """It ended in -15, with an empty log."""
    folder = own(summarised)
    decoding = decodings(folder)["test.plain"]
    before = {path.name: path.read_bytes() for path in decoding.iterdir()}
    [asked] = decoding.parent.glob("asked-*.json")
    shutil.rmtree(decoding)
    asked.unlink()
    dice, took = random.Random(), 60.0
    # While the interpreter ends, which made a finished job fail; while packages are imported, while
    # the network is built, and while it translates.
    for share in (None, 0.3, 0.5, 2.0):
        shutil.rmtree(decoding, ignore_errors=True)
        asked.unlink(missing_ok=True)
        begun = time.monotonic()
        job = start(folder, f"translate {RUN}")
        if share is None:
            number, seen = signal.SIGTERM, partial(_says, job.log, "next: ")
        else:
            number, seen = dice.choice(HEARD), partial(Path.exists, decoding / "bos.txt")
        late = begun + took * ((share or 1) + dice.random() / 5)
        code = job.stop(number, lambda: seen() or time.monotonic() > late)  # noqa: B023
        took = took if share else time.monotonic() - begun
        assert code == Stopped(number).code or asked.exists()
        if code:
            [*_, last] = job.log.read_text(encoding="utf-8").splitlines()
            assert re.search(f"{said_of(number)} start the same command again", last)
    assert call("translate", RUN).code == 0
    unscored = {name: text for name, text in before.items() if (decoding / name).exists()}
    assert {path.name: path.read_bytes() for path in decoding.iterdir()} == unscored
    assert {"bos.txt", "kor.txt", "decoding.json"} <= set(unscored)
