"""Hypotheses of kept weights: whose they are, and what a second start believes of the first."""

import multiprocessing
import os
import shutil
import signal
from dataclasses import asdict, replace

import pytest
import torch
from tests.evaluation.small_run import training

from fathom.batches.tensors import load
from fathom.checkpoints.average import weights_path
from fathom.errors import FathomError
from fathom.inference import checkpoint_translations as kept_translations
from fathom.inference.checkpoint_translations import NOTES, KeptTranslations, kept_updates
from fathom.inference.translate import translate
from fathom.io.files import read_json, read_lines, sha256, write_json
from fathom.runs.spec import Decoding
from fathom.training.loop import TrainPaths
from fathom.training.train import train
from tests.inference.conftest import CPU
from tests.support.small_corpus import TASKS, silent
from tests.support.small_runs import LAUNCH, encoded, latent, specification

FORK = multiprocessing.get_context("fork")
UPDATES = (2, 4, 5)


def keeping(run, **differences):
    """Return a run that keeps the weights of three updates, the last among them."""
    settings = {"validate_every": 2, "keep_weights": 3} | differences
    search = Decoding(average_of=1, beam=2, length_penalty=1.0, cap_ratio=0.3, cap_constant=3)
    return replace(
        run,
        training=replace(run.training, **settings),
        # Five updates teach little; the run shall count as finished all the same.
        outcome=replace(run.outcome, failed_margin=-20.0),
        evaluation=replace(run.evaluation, decoding=search),
    )


PLAIN = keeping(specification(updates=5))
SOFT = keeping(latent(updates=5))


@pytest.fixture(scope="session")
def tensors(tmp_path_factory):
    return encoded(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="session")
def finished(tensors, tmp_path_factory):
    """Return the folder of a run whose trained weights are then made to differ much."""

    def run(spec):
        folder = tmp_path_factory.mktemp("finished")
        train(spec, 1, TrainPaths(tensors, folder), LAUNCH, silent)
        for update in (*UPDATES, None):
            path = folder / "checkpoints" / "last.pt" if update is None else _kept(folder, update)
            saved = torch.load(path, weights_only=True)
            # After so few updates they say much the same to every source.
            for name, tensor in saved["model"].items():
                if "embed" not in name and "method" not in name:
                    tensor *= 3.0 + (update or UPDATES[-1]) / 2
            torch.save(saved, path)
        return folder

    return run


@pytest.fixture(scope="session")
def plain(finished):
    return finished(PLAIN)


@pytest.fixture
def run(plain, tmp_path):
    """Return a copy of the run, which a test may change."""
    return shutil.copytree(plain, tmp_path / "run")


def _kept(run, update):
    return weights_path(run / "checkpoints", update)


def start(tensors, run, spec=PLAIN, gates="plain", said=None):
    """Return what a start of a run's translations begins with."""
    tell = silent if said is None else said.append
    return KeptTranslations(spec, tensors, run, gates, run / "window", CPU, tell)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_training_says_after_which_updates_it_kept_weights(plain):
    assert kept_updates(PLAIN, plain) == UPDATES


def test_hypotheses_are_those_that_a_translation_with_the_same_weights_gives(tensors, run):
    made = start(tensors, run).of("test", UPDATES)
    texts = set()
    for update in UPDATES:
        shutil.copy(_kept(run, update), run / "checkpoints" / "last.pt")
        translate(PLAIN, tensors, run, "plain", CPU, silent)
        for task in TASKS:
            expected = (run / "decodings" / "plain" / f"{task}.test.txt").read_bytes()
            assert made[update][task].read_bytes() == expected
        texts.add(made[update]["kor"].read_bytes())
    assert len(texts) == len(UPDATES)


def test_every_sentence_of_the_split_that_is_asked_for_has_its_line(tensors, run):
    made = start(tensors, run)
    files = {split: made.of(split, UPDATES[:1])[UPDATES[0]] for split in ("valid", "test")}
    data = load(tensors)
    for split, paths in files.items():
        assert list(paths) == list(TASKS)
        for task, path in paths.items():
            assert path == run / "window" / f"{task}.{split}.{UPDATES[0]}.txt"
            assert len(read_lines(path)) == len(data.split(task, split))
    assert files["valid"]["kor"].read_bytes() != files["test"]["kor"].read_bytes()


def with_gates(run, update, alpha):
    """Give all tasks these gates after an update, by task and layer of the decoder."""
    saved = torch.load(_kept(run, update), weights_only=True)
    saved["model"]["decoder.method.alpha"].copy_(torch.tensor(alpha))
    torch.save(saved, _kept(run, update))


