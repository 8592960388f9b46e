"""Hypotheses of single checkpoints: whose they are, and what a second start keeps of the first."""

import os
import shutil
from dataclasses import replace

import pytest
import torch

from fathom.config.paths import Paths
from fathom.decode import checkpoint_translations as module
from fathom.decode.checkpoint_translations import (
    RECORDED,
    CheckpointTranslations,
    consecutive_updates,
)
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import translate
from fathom.io.files import read_lines, sha256
from fathom.io.records import read_record, write_record
from fathom.nn.weights import weights_path
from tests.support.processes import kill, killed
from tests.support.refused import refused
from tests.support.small_corpus import TASKS, silent
from tests.support.trained import (
    CPU,
    SURE,
    end,
    put_checkpoint,
    record_weights,
    through,
    trained_spec,
    write_trained,
)

UPDATES = (2, 4, 5)
SAVES = {"updates": 5, "validate_every": 2, "keep_weights": 3}
PLAIN = trained_spec({"training": SAVES})
SOFT = trained_spec({"training": SAVES, "method": {"name": "latent_layers"}}, run="soft")


@pytest.fixture(scope="module")
def original(paths):
    """Return the places of runs with weights of three updates."""
    for spec in (PLAIN, SOFT):
        write_trained(spec, paths, updates=UPDATES)
    return paths


@pytest.fixture
def run(original, tmp_path):
    """Return a copy of the run, which a test may change."""
    shutil.copytree(original.results, tmp_path / "results")
    return TrainedRun(PLAIN, 1, Paths(tmp_path / "results", "tiny"), CPU)


@pytest.fixture
def folder(run):
    """Return the folder of its hypotheses."""
    return run.paths.window(PLAIN, 1, "plain")


def again(run, spec=None):
    """Return a run as another process sees it."""
    return TrainedRun(spec or run.spec, 1, run.paths, CPU)


def start(run, gates="plain", lines=None):
    """Return what a start of a run's translations begins with."""
    return CheckpointTranslations(again(run), gates, silent if lines is None else lines.append)


def saved(run, update):
    return weights_path(run.checkpoints, update)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_hypotheses_are_those_that_a_translation_with_the_same_weights_gives(run):
    made = start(run).of("test", UPDATES)
    texts = set()
    for update in UPDATES:
        shutil.copy(saved(run, update), run.checkpoints / "last.pt")
        record_weights(run.folder)
        translate(again(run), [("test", "plain")], silent)
        for task in TASKS:
            expected = run.paths.decoding(PLAIN, 1, "test", "plain") / f"{task}.txt"
            assert made[update][task].read_bytes() == expected.read_bytes()
        texts.add(made[update]["kor"].read_bytes())
    assert len(texts) == len(UPDATES)


def test_every_sentence_of_the_split_has_its_line(run, folder):
    made = start(run)
    files = {split: made.of(split, UPDATES[:1])[UPDATES[0]] for split in ("valid", "test")}
    for split, paths in files.items():
        assert list(paths) == list(TASKS)
        for task, path in paths.items():
            assert path == folder / f"{task}.{split}.{UPDATES[0]}.txt"
            assert len(read_lines(path)) == len(run.tensors.split(task, split))
    assert files["valid"]["kor"].read_bytes() != files["test"]["kor"].read_bytes()


def with_gates(run, update, alpha):
    """Give all tasks these gates after an update, by task and layer of both stacks."""
    state = torch.load(saved(run, update), weights_only=True)
    for stack in ("encoder", "decoder"):
        state["model"][f"{stack}.method.alpha"].copy_(torch.tensor(alpha))
    put_checkpoint(saved(run, update), state)


@pytest.mark.slow
def test_gates_are_those_of_the_update_and_of_the_kind_that_is_asked_for(run):
    run, texts = again(run, SOFT), {}
    with_gates(run, 4, [[1.0, 1.0]] * 3)
    with_gates(run, 5, [[1.0, -1.0]] * 3)
    shutil.copy(saved(run, 5), saved(run, 2))
    record_weights(run.folder)
    for gates in ("soft", "hard"):
        for update, paths in start(run, gates).of("test", UPDATES).items():
            texts[gates, update] = paths["kor"].read_bytes()
    assert texts["hard", 2] == texts["hard", 5]
    assert len(set(texts.values())) == 4


