"""Hypotheses of kept weights: whose they are, and what a second start believes of the first."""

import multiprocessing
import os
import shutil
import signal
from dataclasses import asdict, replace

import pytest
import torch

from fathom.batches.tensors import load
from fathom.catalog.spec import Decoding
from fathom.decoding import kept_translations
from fathom.decoding.kept_translations import NOTES, KeptTranslations, kept_updates
from fathom.decoding.translate import trained, translate
from fathom.models.kept import kept_path
from fathom.records.errors import FathomError
from fathom.records.files import read_json, read_lines, sha256, write_json
from fathom.training.loop import Places
from fathom.training.train import train
from tests.decoding.conftest import CPU
from tests.scoring.small_run import training
from tests.subwords.small_corpus import TASKS, silent
from tests.training.small_runs import LAUNCH, encoded, latent, specification

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
        train(spec, 1, Places(tensors, folder), LAUNCH, silent)
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
    return kept_path(run / "checkpoints", update)


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


def test_gates_are_used_as_they_are_asked_for(tensors, finished):
    run, texts = finished(SOFT), {}
    for gates in ("soft", "hard"):
        made = KeptTranslations(SOFT, tensors, run, gates, run / gates, CPU, silent)
        texts[gates] = made.of("test", UPDATES[-1:])[UPDATES[-1]]["kor"].read_bytes()
    network = trained(SOFT, load(tensors), run, "hard", CPU, UPDATES[-1])
    assert any(
        not each.keep(layer)
        for each in network.methods.values()
        for layer in range(each.stack.layers)
        if each.begin(torch.tensor([0])) is None
    )
    assert texts["soft"] != texts["hard"]