def test_gates_are_those_of_the_update_and_of_the_kind_that_is_asked_for(tensors, finished):
    run, texts = finished(SOFT), {}
    with_gates(run, 4, [[1.0, 1.0, 1.0]] * 3)
    with_gates(run, 5, [[1.0, -1.0, 1.0]] * 3)
    shutil.copy(_kept(run, 5), _kept(run, 2))
    for gates in ("soft", "hard"):
        made = KeptTranslations(SOFT, tensors, run, gates, run / gates, CPU, silent)
        for update, paths in made.of("test", UPDATES).items():
            texts[gates, update] = paths["kor"].read_bytes()
    assert texts["hard", 2] == texts["hard", 5]
    assert len(set(texts.values())) == 4


def test_a_task_that_gates_leave_without_any_layer_is_told_with_the_update(tensors, finished):
    run, none, every = finished(SOFT), [-1.0] * 3, [1.0] * 3
    for update in UPDATES:
        with_gates(run, update, [every, none if update == 4 else every, every])
    with pytest.raises(FathomError, match="update 4: bel has no layer left with hard gates; choo"):
        start(tensors, run, SOFT, "hard").of("valid", UPDATES)
    assert not list((run / "window").glob("*.4.txt"))
    start(tensors, run, SOFT, "soft").of("valid", UPDATES)


def be_killed(tensors, run, after, split="valid", place="write_json"):
    """Translate in a process of its own that is killed without warning after some files.

    `place` is what it was about to do when it was killed: to write a file, or to note it.
    """

    def child():
        made, honest = start(tensors, run), getattr(kept_translations, place)
        calls = []

        def kill_after(path, value):
            calls.append(path)
            if len(calls) > after:
                os.kill(os.getpid(), signal.SIGKILL)
            honest(path, value)

        setattr(kept_translations, place, kill_after)
        made.of(split, UPDATES)

    process = FORK.Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("place", ["write_lines", "write_json"])
@pytest.mark.parametrize("after", [0, 1, 4])
def test_killed_in_the_middle_it_goes_on_to_the_same_bytes(tensors, run, after, place):
    whole = KeptTranslations(PLAIN, tensors, run, "plain", run / "whole", CPU, silent)
    whole.of("valid", UPDATES)
    be_killed(tensors, run, after, place=place)
    noted = read_json(run / "window" / NOTES)["files"] if after else {}
    assert len(noted) == after
    times = {name: (run / "window" / name).stat().st_mtime_ns for name in noted}
    said = []
    start(tensors, run, said=said).of("valid", UPDATES)
    assert contents(run / "window") == contents(run / "whole")
    assert {name: (run / "window" / name).stat().st_mtime_ns for name in noted} == times
    assert len(said) == 9 - after + bool(after)
    if after:
        assert said[0] == f"window: valid: {after} of 9 files were there"


def test_a_second_start_builds_no_network_where_all_is_there(tensors, run, monkeypatch):
    first, said = start(tensors, run).of("valid", UPDATES), []
    monkeypatch.delattr(kept_translations, "trained")
    assert start(tensors, run, said=said).of("valid", UPDATES) == first
    assert said == ["window: valid: 9 of 9 files were there"]


def test_another_split_or_more_updates_leave_what_is_there(tensors, run):
    start(tensors, run).of("valid", UPDATES[:2])
    before = contents(run / "window")
    said = []
    start(tensors, run, said=said).of("valid", UPDATES)
    start(tensors, run, said=said).of("test", UPDATES[1:2])
    after = contents(run / "window")
    assert len(after) == len(before) + 3 + 3
    assert {name: after[name] for name in before if name != NOTES} == {
        name: before[name] for name in before if name != NOTES
    }
    assert [line for line in said if "files were there" in line] == [
        "window: valid: 6 of 9 files were there"
    ]


def _cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def _exchange(path):
    shutil.copy(path.with_name("kor.valid.4.txt"), path)


@pytest.mark.parametrize("spoil", [_cut, _exchange, os.unlink])
def test_a_file_that_is_not_the_one_that_was_noted_is_made_again(tensors, run, spoil):
    start(tensors, run).of("valid", UPDATES)
    before = contents(run / "window")
    spoil(run / "window" / "kor.valid.2.txt")
    assert contents(run / "window") != before
    said = []
    start(tensors, run, said=said).of("valid", UPDATES)
    assert contents(run / "window") == before
    assert said[0] == "window: valid: 8 of 9 files were there"
    assert said[1].startswith("window: valid, update 2: kor ")
    assert len(said) == 2


def test_files_that_nobody_noted_are_not_believed_and_remains_are_cleared(tensors, run):
    folder = run / "window"
    folder.mkdir()
    for name in ("kor.valid.2.txt", ".kor.valid.2.txt.77.part", "old.test.9.txt"):
        (folder / name).write_text("no hypothesis\n", encoding="utf-8")
    made = start(tensors, run).of("valid", UPDATES[:1])
    assert "no hypothesis" not in made[2]["kor"].read_text(encoding="utf-8")
    assert set(contents(folder)) == {NOTES, *(f"{task}.valid.2.txt" for task in TASKS)}