@pytest.mark.parametrize("gates", ["soft", "hard"])
def test_every_task_is_translated_through_its_own_gates_of_the_update(run, gates):
    run = again(run, SOFT)
    with_gates(run, 4, [[SURE, SURE], [SURE, -SURE], [-SURE, SURE]])
    with_gates(run, 5, [[-SURE, SURE], [SURE, SURE], [SURE, -SURE]])
    run = again(run)
    for update, files in start(run, gates).of("test", UPDATES[1:]).items():
        for task, path in files.items():
            every = [through(run, gates, task, own, update) for own in range(len(TASKS))]
            same = [lines == read_lines(path) for lines in every]
            assert same == [other == task for other in TASKS]


def test_a_task_without_any_layer_is_named_with_the_update(run):
    run, none, every = again(run, SOFT), [-1.0] * 2, [1.0] * 2
    for update in UPDATES:
        with_gates(run, update, [every, none if update == 4 else every, every])
    with refused(
        "bel has no layer left with hard gates", where="update 4", remedy="choose other gates"
    ):
        start(run, "hard").of("valid", UPDATES)
    assert not list(run.paths.window(SOFT, 1, "hard").glob("*.4.txt"))
    start(run, "soft").of("valid", UPDATES)


def be_killed(run, after, place):
    """Translate in a process of its own that is killed without warning after some files.

    `place` is what it was about to do when it was killed: to write a file, or to record it.
    """

    def child():
        made, honest, calls = start(run), getattr(module, place), []

        def kill_after(path, value):
            calls.append(path)
            if len(calls) > after:
                kill()
            honest(path, value)

        setattr(module, place, kill_after)
        made.of("valid", UPDATES)

    killed(child)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["write_lines", "write_record"])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_killed_in_the_middle_it_resumes_to_the_same_bytes(run, folder, after, place):
    start(run).of("valid", UPDATES)
    unbroken = contents(folder)
    shutil.rmtree(folder)
    be_killed(run, after, place)
    recorded = read_record(folder / RECORDED)["files"] if after else {}
    assert len(recorded) == after
    times = {name: (folder / name).stat().st_mtime_ns for name in recorded}
    lines = []
    start(run, lines=lines).of("valid", UPDATES)
    assert contents(folder) == unbroken
    assert {name: (folder / name).stat().st_mtime_ns for name in recorded} == times
    assert len(lines) == 9 - after + bool(after)
    if after:
        assert lines[0] == f"valid: {after} of 9 files are there already"


def test_a_second_start_builds_no_network_where_all_is_there(run, monkeypatch):
    first, lines = start(run).of("valid", UPDATES), []
    monkeypatch.delattr(TrainedRun, "network")
    assert start(run, lines=lines).of("valid", UPDATES) == first
    assert lines == ["valid: 9 of 9 files are there already"]


@pytest.mark.slow
def test_another_split_or_more_updates_leave_what_is_there(run, folder):
    start(run).of("valid", UPDATES[:2])
    before, lines = contents(folder), []
    start(run, lines=lines).of("valid", UPDATES)
    start(run, lines=lines).of("test", UPDATES[1:2])
    after = contents(folder)
    assert len(after) == len(before) + 3 + 3
    same = [name for name in before if name != RECORDED]
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    there = [line for line in lines if "files are there already" in line]
    assert there == ["valid: 6 of 9 files are there already"]


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _exchange(path):
    shutil.copy(path.with_name("kor.valid.4.txt"), path)


