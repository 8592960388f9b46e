"""A run's decodings by CTranslate2: recorded, checked, and never used silently."""

from dataclasses import replace

import pytest

from fathom.config.paths import Paths
from fathom.decode.export import ctranslate2_exports
from fathom.decode.export.ctranslate2_exports import Exports, exports
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import split_lines, translate
from fathom.io.files import read_lines
from fathom.io.integrity import read_record
from tests.inference.pruned_runs import ACTIVE, built, gated, write_run, write_tensors
from tests.support.refused import prose, refused
from tests.support.small_corpus import TASKS, silent
from tests.support.taught import sentences, write_sentences
from tests.support.trained import CPU, set_gates


def by_ctranslate2(run):
    """Return a run whose settings ask for CTranslate2."""
    decoding = run.spec.decoding.model_copy(update={"decoder": "ctranslate2"})
    return TrainedRun(replace(run.spec, decoding=decoding), run.seed, run.paths, CPU)


@pytest.fixture
def latent(tmp_path):
    """A run whose tasks keep different layers, but bel and kor the same."""
    spec, paths = gated(), Paths(tmp_path, "tiny")
    folder = write_tensors(paths, spec.data)
    write_sentences(folder, dict.fromkeys(TASKS, 0), amount=20)
    network = built(spec, paths)
    set_gates(network, {side: layers | {"kor": layers["bel"]} for side, layers in ACTIVE.items()})
    return write_run(spec, paths, network)


@pytest.mark.slow
def test_a_decoding_by_ctranslate2_has_a_folder_and_a_record_of_its_own(taught):
    run = by_ctranslate2(taught)
    for each in (taught, run):
        translate(each, [("test", "plain")], silent)
    folders = [each.paths.decoding(each.spec, 1, "test", "plain") for each in (taught, run)]
    own, other = (read_record(folder / "decoding.json") for folder in folders)
    assert folders[0] != folders[1]
    assert own["identity"] != other["identity"] == run.spec.decoding_identity("plain")
    assert (own["settings"]["decoder"], other["settings"]["decoder"]) == ("fathom", "ctranslate2")
    assert "ctranslate2" in other["versions"]
    assert "ctranslate2" not in own["versions"]
    for task in run.tasks:
        lines = [read_lines(folder / f"{task}.txt") for folder in folders]
        assert lines[0] == lines[1]
        assert len(set(lines[0])) > len(lines[0]) // 2


def test_one_model_serves_all_tasks_with_the_same_layers(latent, monkeypatch):
    written = []
    honest = ctranslate2_exports.export
    monkeypatch.setattr(
        ctranslate2_exports, "export", lambda *given: written.append(given[2]) or honest(*given)
    )
    made = Exports(latent, "hard")
    assert made.of("bel") is made.of("kor") is not made.of("bos")
    assert [each.active["encoder"] for each in written] == [(1,), (0, 2)]


def test_tasks_are_translated_together_and_each_gets_its_own(latent):
    rows = sentences(4, seed=4)
    tasks = [2, 0, 1, 0, 2, 1, 1, 0]
    together = exports(latent, "hard").best([*rows, *rows], tasks)
    alone = [
        exports(latent, "hard").best([row], [task])[0]
        for row, task in zip([*rows, *rows], tasks, strict=True)
    ]
    assert together == alone
    # The first task keeps other layers than the others.
    assert together[0] != together[1]


def test_the_models_of_the_last_gates_and_weights_stay_loaded(latent):
    assert exports(latent, "hard") is exports(latent, "hard")
    assert exports(latent, "hard") is not exports(latent, "hard", 5)


def test_soft_gates_are_refused_by_name(latent):
    with refused("more than keep", ..., "block", remedy=prose("translate with fathom")):
        split_lines(by_ctranslate2(latent), ["bos"], "test", "soft")


def test_a_method_that_computes_more_is_refused_by_name(tmp_path):
    spec, paths = gated(name="adapters", bottleneck=4), Paths(tmp_path, "tiny")
    write_sentences(write_tensors(paths, spec.data), dict.fromkeys(TASKS, 0), amount=3)
    run = by_ctranslate2(write_run(spec, paths, built(spec, paths)))
    network = run.network("plain")
    for parameter in network.encoder.method.parameters():
        parameter.data.add_(0.1)
    with refused("more than keep", "encoder", "after", where="bos"):
        split_lines(run, ["bos"], "test", "plain")


def test_nothing_is_translated_before_the_check(latent, monkeypatch):
    monkeypatch.setattr("fathom.decode.export.ctranslate2_search.TOLERANCE", -1.0)
    with refused("other log-probabilities", remedy=prose("write fathom")):
        split_lines(by_ctranslate2(latent), ["bos"], "test", "hard")
