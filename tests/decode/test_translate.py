"""From weights to a hypothesis for every held-out sentence, or to the reason why there is none."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from fathom.config.paths import Paths
from fathom.data.sides import sides
from fathom.data.tensors import EOS, PAD, load
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import hypotheses, larger, translate, translate_lines
from fathom.io.files import read_lines, sha256
from fathom.io.records import read_record
from fathom.methods.build import build
from fathom.train.batches.collate import grouped
from tests.decode.conftest import sentences
from tests.support.refused import refused, says
from tests.support.small_corpus import TASKS, silent, small_data
from tests.support.trained import (
    CPU,
    end,
    stir_method,
    through,
    trained_spec,
    write_text,
    write_trained,
)

PLAIN = trained_spec()
SOFT = trained_spec({"method": {"name": "latent_layers", "stacks": ["decoder"]}}, run="soft")
# Of a decoder with two layers; the encoder has no gates.
LAYERS = {"decoder": {"bos": (0, 1), "bel": (1,), "kor": (0,)}}
# Of one with three layers, so that no two tasks share theirs.
DEEP = trained_spec(
    {"model": {"decoder_layers": 3}, "method": {"name": "latent_layers", "stacks": ["decoder"]}},
    run="deep",
)
OWN_LAYERS = {"decoder": {"bos": (0, 1), "bel": (1, 2), "kor": (0,)}}
NO_BEL = {"decoder": {"bos": (0, 1), "bel": (), "kor": (0,)}}


def decode(run, gates="plain", split="test"):
    """Make one decoding; return its folder, its decoding.json and the lines of the report."""
    lines = []
    translate(run, [(split, gates)], lines.append)
    folder = run.paths.decoding(run.spec, 1, split, gates)
    return folder, read_record(folder / "decoding.json"), lines


@pytest.mark.parametrize("split", ["valid", "test"])
def test_every_sentence_of_a_split_has_a_hypothesis(paths, split):
    folder, content, lines = decode(write_trained(PLAIN, paths), split=split)
    assert (content["outcome"], content["split"], content["gates"]) == ("finished", split, "plain")
    assert content["identity"] == PLAIN.decoding_identity("plain")
    assert (content["recipe"], content["weights"]) == (1, [5])
    assert sorted(content["tasks"]) == sorted(TASKS)
    for task in TASKS:
        sources = sides(PLAIN.data)[0].sentences(paths.corpus(PLAIN.data), task, split)
        found = read_lines(folder / f"{task}.txt")
        assert len(found) == len(sources) == content["tasks"][task]
        assert content["files"][f"{task}.txt"] == sha256(folder / f"{task}.txt")
    lengths = load(paths.tensors(PLAIN.data)).split("bos", split).source_lengths
    assert lengths.min() == 1
    assert lengths.max() == PLAIN.data.settings.max_pieces + 1
    assert lines[0] == f"{split}, plain: bos 12 sentences"


def test_all_decodings_share_text_and_network(paths, monkeypatch):
    run, built = write_trained(SOFT, paths, layers=LAYERS), []
    monkeypatch.setattr(
        "fathom.decode.trained_run.build", lambda *args: built.append(1) or build(*args)
    )
    pairs = [("valid", "soft"), ("test", "soft"), ("test", "hard")]
    translate(run, pairs, silent)
    assert built == [1]
    shared = paths.decoding(SOFT, 1, "test", "hard")
    texts = {path.name: path.read_bytes() for path in shared.iterdir()}
    alone = decode(write_trained(SOFT, paths, layers=LAYERS), "hard")[0]
    assert alone == shared
    assert {path.name: path.read_bytes() for path in alone.iterdir()} == texts


def test_decoding_twice_writes_the_same_bytes(paths):
    run = write_trained(PLAIN, paths)
    folder, _, _ = decode(run)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "old.txt").write_text("stale\n", encoding="utf-8")
    decode(run)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def require_own(run, gates):
    """Check that each task's test text is translated as through its own part of the method."""
    folder, _, _ = decode(run, gates)
    for task in TASKS:
        tested = read_lines(folder / f"{task}.txt")
        same = [own for own in TASKS if through(run, gates, task, run.task(own)) == tested]
        assert same == [task]
    lines = sides(run.spec.data)[0].sentences(run.paths.corpus(run.spec.data), task, "test")
    assert translate_lines(run, gates, task, lines, silent) == tested


