"""`fathom window`: a real run, its checkpoints' scores, and the window that they choose."""

import json
import multiprocessing
import os
import shutil
import signal
from statistics import fmean, stdev

import pytest
import torch
import yaml
from sacrebleu import corpus_bleu

from fathom.evaluation.window import chosen
from fathom.inference import checkpoint_translations as kept_translations
from fathom.io.files import read_json, write_json
from tests.cli.conftest import invoke
from tests.cli.small_project import RUN, SCALE

FORK = multiprocessing.get_context("fork")
UPDATES = (1, 2, 3, 4, 5, 6)
TASKS = ("bos", "kor")
# Words match too seldom in so little text; letters do.
METRIC = "char"


def keep(folder, **training):
    """Let the scale's runs keep weights, and compare in a metric that tells them apart."""
    before = SCALE["replace"]
    replaced = before | {
        "training": before["training"] | {"validate_every": 1} | training,
        "evaluation": before["evaluation"]
        | {"scoring": {"compared_metric": METRIC, "bootstrap_samples": 100}},
    }
    scale = SCALE | {"updates": len(UPDATES), "replace": replaced}
    path = folder / "config" / "scales" / "small.yaml"
    path.write_text(yaml.safe_dump(scale, sort_keys=False), encoding="utf-8")


@pytest.fixture(scope="session")
def kept(encoded, tmp_path_factory):
    """A project with a trained run that kept its weights, which are then made to differ much."""
    folder = tmp_path_factory.mktemp("kept") / "project"
    shutil.copytree(encoded, folder)
    keep(folder, keep_weights=len(UPDATES))
    invoke(folder, ("train", RUN))
    for update in UPDATES:
        (path,) = folder.glob(f"results/small/runs/*/1/checkpoints/update_{update}.pt")
        saved = torch.load(path, weights_only=True)
        stream = torch.Generator().manual_seed(update)
        for tensor in saved["model"].values():
            if tensor.is_floating_point():
                tensor += torch.randn(tensor.shape, generator=stream) * tensor.std().nan_to_num()
        torch.save(saved, path)
    return folder


@pytest.fixture(scope="session")
def whole(kept, tmp_path_factory):
    """The same project with a window of three that was made in one go."""
    folder = tmp_path_factory.mktemp("whole") / "project"
    shutil.copytree(kept, folder)
    invoke(folder, ("window", RUN, "--size", "3"))
    return folder


def window_of(folder):
    (found,) = folder.glob(f"results/small/runs/{RUN}-*/1/window/plain")
    return found


def results_of(folder):
    """Return what a window left, but for the lock, which names its holder."""
    paths = window_of(folder).iterdir()
    return {path.name: path.read_bytes() for path in paths if path.name != "lock"}


def by_hand(folder, split, update):
    """Return a checkpoint's score of each task, from the text alone."""

    def lines(path):
        return path.read_text(encoding="utf-8").split("\n")[:-1]

    (corpus,) = folder.glob("results/small/corpora/*")
    return {
        task: corpus_bleu(
            lines(window_of(folder) / f"{task}.{split}.{update}.txt"),
            [lines(corpus / task / f"{split}.eng")],
            tokenize=METRIC,
        ).score
        for task in TASKS
    }


def test_the_window_is_the_one_that_is_found_by_hand(whole):
    said = read_json(window_of(whole) / "window.json")
    curve = {update: by_hand(whole, "valid", update) for update in UPDATES}
    assert [row["update"] for row in said["valid"]] == list(UPDATES)
    for row in said["valid"]:
        assert row["tasks"] == pytest.approx(curve[row["update"]], abs=1e-6)
        assert row["mean"] == pytest.approx(fmean(curve[row["update"]].values()), abs=1e-6)
    means = {update: fmean(each.values()) for update, each in curve.items()}
    assert len(set(means.values())) == len(UPDATES)
    starts = UPDATES[: len(UPDATES) - 2]
    best = max(starts, key=lambda start: sum(means[start + step] for step in range(3)))
    assert said["updates"] == [best, best + 1, best + 2]
    assert UPDATES[-1] not in said["updates"]
    test = {update: by_hand(whole, "test", update) for update in said["updates"]}
    tested = [fmean(each.values()) for each in test.values()]
    assert [row["tasks"] for row in said["test"]] == [
        pytest.approx(each, abs=1e-6) for each in test.values()
    ]
    assert said["mean"] == pytest.approx(fmean(tested), abs=1e-6)
    assert said["window_sd"] == pytest.approx(stdev(tested), abs=1e-6)
    assert said["window_sd"] > 0
    for task in TASKS:
        own = [each[task] for each in test.values()]
        assert said["tasks"][task]["mean"] == pytest.approx(fmean(own), abs=1e-6)
        assert said["tasks"][task]["window_sd"] == pytest.approx(stdev(own), abs=1e-6)