def test_other_weights_after_an_update_make_its_files_again_and_no_others(tensors, run):
    start(tensors, run).of("valid", UPDATES)
    before = contents(run / "window")
    shutil.copy(_kept(run, 2), _kept(run, 4))
    start(tensors, run).of("valid", UPDATES)
    after = contents(run / "window")
    changed = {name for name in before if before[name] != after[name]} - {NOTES}
    assert changed
    assert changed <= {f"{task}.valid.4.txt" for task in TASKS}
    assert after["kor.valid.4.txt"] == after["kor.valid.2.txt"]


def test_with_other_settings_all_is_made_again(tensors, run):
    start(tensors, run).of("valid", UPDATES)
    search = replace(PLAIN.evaluation.decoding, cap_constant=1)
    other = replace(PLAIN, evaluation=replace(PLAIN.evaluation, decoding=search))
    said = []
    made = start(tensors, run, other, said=said)
    assert said == ["window: settings, text or code have changed: all is decoded again"]
    assert [path.name for path in (run / "window").iterdir()] == [NOTES]
    made.of("valid", UPDATES[:1])
    # What is left of the first settings' notes is not believed either.
    assert set(read_json(run / "window" / NOTES)["files"]) == {f"{t}.valid.2.txt" for t in TASKS}


@pytest.mark.parametrize("key", ["tensors_sha256", "versions", "code"])
def test_with_other_text_code_or_packages_all_is_made_again(tensors, run, key):
    start(tensors, run).of("valid", UPDATES[:1])
    notes = read_json(run / "window" / NOTES)
    notes["made_with"][key] = "other"
    write_json(run / "window" / NOTES, notes)
    start(tensors, run)
    assert not list((run / "window").glob("*.txt"))


def test_what_a_translation_averages_does_not_matter(tensors, run):
    start(tensors, run).of("valid", UPDATES)
    search = replace(PLAIN.evaluation.decoding, average_of=2)
    averaging = replace(PLAIN, evaluation=replace(PLAIN.evaluation, decoding=search))
    said = []
    made = start(tensors, run, averaging, said=said)
    assert made.settings == PLAIN.evaluation.decoding
    made.of("valid", UPDATES)
    assert said == ["window: valid: 9 of 9 files were there"]


def test_the_notes_say_which_weights_and_bytes_they_speak_of(tensors, run):
    made = start(tensors, run)
    paths = made.of("valid", UPDATES)
    notes = read_json(run / "window" / NOTES)
    assert notes["made_with"]["settings"] == asdict(PLAIN.evaluation.decoding)
    assert notes["made_with"]["code"]["hash"] == made.code.hash
    assert notes["made_with"]["tensors_sha256"] == sha256(tensors / "tensors.json")
    assert "fathom.inference.checkpoint_translations" in made.code.modules
    assert f"fathom.methods.{PLAIN.method.name}" in made.code.modules
    assert notes["files"] == {
        path.name: {"sha256": sha256(path), "weights_sha256": sha256(_kept(run, update))}
        for update, each in paths.items()
        for path in each.values()
    }


def test_kept_weights_that_cannot_be_read_are_told(tensors, run):
    _kept(run, 4).write_bytes(b"PK")
    with pytest.raises(FathomError, match=r"update_4.pt: cannot be read .*; delete the run"):
        start(tensors, run).of("valid", UPDATES)


def test_a_run_without_a_training_is_told(tmp_path):
    with pytest.raises(FathomError, match=r"training.json: no such file"):
        kept_updates(PLAIN, tmp_path)


def test_a_network_without_a_decoder_is_refused(run):
    spec = replace(PLAIN, model=replace(PLAIN.model, decoder_layers=0))
    with pytest.raises(FathomError, match="a network without a decoder translates nothing"):
        kept_updates(spec, run)


@pytest.mark.parametrize("kind", ["diverged", "failed_to_train"])
def test_a_training_that_did_not_finish_is_told_with_its_outcome(run, kind):
    write_json(run / "training.json", training(kind))
    said = f"{kind.replace('_', ' ')} .it has {kind}.; choose a run that finished"
    with pytest.raises(FathomError, match=said):
        kept_updates(PLAIN, run)


def test_a_training_that_kept_no_weights_is_told_what_to_set(run):
    for update in UPDATES:
        _kept(run, update).unlink()
    with pytest.raises(FathomError, match=r"kept no weights .training.keep_weights is 0.; set tr"):
        kept_updates(keeping(PLAIN, keep_weights=0), run)


def test_weights_that_are_gone_from_the_middle_are_told(run):
    _kept(run, 4).unlink()
    with pytest.raises(FathomError, match="the weights after update 4 are gone"):
        kept_updates(PLAIN, run)
    # Those that are left at an end are consecutive.
    _kept(run, 2).unlink()
    assert kept_updates(PLAIN, run) == (5,)