@pytest.mark.parametrize("gates", ["soft", "hard"])
def test_every_task_is_translated_through_its_own_gates_and_no_others(paths, gates):
    require_own(write_trained(DEEP, paths, layers=OWN_LAYERS), gates)


@pytest.mark.parametrize(
    "method",
    [
        {"name": "group_dropout", "groups": 4, "active": 2},
        {"name": "fixed_group_dropout", "groups": 4, "shared_groups": 1, "own_groups": 1},
        {"name": "adapters", "bottleneck": 4},
    ],
    ids=lambda method: method["name"],
)
def test_every_task_is_translated_through_its_own_masks_or_adapters(paths, method):
    run = write_trained(trained_spec({"method": method}, run=method["name"]), paths)
    stir_method(run)
    require_own(run, "plain")


def test_soft_and_hard_gates_translate_differently(paths, monkeypatch):
    monkeypatch.setattr("tests.support.trained.SURE", 1.0)
    run = write_trained(DEEP, paths, layers=OWN_LAYERS)
    lines = sides(DEEP.data)[0].sentences(paths.corpus(DEEP.data), "kor", "test")
    soft, hard = (translate_lines(run, gates, "kor", lines, silent) for gates in ("soft", "hard"))
    assert soft != hard
    assert soft == through(run, "soft", "kor", run.task("kor"))
    assert hard == through(run, "hard", "kor", run.task("kor"))


def test_a_task_without_any_layer_is_an_outcome_and_has_no_hypotheses(paths):
    run = write_trained(SOFT, paths, layers=NO_BEL)
    folder, content, lines = decode(run, "hard")
    assert content["no_layer"] == ["bel"]
    assert sorted(content["tasks"]) == ["bos", "kor"]
    assert not (folder / "bel.txt").exists()
    assert "test, hard: bel has no layer left" in lines
    assert decode(run, "soft")[1]["no_layer"] == []


def test_a_training_without_a_result_is_passed_on_without_weights(paths):
    run = write_trained(PLAIN, paths)
    decode(run)
    (run.checkpoints / "last.pt").unlink()
    for kind in ("diverged", "failed_to_train"):
        end(run, kind)
        folder, content, _ = decode(TrainedRun(PLAIN, 1, paths, CPU))
        assert content["outcome"] == kind
        assert content["reason"] == f"it has {kind}"
        assert (content["tasks"], content["weights"]) == ({}, [])
        assert [path.name for path in folder.iterdir()] == ["decoding.json"]


def test_missing_weights_are_one_clear_error_and_leave_nothing(paths):
    run = write_trained(PLAIN, paths)
    decode(run)
    (run.checkpoints / "last.pt").unlink()
    with refused("no such file"):
        decode(TrainedRun(PLAIN, 1, paths, CPU))
    assert not (paths.decoding(PLAIN, 1, "test", "plain") / "decoding.json").exists()


def test_a_users_own_sentences_are_translated_as_the_test_sentences_are(paths):
    run = write_trained(PLAIN, paths)
    tested = read_lines(decode(run)[0] / "kor.txt")
    lines = sides(PLAIN.data)[0].sentences(paths.corpus(PLAIN.data), "kor", "test")
    assert translate_lines(run, "plain", "kor", lines, silent) == tested
    assert translate_lines(run, "plain", "kor", [], silent) == []
    assert translate_lines(run, "plain", "kor", [" ", lines[0]], silent) == ["", tested[0]]
    with refused(nearest="kor"):
        translate_lines(run, "plain", "korr", lines, silent)
    with refused("diverged ("):
        translate_lines(write_trained(PLAIN, paths, "diverged"), "plain", "kor", lines, silent)
    bare = write_trained(SOFT, paths, layers=NO_BEL)
    with refused("no layer is left", where="bel"):
        translate_lines(bare, "hard", "bel", lines, silent)