def test_test_text_is_translated_inside_the_window_alone(whole):
    said = read_json(window_of(whole) / "window.json")
    texts = {path.name for path in window_of(whole).glob("*.txt")}
    assert texts == {
        *(f"{task}.valid.{update}.txt" for task in TASKS for update in UPDATES),
        *(f"{task}.test.{update}.txt" for task in TASKS for update in said["updates"]),
    }
    assert set(said["files"]) == texts


def test_the_result_says_what_it_is_of(whole):
    said = read_json(window_of(whole) / "window.json")
    assert (said["run"], said["scale"], said["seed"], said["gates"]) == (RUN, "small", 1, "plain")
    assert said["metric"]["name"] == METRIC
    assert f"tok:{METRIC}" in said["metric"]["signature"]
    assert said["size"] == {"asked": 3, "found": 3}
    assert said["note"] == ""
    assert said["settings"]["beam"] == 2
    assert "fathom.evaluation.window" in said["code"]["scoring"]["modules"]
    assert "fathom.inference.checkpoint_translations" in said["code"]["decoding"]["modules"]
    assert {"torch", "fairseq", "sacrebleu"} <= set(said["versions"])


def test_a_short_table_is_printed(own, whole, call):
    folder = own(whole)
    said = read_json(window_of(folder) / "window.json")
    answer = call("window", RUN, "--size", "3")
    assert answer.code == 0
    heading, *rows = (line.split("\t") for line in answer.out.removesuffix("\n").split("\n"))
    assert heading == ["update", f"valid {METRIC}", f"test {METRIC}"]
    valid = {row["update"]: row["mean"] for row in said["valid"]}
    for row, shown in zip(said["test"], rows, strict=False):
        update = row["update"]
        assert shown == [str(update), f"{valid[update]:.2f}", f"{row['mean']:.2f}"]
    inside = fmean(valid[update] for update in said["updates"])
    assert rows[3] == ["mean", f"{inside:.2f}", f"{said['mean']:.2f}"]
    assert rows[4] == ["window_sd", "", f"{said['window_sd']:.2f}"]
    assert rows[5] == ["3 of 6 kept checkpoints, 3 asked for"]
    assert answer.err.endswith("window/plain/window.json\n")


def be_killed(folder, after):
    """Make the window in a process of its own that is killed without warning after some files."""

    def child():
        honest, calls = kept_translations.write_lines, []

        def kill_after(path, lines):
            if len(calls) == after:
                os.kill(os.getpid(), signal.SIGKILL)
            calls.append(path)
            honest(path, lines)

        kept_translations.write_lines = kill_after
        invoke(folder, ("window", RUN, "--size", "3"))

    process = FORK.Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("after", [5, 14], ids=["in the curve", "in the window"])
def test_killed_in_the_middle_it_goes_on_to_the_same_text(own, kept, whole, call, after):
    folder = own(kept)
    be_killed(folder, after)
    assert not (window_of(folder) / "window.json").exists()
    answer = call("window", RUN, "--size", "3")
    assert answer.code == 0
    assert results_of(folder) == results_of(whole)
    assert sum(" sentences" in line for line in answer.err.split("\n")) == 12 + 6 - after


def test_a_second_start_translates_nothing_and_says_the_same(own, whole, call):
    folder = own(whole)
    before = results_of(folder)
    answer = call("window", RUN, "--size", "3")
    assert "window: valid: 12 of 12 files were there" in answer.err
    assert "window: test: 6 of 6 files were there" in answer.err
    assert " sentences" not in answer.err
    assert results_of(folder) == before


def test_another_size_translates_only_what_it_lacks(own, whole, call):
    folder = own(whole)
    first = read_json(window_of(folder) / "window.json")
    answer = call("window", RUN, "--size", "4")
    assert "window: valid: 12 of 12 files were there" in answer.err
    second = read_json(window_of(folder) / "window.json")
    assert second["valid"] == first["valid"]
    added = set(second["updates"]) - set(first["updates"])
    assert answer.err.count(" sentences") == 2 * len(added)
    means = {row["update"]: row["mean"] for row in first["valid"]}
    assert tuple(second["updates"]) == chosen(means, 4)


