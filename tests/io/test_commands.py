"""For every place of a file, the command that makes it again."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.config.measurement_keys import file_name
from fathom.config.paths import Paths
from fathom.io.commands import AFTER_TRAINING, again
from tests.support.small_corpus import small_data
from tests.support.specs import small_spec

SPEC = replace(small_spec(), data=small_data())
PATHS = Paths(Path("results"), "tiny")
DATA, RUN = SPEC.data, PATHS.run(SPEC, 3)
NAME = f"paper/{SPEC.folder} --seed 3"
DECODING = PATHS.decoding(SPEC, 3, "valid", "plain")
WINDOW = PATHS.window(SPEC, 3, "soft")


def measured(rule, *place):
    return PATHS.measurements(SPEC, 3, file_name(rule, SPEC, *place))


COMMANDS = {
    PATHS.source("django") / "django.whl": "fathom fetch django",
    PATHS.corpus(DATA) / "corpus.json": f"fathom prepare {DATA.corpus_folder}",
    PATHS.corpus(DATA) / "bos" / "test.eng": f"fathom prepare {DATA.corpus_folder}",
    PATHS.statistics(DATA): f"fathom prepare {DATA.corpus_folder} --count",
    PATHS.subwords(DATA) / "foreign.model": f"fathom subwords {DATA.subwords_folder}",
    PATHS.tensors(DATA) / "tensors.json": f"fathom encode {DATA.folder}",
    PATHS.tensors(DATA) / "bos" / "train.source.bin": f"fathom encode {DATA.folder}",
    PATHS.training(SPEC, 3): f"fathom train {NAME}",
    RUN / "checkpoints" / "update_5.pt": f"fathom train {NAME}",
    RUN / "checkpoints" / "before_last.pt": f"fathom train {NAME}",
    RUN / "spec.yaml": f"fathom train {NAME}",
    RUN / "state.json": f"fathom train {NAME}",
    DECODING / "bos.txt": f"fathom translate {NAME} --split valid --gates plain",
    DECODING / "decoding.json": f"fathom translate {NAME} --split valid --gates plain",
    DECODING / "scores.tsv": f"fathom score {NAME} --split valid --gates plain",
    DECODING / "sentences.bos.tsv.gz": f"fathom score {NAME} --split valid --gates plain",
    DECODING
    / "ter"
    / "scores.tsv": f"fathom score {NAME} --split valid --gates plain --metric ter",
    WINDOW / "test.5" / "bos.txt": f"fathom best-window {NAME} --gates soft",
    measured("training"): f"fathom train {NAME}",
    measured("gates"): f"fathom gates {NAME}",
    measured("scores", "test", "hard"): f"fathom score {NAME} --split test --gates hard",
    measured("ter", "test", "hard"): f"fathom score {NAME} --split test --gates hard --metric ter",
    measured("likelihood", "valid", "soft"): f"fathom likelihood {NAME} --split valid --gates soft",
    measured("window", None, "plain"): f"fathom best-window {NAME} --gates plain",
}


@pytest.mark.parametrize("path", COMMANDS, ids=str)
def test_each_file_has_the_command_of_its_stage(path):
    assert again(path) == f"run `{COMMANDS[path]}`"


@pytest.mark.parametrize("path", COMMANDS, ids=str)
def test_no_command_deletes_and_a_folder_in_the_way_is_moved_first(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path.mkdir(parents=True)
    assert again(path) == f"move the folder away, and run `{COMMANDS[path]}`"


@pytest.mark.parametrize("name", ["metrics.tsv", "times.tsv", "diagnostics/alpha.tsv.gz"])
def test_a_series_has_no_command(name):
    assert again(RUN / name) == AFTER_TRAINING


def test_a_command_names_another_folder_of_results_in_quotes(tmp_path):
    folder = Paths(tmp_path / "a folder", "tiny").tensors(DATA)
    results = shlex.quote(str(tmp_path / "a folder"))
    for name in ("tensors.json", "dictionary.source.txt", "bos/test.source.idx"):
        assert again(folder / name) == f"run `fathom encode {folder.name} --results {results}`"


def test_a_file_elsewhere_has_no_command():
    assert again(Path("somewhere") / "last.pt") == "make it with the stage that writes it"