def test_a_users_long_line_is_cut_with_a_report_and_others_without(paths):
    run, reported = write_trained(PLAIN, paths), []
    longest = PLAIN.data.settings.max_pieces
    lines = ["ta", "lo " * 200, "mi"]
    (pieces,) = run.source_encoder.pieces("kor", lines[1:2])
    translate_lines(run, "plain", "kor", lines, reported.append, first=7)
    (line,) = says(f"line 8: {len(pieces)} pieces, the first {longest} are read").check(reported)
    assert reported == [line]
    cut, other = run.source_ids("kor", [lines[1], f"{lines[1]} mi"], silent)
    assert cut == other
    assert len(cut) == longest + 1  # with its end symbol


def test_a_users_own_end_symbol_is_unknown_as_in_encoded_text(paths, monkeypatch):
    run, given = write_trained(PLAIN, paths), []
    monkeypatch.setattr(
        "fathom.decode.translate.hypotheses",
        lambda _, sources, *others: given.extend(sources) or [[]],
    )
    translate_lines(run, "plain", "kor", ["</s> <pad>"], silent)
    assert given[0].tolist().count(EOS) == 1
    assert PAD not in given[0]


def test_each_sentence_is_in_one_batch_and_batches_keep_their_bounds():
    lengths = [5, 1, 40, 3, 3, 9, 2, 8, 8, 1]
    found = grouped(dict(enumerate(lengths)), tokens=16, texts=3)
    assert sorted(number for batch in found for number in batch) == list(range(len(lengths)))
    assert [2] in found
    for batch in found:
        assert len(batch) <= 3
        assert len(batch) == 1 or len(batch) * max(lengths[number] for number in batch) <= 16


@pytest.mark.parametrize(("gigabytes", "times"), [(6, 1), (24, 2), (141, 4)])
def test_batches_of_a_gpu_are_larger_as_its_memory_allows(monkeypatch, gigabytes, times):
    memory = SimpleNamespace(total_memory=gigabytes * 10**9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: memory)
    assert larger(torch.device("cuda:0")) == times
    assert larger(CPU) == 1


@pytest.mark.parametrize("times", [1, 2])
def test_hypotheses_have_the_order_of_their_sources(monkeypatch, times):
    monkeypatch.setattr("fathom.decode.translate.larger", lambda device: times)
    sizes = []

    class Echo:
        sentences = 3

        def best(self, source, tasks):
            sizes.append(len(source))
            return [row[row != PAD].tolist() for row in source]

    sources = sentences(7, 9, seed=2)
    expected = [source.tolist() for source in sources]
    assert sorted(map(len, expected)) != list(map(len, expected))
    assert hypotheses(Echo(), sources, [0] * 7, CPU) == expected
    assert max(sizes) == 3 * times


def test_a_sentence_without_a_hypothesis_is_an_error():

    class Forgetful:
        sentences = 5

        def best(self, source, tasks):
            return [[4]] * (len(source) - 1) + [None]

    with refused("no hypothesis"):
        hypotheses(Forgetful(), sentences(5, 4, seed=1), [0] * 5, CPU)


@pytest.mark.parametrize("place", ["source", "decoder"])
def test_own_text_gets_the_token_of_its_target_language(tmp_path, place):
    data = small_data(direction="one_to_many", target_token=place)
    spec, paths = replace(PLAIN, data=data), Paths(tmp_path, "tiny")
    write_text(paths, data)
    run = write_trained(spec, paths)
    folder, _, _ = decode(run)
    for task in TASKS:
        lines = sides(data)[0].sentences(paths.corpus(data), task, "test")
        assert translate_lines(run, "plain", task, lines, silent) == read_lines(
            folder / f"{task}.txt"
        )
    # The same sentences for another language.
    assert translate_lines(run, "plain", "bos", lines, silent) != translate_lines(
        run, "plain", "kor", lines, silent
    )