def test_fewer_checkpoints_than_are_asked_for_are_all_taken_and_noted(own, kept, call):
    folder = own(kept)
    answer = call("window", RUN)
    assert answer.code == 0
    said = read_json(window_of(folder) / "window.json")
    assert said["size"] == {"asked": 21, "found": 6}
    assert said["updates"] == list(UPDATES)
    note = "fewer checkpoints were kept than were asked for: all are taken"
    assert said["note"] == note
    assert f"6 of 6 kept checkpoints, 21 asked for ({note})" in answer.out


def test_a_window_of_one_has_no_spread(own, whole, call):
    folder = own(whole)
    answer = call("window", RUN, "--size", "1")
    said = read_json(window_of(folder) / "window.json")
    assert said["window_sd"] is None
    assert said["mean"] == said["test"][0]["mean"]
    assert "window_sd" not in answer.out


def test_half_a_file_is_not_believed(own, whole, call):
    folder = own(whole)
    before = results_of(folder)
    path = window_of(folder) / "kor.valid.2.txt"
    path.write_bytes(path.read_bytes()[:-9])
    (window_of(folder) / "window.json").write_text("{", encoding="utf-8")
    assert call("window", RUN, "--size", "3").code == 0
    assert results_of(folder) == before


def test_what_fails_leaves_no_window_of_before(own, whole, call):
    folder = own(whole)
    (path,) = folder.glob("results/small/runs/*/1/checkpoints/update_2.pt")
    path.write_bytes(b"PK")
    line = call("window", RUN, "--size", "3").err.removesuffix("\n").split("\n")[-1]
    assert "update_2.pt: cannot be read" in line
    assert "delete the run's folder and train it again" in line
    assert not (window_of(folder) / "window.json").exists()


@pytest.mark.parametrize("size", ["0", "-3"])
def test_a_window_without_checkpoints_is_refused_and_destroys_nothing(own, whole, call, size):
    folder = own(whole)
    before = results_of(folder)
    line = call("window", RUN, "--size", size).one_line
    assert line == f"fathom: --size: a window of {size} checkpoints; give 1 or more"
    assert results_of(folder) == before


def test_a_run_that_kept_no_weights_is_told_what_to_set(own, concluded, call):
    folder = own(concluded)
    line = call("window", RUN).one_line
    assert "the training kept no weights (training.keep_weights is 0)" in line
    assert "set training.keep_weights to the size of the window and train again" in line
    assert not list(folder.glob("results/small/runs/*/1/window"))


def test_a_run_that_is_not_trained_or_did_not_finish_is_told(own, kept, call):
    folder = own(kept)
    assert "/2/training.json: no such file" in call("window", RUN, "--seed", "2").one_line
    (path,) = folder.glob("results/small/runs/*/1/training.json")
    said = read_json(path)
    write_json(path, said | {"outcome": said["outcome"] | {"kind": "diverged", "reason": "boom"}})
    line = call("window", RUN).one_line
    assert f"run {RUN}: diverged (boom); choose a run that finished" in line
    path.unlink()
    assert "training.json: no such file" in call("window", RUN).one_line


def test_gates_that_the_run_has_not_are_told(own, kept, call):
    own(kept)
    line = call("window", RUN, "--gates", "hard").one_line
    assert f"run {RUN} is not decoded with 'hard' gates; valid names: plain" in line


def test_an_unknown_metric_is_told_before_anything_is_translated(own, kept, call):
    folder = own(kept)
    path = folder / "config" / "scales" / "small.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"compared_metric: {METRIC}", "compared_metric: cha"), "utf-8")
    assert (
        "bos is not scored with 'cha'; nearest valid name: 'char'" in call("window", RUN).one_line
    )
    assert not list(folder.glob("results/small/runs/*/1/window"))


def test_two_at_a_time_are_refused(own, whole, call):
    folder = own(whole)
    before, ready, done = results_of(folder), FORK.Event(), FORK.Event()

    def hold():
        from fathom.io.locks import only_writer

        with only_writer(window_of(folder) / "lock"):
            ready.set()
            done.wait(60)

    holder = FORK.Process(target=hold)
    holder.start()
    ready.wait(60)
    line = call("window", RUN, "--size", "3").one_line
    done.set()
    holder.join()
    assert "is at work here; let it end, or stop it first" in line
    assert results_of(folder) == before


def test_what_is_written_is_json_with_the_updates_in_their_order(whole):
    text = (window_of(whole) / "window.json").read_text(encoding="utf-8")
    said = json.loads(text)
    assert [row["update"] for row in said["valid"]] == sorted(UPDATES)
    assert said["identity"].startswith(window_of(whole).parents[2].name.rpartition("-")[2])
