"""Hypotheses of single checkpoints: whose they are, and what a second start keeps of the first."""

import os
import shutil
from dataclasses import replace

import pytest
import torch

from fathom.config.paths import Paths
from fathom.decode import translate as module
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import consecutive_updates, translate, translate_saved
from fathom.io.files import read_lines
from fathom.io.records import read_record
from fathom.nn.weights import weights_path
from fathom.results.recipe import RECIPE
from tests.support.processes import kill, killed
from tests.support.refused import refused
from tests.support.small_corpus import TASKS, silent
from tests.support.trained import (
    CPU,
    SURE,
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
    shutil.copytree(original.results, tmp_path / "results")
    return TrainedRun(PLAIN, 1, Paths(tmp_path / "results", "tiny"), CPU)


@pytest.fixture
def folder(run):
    return run.paths.window(PLAIN, 1, "plain")


def again(run, spec=None):
    """Return a run as another process sees it."""
    return TrainedRun(spec or run.spec, 1, run.paths, CPU)


def translated(run, split, updates=UPDATES, gates="plain", lines=None):
    """Return the files of a split as another start makes or finds them."""
    report = silent if lines is None else lines.append
    return translate_saved(again(run), gates, split, updates, report)


def saved(run, update):
    return weights_path(run.checkpoints, update)


def contents(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def times(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_hypotheses_are_those_that_a_translation_with_the_same_weights_gives(run):
    made = translated(run, "test")
    texts = set()
    for update in UPDATES:
        shutil.copy(saved(run, update), run.checkpoints / "last.pt")
        record_weights(run.folder)
        translate(again(run), [("test", "plain")], silent)
        for task in TASKS:
            expected = run.paths.decoding(PLAIN, 1, "test", "plain") / f"{task}.txt"
            assert made[update][task].read_bytes() == expected.read_bytes()
        record = read_record(made[update]["kor"].with_name("decoding.json"))
        assert (record["weights"], record["split"]) == ([update], "test")
        texts.add(made[update]["kor"].read_bytes())
    assert len(texts) == len(UPDATES)


def test_every_sentence_of_the_split_has_its_line(run, folder):
    files = {split: translated(run, split, (2,))[2] for split in ("valid", "test")}
    for split, paths in files.items():
        assert list(paths) == list(TASKS)
        for task, path in paths.items():
            assert path == folder / f"{split}.2" / f"{task}.txt"
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
        for update, paths in translated(run, "test", UPDATES, gates).items():
            texts[gates, update] = paths["kor"].read_bytes()
    assert texts["hard", 2] == texts["hard", 5]
    assert len(set(texts.values())) == 4


@pytest.mark.parametrize("gates", ["soft", "hard"])
def test_every_task_is_translated_through_its_own_gates_of_the_update(run, gates):
    run = again(run, SOFT)
    with_gates(run, 4, [[SURE, SURE], [SURE, -SURE], [-SURE, SURE]])
    with_gates(run, 5, [[-SURE, SURE], [SURE, SURE], [SURE, -SURE]])
    run = again(run)
    for update, files in translated(run, "test", UPDATES[1:], gates).items():
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
        translated(run, "valid", UPDATES, "hard")
    assert not list(run.paths.window(SOFT, 1, "hard").glob("*.4/*"))
    translated(run, "valid", UPDATES, "soft")


@pytest.mark.slow
@pytest.mark.parametrize(("files", "there"), [(0, 0), (3, 1), (4, 1), (8, 2)])
def test_killed_in_the_middle_it_resumes_to_the_same_bytes(run, folder, files, there):
    translated(run, "valid")
    unbroken = contents(folder)
    shutil.rmtree(folder)

    def child():
        honest, calls = module.write_lines, []

        def kill_after(path, lines):
            calls.append(path)
            if len(calls) > files:
                kill()
            honest(path, lines)

        module.write_lines = kill_after
        translated(run, "valid")

    killed(child)
    made = [path.parent for path in folder.glob("*/decoding.json")]
    assert len(made) == there
    before, lines = {place: times(place) for place in made}, []
    translated(run, "valid", lines=lines)
    assert contents(folder) == unbroken
    assert {place: times(place) for place in made} == before
    assert len(lines) == 3 * (3 - there) + bool(there)


def test_a_second_start_builds_no_network_where_all_is_there(run, monkeypatch):
    first, lines = translated(run, "valid"), []
    monkeypatch.delattr(TrainedRun, "network")
    assert translated(run, "valid", lines=lines) == first
    # The size of a window moves nothing.
    decoding = PLAIN.decoding.model_copy(update={"window": 2})
    other = again(run, replace(PLAIN, decoding=decoding))
    assert translated(other, "valid", lines=lines) == first
    assert lines == ["valid: 3 of 3 checkpoints are translated already"] * 2


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _exchange(path):
    shutil.copy(path.parents[1] / "valid.4" / "kor.txt", path)


@pytest.mark.parametrize("spoil", [_cut, _exchange, os.unlink])
def test_a_file_that_is_not_the_recorded_one_is_made_again(run, folder, spoil):
    translated(run, "valid", UPDATES[:2])
    before, lines = contents(folder), []
    spoil(folder / "valid.2" / "kor.txt")
    assert contents(folder) != before
    translated(run, "valid", UPDATES[:2], lines=lines)
    assert contents(folder) == before
    assert lines[0] == "valid: 1 of 2 checkpoints are translated already"
    assert [line.split(":")[0] for line in lines[1:]] == ["valid, update 2"] * len(TASKS)


def test_a_new_training_or_recipe_makes_all_again(run, monkeypatch):
    translated(run, "valid", UPDATES[:2])
    shutil.copy(saved(run, 2), saved(run, 4))
    record_weights(run.folder)
    lines = []
    files = translated(run, "valid", UPDATES[:2], lines=lines)
    assert files[4]["kor"].read_bytes() == files[2]["kor"].read_bytes()
    monkeypatch.setitem(RECIPE, "decoding", RECIPE["decoding"] + 1)
    translated(run, "valid", UPDATES[:2], lines=lines)
    assert len(lines) == 2 * 2 * len(TASKS)


def test_a_training_that_saved_no_weights_names_the_setting(run):
    for update in UPDATES:
        saved(run, update).unlink()
    record_weights(run.folder)
    with refused(
        "the training saved no weights (training.keep_weights is 3)",
        remedy="set training.keep_weights to the size of the window and train again",
    ):
        consecutive_updates(again(run))


def test_consecutive_updates_are_those_that_the_training_saved(run):
    shutil.copy(saved(run, 5), saved(run, 9))
    assert consecutive_updates(again(run)) == UPDATES