@pytest.mark.parametrize("spoil", [_cut, _exchange, os.unlink])
def test_a_file_that_is_not_the_recorded_one_is_made_again(run, folder, spoil):
    start(run).of("valid", UPDATES)
    before, lines = contents(folder), []
    spoil(folder / "kor.valid.2.txt")
    assert contents(folder) != before
    start(run, lines=lines).of("valid", UPDATES)
    assert contents(folder) == before
    assert lines[0] == "valid: 8 of 9 files are there already"
    assert lines[1].startswith("valid, update 2: kor ")
    assert len(lines) == 2


def test_files_without_a_record_are_deleted(run, folder):
    folder.mkdir(parents=True)
    for name in ("kor.valid.2.txt", ".kor.valid.2.txt.77.part", "old.test.9.txt"):
        (folder / name).write_text("no hypothesis\n", encoding="utf-8")
    made = start(run).of("valid", UPDATES[:1])
    assert "no hypothesis" not in made[2]["kor"].read_text(encoding="utf-8")
    assert set(contents(folder)) == {RECORDED, *(f"{task}.valid.2.txt" for task in TASKS)}


def test_other_weights_after_an_update_make_its_files_again_and_no_others(run, folder):
    start(run).of("valid", UPDATES)
    before = contents(folder)
    shutil.copy(saved(run, 2), saved(run, 4))
    record_weights(run.folder)
    start(run).of("valid", UPDATES)
    after = contents(folder)
    changed = {name for name in before if before[name] != after[name]} - {RECORDED}
    assert changed
    assert changed <= {f"{task}.valid.4.txt" for task in TASKS}
    assert after["kor.valid.4.txt"] == after["kor.valid.2.txt"]


@pytest.mark.parametrize("key", ["settings", "tensors_sha256", "versions", "recipe"])
def test_with_other_settings_text_recipe_or_packages_all_is_made_again(run, folder, key):
    start(run).of("valid", UPDATES[:1])
    content, lines = read_record(folder / RECORDED), []
    content["made_with"][key] = "other"
    write_record(folder / RECORDED, content)
    start(run, lines=lines)
    assert not list(folder.glob("*.txt"))
    assert lines == ["settings, text or recipe have changed: everything is translated again"]


@pytest.mark.slow
def test_the_size_of_a_window_does_not_matter(run):
    start(run).of("valid", UPDATES)
    other = replace(PLAIN, decoding=PLAIN.decoding.model_copy(update={"window": 2}))
    lines = []
    start(again(run, other), lines=lines).of("valid", UPDATES)
    assert lines == ["valid: 9 of 9 files are there already"]


def test_the_record_names_weights_and_bytes(run, folder):
    paths = start(run).of("valid", UPDATES)
    content = read_record(folder / RECORDED)
    assert content["made_with"]["settings"]["beam"] == PLAIN.decoding.beam
    assert content["made_with"]["recipe"] == 1
    tensors = run.paths.tensors(PLAIN.data) / "tensors.json"
    assert content["made_with"]["tensors_sha256"] == sha256(tensors)
    by_update = [(update, path) for update, files in paths.items() for path in files.values()]
    assert content["files"] == {path.name: sha256(path) for _, path in by_update}
    assert content["weights"] == {path.name: sha256(saved(run, n)) for n, path in by_update}


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_without_a_result_is_refused_with_its_outcome(run, kind):
    end(run, kind)
    outcome = kind.replace("_", " ")
    with refused(f"{outcome} (it has {kind})", remedy="choose a run that finished"):
        consecutive_updates(again(run))


def test_a_training_that_saved_no_weights_names_the_setting(run):
    for update in UPDATES:
        saved(run, update).unlink()
    record_weights(run.folder)
    with refused(
        "the training saved no weights (training.keep_weights is 3)",
        remedy="set training.keep_weights to the size of the window and train again",
    ):
        consecutive_updates(again(run))


def test_consecutive_updates_are_those_that_the_training_saved_and_each_is_there(run):
    shutil.copy(saved(run, 5), saved(run, 9))
    assert consecutive_updates(again(run)) == UPDATES
    saved(run, 4).unlink()
    with refused("the weights after update 4 are missing", remedy="fathom train paper/small"):
        consecutive_updates(again(run))
