"""From a checkpoint to a hypothesis for every test sentence, or to the reason why there is none."""

import json

import pytest
import torch
from tests.evaluation.small_run import small_spec, training

from fathom.batches.encode import encode
from fathom.batches.tensors import EOS, PAD, load
from fathom.errors import FathomError
from fathom.evaluation.score import score
from fathom.evaluation.summarise import conclude
from fathom.inference.beam import Beam
from fathom.inference.translate import (
    batches,
    hypotheses,
    text,
    trained,
    translate,
    translate_lines,
)
from fathom.io.files import read_json, read_lines, sha256, write_json
from fathom.methods.loader import build
from fathom.runs.paths import Paths
from fathom.subwords.sides import sides
from fathom.subwords.train import train
from tests.inference.conftest import CPU, sentences
from tests.support.small_corpus import TASKS, silent, small_data, write_corpus
from tests.support.small_networks import ROOT, method
from tests.support.small_runs import masked

GATED = next(
    path.stem
    for path in sorted((ROOT / "config" / "methods").glob("*.yaml"))
    if "\ngates: true\n" in path.read_text(encoding="utf-8")
)
PLAIN = small_spec(method("static", ()))
SOFT = small_spec(method(GATED, ("decoder",)), gates="soft")


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    paths, data = Paths(tmp_path_factory.mktemp("results"), "tiny"), small_data()
    write_corpus(paths.corpus(data))
    train(data, paths.corpus(data), paths.subwords(data), silent)
    encode(data, paths.corpus(data), paths.subwords(data), paths.tensors(data), silent)
    return paths


def write_run(paths, spec, kind="finished", dropped=()):
    """Write a training's end and its weights; hard gates drop every layer of the dropped tasks."""
    data, folder = load(paths.tensors(spec.data)), paths.run(spec, 1)
    torch.manual_seed(3)
    network = build(
        spec.model, spec.method, len(data.tasks), data.source_dictionary, data.target_dictionary
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3.0)  # As initialised, it says much the same to every source.
        for side in network.methods.values():
            for gates in side.parameters():
                for row, own in enumerate(gates):
                    own.copy_(torch.linspace(-0.5, 1, len(own)).roll(row))
                gates[[data.tasks.index(task) for task in dropped]] = -1.0
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    torch.save({"model": network.state_dict()}, folder / "checkpoints" / "last.pt")
    write_json(folder / "training.json", training(kind))
    return folder


def decode(paths, spec, gates):
    folder, lines = paths.decoding(spec, 1, gates), []
    translate(spec, paths.tensors(spec.data), paths.run(spec, 1), gates, CPU, lines.append)
    return folder, read_json(folder / "decoding.json"), lines


def test_every_test_sentence_has_a_hypothesis_the_empty_and_the_longest_too(paths):
    write_run(paths, PLAIN)
    folder, described, lines = decode(paths, PLAIN, "plain")
    assert described["outcome"] == "decoded"
    assert sorted(described["tasks"]) == sorted(TASKS)
    for task in TASKS:
        sources = sides(PLAIN.data)[0].lines(paths.corpus(PLAIN.data), task, "test")
        found = read_lines(folder / f"{task}.test.txt")
        assert len(found) == len(sources) == described["tasks"][task]["sentences"]
        assert described["tasks"][task]["sha256"] == sha256(folder / f"{task}.test.txt")
    lengths = load(paths.tensors(PLAIN.data)).split("bos", "test").source_lengths
    assert lengths.min() == 1
    assert lengths.max() == PLAIN.data.max_pieces + 1
    assert lines[0] == "translate: bos 12 sentences"


def test_decoding_twice_writes_the_same_bytes(paths):
    write_run(paths, PLAIN)
    folder, _, _ = decode(paths, PLAIN, "plain")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "old.test.txt").write_text("stale\n", encoding="utf-8")
    decode(paths, PLAIN, "plain")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_gates_change_hypotheses_and_stand_in_folders_of_their_own(paths):
    write_run(paths, SOFT)
    soft, hard = (decode(paths, SOFT, gates)[0] for gates in ("soft", "hard"))
    assert (soft / "kor.test.txt").read_bytes() != (hard / "kor.test.txt").read_bytes()


def test_each_task_is_translated_through_its_own_gates(paths):
    folder, data = write_run(paths, SOFT), load(paths.tensors(SOFT.data))
    found = read_lines(decode(paths, SOFT, "hard")[0] / "kor.test.txt")
    network = trained(SOFT, data, folder, "hard", CPU)

    def through(task):
        beam = Beam(network.for_task(task), data.target_dictionary, SOFT.evaluation.decoding)
        pairs = data.split("kor", "test")
        sources = [pairs.source(number) for number in range(len(pairs))]
        return [text(each, data) for each in hypotheses(beam, sources, CPU)]

    assert through(data.tasks.index("kor")) == found
    assert through(data.tasks.index("bel")) != found


