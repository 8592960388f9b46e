"""`fathom score`, `likelihood`, `best-window`, `gates`, `sharing`."""

import math
import multiprocessing
import os
import shutil
import signal
from statistics import fmean, stdev

import pytest
import torch
from sacrebleu import corpus_bleu

from fathom.config.load import load
from fathom.decode import checkpoint_translations as module
from fathom.io.files import read_lines
from fathom.io.locks import only_writer
from fathom.io.records import read_record, write_record
from fathom.results import measurements
from tests.cli.conftest import invoke
from tests.support import run_files
from tests.support.small_project import GATED, RUN, TEST_SENTENCES
from tests.support.trained import put_checkpoint


@pytest.fixture
def decoding(own, summarised):
    """The folder of a decoding that may be changed."""
    (folder,) = own(summarised).glob("results/runs/*/*/1/decodings/test.plain-*")
    return folder


def test_every_task_is_scored_in_every_metric_with_the_same_bytes(decoding, call):
    (measured,) = decoding.parents[1].glob("measurements/scores.test.plain-*.json")
    before = {path: path.read_bytes() for path in (decoding / "scores.tsv", measured)}
    answer = call("score", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.count(f"({TEST_SENTENCES} sentences)") == 2
    assert {path: path.read_bytes() for path in before} == before
    scores = run_files.scores(decoding / "scores.tsv")
    assert {line.task for line in scores} == {"bos", "kor"}
    assert {"13a", "intl", "char", "none", "chrF"} == {line.metric for line in scores}


def test_altered_hypotheses_are_refused_and_no_scores_are_left(decoding, call):
    with open(decoding / "bos.txt", "a", encoding="utf-8") as stream:
        stream.write("one more\n")
    assert "bos.txt" in call("score", RUN).one_line
    assert not (decoding / "scores.tsv").exists()


def test_what_is_not_translated_is_named(decoding, call):
    (decoding / "decoding.json").unlink()
    command = f"`fathom translate sample/{RUN} --scale small --seed 1`"
    line = call("score", RUN).one_line
    assert "decoding.json: no such file" in line
    assert command in line


def written(folder, name, run=RUN):
    (path,) = folder.glob(f"results/runs/sample/{run}-*/1/measurements/likelihood.{name}-*.json")
    return measurements.read(path)


def printed(answer):
    """Return the rows of the table by task."""
    heading, *rows = (line.split("\t") for line in answer.out.splitlines())
    assert heading == ["task", "tokens", "nats", "bits", "perplexity"]
    return {task: [float(number) for number in numbers] for task, *numbers in rows}


def test_validation_is_measured_as_training_measured_it(own, trained, call):
    folder = own(trained)
    answer = call("likelihood", RUN)
    assert answer.code == 0
    nll = written(folder, "valid.plain").measurements["nll.valid.plain"]
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    validation = read_record(path)["validation"]
    assert nll.all.value == pytest.approx(validation["nll"], abs=1e-6)
    by_task = {task: number.value for task, number in nll.tasks.items()}
    assert by_task == pytest.approx(validation["by_task"], abs=1e-6)


def test_the_table_shows_what_the_file_holds(own, trained, call):
    folder = own(trained)
    table = printed(call("likelihood", RUN, "--split", "test"))
    found = written(folder, "test.plain").measurements
    nll, perplexity = found["nll.test.plain"], found["perplexity.test.plain"]
    assert list(table) == ["bos", "kor", "all"]
    numbers = nll.tasks | {"all": nll.all}
    for name, (tokens, nats, bits, value) in table.items():
        assert (tokens, nats) == (numbers[name].n, pytest.approx(numbers[name].value, abs=1e-4))
        assert value == pytest.approx(2**bits, rel=1e-3)
    assert perplexity.all.value == pytest.approx(math.exp(nll.all.value))
    assert nll.all.n == sum(number.n for number in nll.tasks.values())


def test_measuring_twice_writes_the_same_bytes(own, trained, call):
    folder = own(trained)
    texts = []
    for _ in range(2):
        call("likelihood", RUN)
        (path,) = folder.glob("results/runs/*/*/1/measurements/likelihood.*")
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_a_task_without_any_layer_is_reported_and_there_is_no_number_of_all(own, encoded, call):
    folder = own(encoded)
    call("train", GATED)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    alpha = checkpoint["model"]["decoder.method.alpha"]
    alpha[0], alpha[1] = 1.0, -1.0
    put_checkpoint(path, checkpoint)
    assert list(printed(call("likelihood", GATED))) == ["bos", "kor", "all"]
    answer = call("likelihood", GATED, "--gates", "hard")
    assert list(printed(answer)) == ["bos"]
    assert "kor: " in answer.err
    record = written(folder, "valid.hard", GATED).measurements["nll.valid.hard"]
    assert (list(record.missing), list(record.tasks), record.all) == (["kor"], ["bos"], None)


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_says_so_and_prints_no_number(own, trained, call, kind):
    folder = own(trained)
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    outcome = {"kind": kind, "update": 3, "reason": "so it is"}
    write_record(path, read_record(path) | {"outcome": outcome})
    answer = call("likelihood", RUN)
    assert (answer.code, answer.out) == (0, "")
    assert f"{kind.replace('_', ' ')} (so it is)" in answer.err
    found = written(folder, "valid.plain")
    assert (found.outcome, found.update, found.measurements) == (kind, 3, {})


def test_weights_that_are_not_finite_are_refused(own, trained, call):
    folder = own(trained)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/last.pt")
    checkpoint = torch.load(path, weights_only=True)
    for tensor in checkpoint["model"].values():
        tensor.fill_(math.nan)
    put_checkpoint(path, checkpoint)
    assert "Traceback" not in call("likelihood", RUN).one_line
    assert list(folder.glob("results/runs/*/*/1/measurements/likelihood.*")) == []


MASKED = {
    "runs.yaml": """\
  masked:
    like: base
    data: {max_pieces: 100}  # §3
    model: {architecture: masked_lm, decoder_layers: 0, activation: gelu, output_bias: true,
            block: 128}  # §3
    method: {name: latent_layers, stacks: [encoder], posterior: shared}  # §3
    masking: {chosen: 0.15}  # §3
    training: {updates: 6, batch: {tokens: 1000, per: update}, label_smoothing: 0.0}  # §3
    decoding: null
""",
    "tables.yaml": """\
table2:
  title: A masked language model
  section: §6
  columns: [perplexity]
  rows: {Masked: masked}
""",
    "reported/table2.csv": "row,column,value,stderr,mark,right,note\nMasked,perplexity,4.0,,,,\n",
}


def test_a_masked_language_model_goes_from_text_to_perplexity(own, text, call):
    folder = own(text)
    for name, added in MASKED.items():
        with open(folder / "config" / "papers" / "sample" / name, "a", encoding="utf-8") as stream:
            stream.write(added)
    data = load(folder).spec("sample/masked", "small").data
    assert call("subwords", data.subwords_folder).code == 0
    assert call("encode", data.folder).code == 0
    assert call("train", "masked").code == 0
    for gates in ("soft", "hard"):
        answer = call("likelihood", "masked", "--gates", gates)
        assert answer.code == 0, answer
        found = written(folder, f"valid.{gates}", "masked").measurements
        record = found[f"perplexity.valid.{gates}"]
        assert list(record.tasks) == ["bos", "kor"]
        assert 1 < record.all.value < 1000
    assert "a network without a decoder" in call("translate", "masked").one_line


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
    assert "12 of 12 files are there" in answer.err
    assert " sentences" not in answer.err
    assert results_of(folder) == before


@pytest.mark.slow
def test_another_size_translates_only_what_it_lacks(own, measured, call):
    folder = own(measured)
    answer = call("best-window", RUN, "--size", "4")
    assert "12 of 12 files are there" in answer.err
    assert len(files_of(folder)) == 2


@pytest.mark.slow
def test_fewer_checkpoints_than_are_asked_for_are_all_taken(own, saved, call):
    folder = own(saved)
    answer = call("best-window", RUN, "--size", "21")
    assert answer.code == 0
    assert file_of(folder).settings["updates"][METRIC] == list(UPDATES)
    assert "6 checkpoints were saved, fewer than 21: all are taken" in answer.err


def test_what_fails_leaves_no_measurement_of_before(own, measured, call):
    folder = own(measured)
    (path,) = folder.glob("results/runs/*/*/1/checkpoints/update_2.pt")
    path.write_bytes(b"PK")
    next(folder.glob("results/runs/*/*/1/window/*/kor.valid.2.txt")).unlink()
    line = call("best-window", RUN, "--size", "3").err.removesuffix("\n").split("\n")[-1]
    assert "update_2.pt: without the checksum at its end" in line
    assert f"fathom train sample/{RUN}" in line
    assert files_of(folder) == []


def test_a_training_without_a_result_passes_its_outcome_on(own, saved, call):
    folder = own(saved)
    (path,) = folder.glob("results/runs/*/*/1/training.json")
    outcome = {"kind": "diverged", "update": 3, "reason": "boom"}
    write_record(path, read_record(path) | {"outcome": outcome})
    answer = call("best-window", RUN, "--size", "3")
    assert answer.code == 0
    assert "diverged (boom)" in answer.err
    assert (file_of(folder).outcome, file_of(folder).measurements) == ("diverged", {})


def test_a_run_that_saved_no_weights_names_the_setting(own, trained, call):
    own(trained)
    assert "training.keep_weights" in call("best-window", RUN, "--size", "3").one_line


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


def test_gates_and_depth_are_measured(own, encoded, call):
    folder = own(encoded)
    assert call("train", GATED).code == 0
    answer = call("gates", GATED)
    assert (answer.code, answer.out) == (0, "")
    (path,) = folder.glob("results/runs/*/*/1/measurements/gates.json")
    found = measurements.read(path).measurements
    assert found["gates.decoder"].labels["task"] == ["bos", "kor"]
    assert list(found["depth.decoder"].tasks) == ["bos", "kor"]
    assert str(path.name) in answer.err


GROUPS = "  groups: {like: base, method: {name: group_dropout, groups: 4, active: 3}}  # §3\n"


def test_similarity_and_sharing_are_measured(own, encoded, call):
    folder = own(encoded)
    runs = folder / "config" / "papers" / "sample" / "runs.yaml"
    runs.write_text(runs.read_text(encoding="utf-8") + GROUPS, encoding="utf-8")
    assert call("train", "groups").code == 0
    answer = call("sharing", "groups")
    assert (answer.code, answer.out) == (0, "")
    (path,) = folder.glob("results/runs/*/*/1/measurements/sharing.json")
    found = measurements.read(path).measurements
    assert found["similarity"].values[0][0] == 1.0
    # Two masks of three of four groups have two in common at least.
    assert 2 / 3 <= found["sharing"].all.value <= 1


def test_a_run_without_masks_is_refused(trained, call, monkeypatch):
    monkeypatch.chdir(trained)
    assert "masks" in call("sharing", RUN).one_line