def test_a_task_without_any_layer_is_an_outcome_and_has_no_hypotheses(paths):
    write_run(paths, SOFT, dropped=["bel"])
    folder, described, lines = decode(paths, SOFT, "hard")
    assert described["no_layer"] == ["bel"]
    assert list(described["tasks"]) == ["bos", "kor"]
    assert not (folder / "bel.test.txt").exists()
    assert "translate: bel has no layer left with hard gates" in lines
    assert decode(paths, SOFT, "soft")[1]["no_layer"] == []


def test_a_training_that_did_not_finish_is_passed_on_without_a_checkpoint(paths):
    run = write_run(paths, PLAIN)
    decode(paths, PLAIN, "plain")
    (run / "checkpoints" / "last.pt").unlink()
    for kind in ("diverged", "failed_to_train"):
        write_json(run / "training.json", training(kind))
        folder, described, _ = decode(paths, PLAIN, "plain")
        assert described["outcome"] == kind
        assert described["reason"] == f"it has {kind}"
        assert described["tasks"] == {}
        assert [path.name for path in folder.iterdir()] == ["decoding.json"]


def test_a_missing_checkpoint_is_one_clear_error_and_leaves_nothing_to_trust(paths):
    folder = write_run(paths, PLAIN)
    decode(paths, PLAIN, "plain")
    (folder / "checkpoints" / "last.pt").unlink()
    with pytest.raises(FathomError, match="no such checkpoint"):
        decode(paths, PLAIN, "plain")
    assert not (paths.decoding(PLAIN, 1, "plain") / "decoding.json").exists()


def test_the_code_hash_names_the_runs_method(paths):
    write_run(paths, SOFT)
    modules = decode(paths, SOFT, "soft")[1]["code"]["modules"]
    assert f"fathom.methods.{GATED}" in modules
    assert "fathom.inference.beam" in modules
    assert "fathom.models.decoder" in modules


def test_a_users_own_sentences_are_translated_as_the_test_sentences_are(paths):
    folder = write_run(paths, PLAIN)
    tested = read_lines(decode(paths, PLAIN, "plain")[0] / "kor.test.txt")
    places = paths.tensors(PLAIN.data), paths.subwords(PLAIN.data), folder, "plain"
    lines = sides(PLAIN.data)[0].lines(paths.corpus(PLAIN.data), "kor", "test")
    assert translate_lines(PLAIN, *places, "kor", lines, CPU) == tested
    assert translate_lines(PLAIN, *places, "kor", [], CPU) == []
    with pytest.raises(FathomError, match="nearest valid name: 'kor'"):
        translate_lines(PLAIN, *places, "korr", lines, CPU)
    write_run(paths, PLAIN, "diverged")
    with pytest.raises(FathomError, match="diverged"):
        translate_lines(PLAIN, *places, "kor", lines, CPU)


def test_a_users_own_end_symbol_is_unknown_as_in_encoded_text(paths, monkeypatch):
    folder, given = write_run(paths, PLAIN), []
    monkeypatch.setattr(
        "fathom.inference.translate.hypotheses", lambda _, sources, __: given.extend(sources) or []
    )
    places = paths.tensors(PLAIN.data), paths.subwords(PLAIN.data), folder, "plain"
    translate_lines(PLAIN, *places, "kor", ["</s> <pad>"], CPU)
    assert given[0].tolist().count(EOS) == 1
    assert PAD not in given[0]


def test_what_was_decoded_can_be_scored_and_concluded(paths):
    write_run(paths, SOFT, dropped=["bel"])
    for gates in ("soft", "hard"):
        folder = decode(paths, SOFT, gates)[0]
        score(SOFT, paths.corpus(SOFT.data), folder, silent)
    conclude(SOFT, 1, ("soft", "hard"), paths, silent)
    manifest = json.loads(paths.manifest(SOFT, 1).read_text(encoding="utf-8"))
    assert sorted(manifest["scores"]["soft"]) == ["bel", "bos", "kor"]
    assert sorted(manifest["scores"]["hard"]) == ["bos", "kor"]
    assert manifest["no_layer"] == {"soft": [], "hard": ["bel"]}


def test_each_sentence_stands_in_one_batch_and_batches_keep_their_bounds():
    lengths = [5, 1, 40, 3, 3, 9, 2, 8, 8, 1]
    found = list(batches(lengths, tokens=16, sentences=3))
    assert sorted(number for batch in found for number in batch) == list(range(len(lengths)))
    assert [2] in found
    for batch in found:
        assert len(batch) <= 3
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= 16


def test_a_search_that_loses_a_sentence_is_an_error():
    class Forgetful:
        def best(self, source):
            return [[4]] * (len(source) - 1)

    with pytest.raises(FathomError, match="1 of 5 sentences have no hypothesis"):
        hypotheses(Forgetful(), sentences(5, 4, seed=1), CPU)


def test_a_network_without_a_decoder_is_refused_before_anything_is_read(tmp_path):
    own = "no file is needed to say so"
    for refused in (
        lambda: translate(masked(), tmp_path, tmp_path, "plain", CPU, silent),
        lambda: translate_lines(masked(), tmp_path, tmp_path, tmp_path, "plain", "bos", [own], CPU),
    ):
        with pytest.raises(FathomError, match="without a decoder translates nothing; `fathom like"):
            refused()
