"""A run that starts from the weights of a finished one."""

from dataclasses import replace

import pytest
import torch

from fathom.config.spec import StartSpec
from fathom.data.encode import encode
from fathom.data.subwords import train as train_subwords
from fathom.io.files import read_lines, write_lines
from fathom.io.records import read_record, write_record
from fathom.nn.weights import read_weights
from fathom.train.loop import TrainPaths
from fathom.train.train import train
from tests.support.refused import refused
from tests.support.run_files import training
from tests.support.small_corpus import DEFINITION, record_corpus, small_data, write_corpus
from tests.support.small_networks import method
from tests.support.small_runs import OPTIONS, specification

# A few updates teach little; the base shall count as finished all the same.
LENIENT = {"outcome": {"failed_margin": -20.0}}
BOTH = ("encoder", "decoder")


def silent(line):
    """Say nothing."""


def base_and_tuned(freeze=True, average_of=1, **changes):
    base = specification(changes=LENIENT | {"training": {"keep_weights": 2}})
    tuned = specification(
        "adapters", BOTH, LENIENT | {"training": {"updates": 5} | changes}, bottleneck=8
    )
    start = StartSpec(base.paper, base.run, base.identity, average_of, freeze)
    return base, replace(tuned, start=start)


@pytest.fixture(scope="module")
def trained(tensors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    train(base_and_tuned()[0], 1, TrainPaths(tensors, folder), OPTIONS, silent)
    return folder


HALVES = ("kor1", "kor2")


@pytest.fixture(scope="module")
def halved(tmp_path_factory):
    """The data of a set whose largest task is in two halves, with the small set's pieces."""
    folder = tmp_path_factory.mktemp("halved")
    corpus, whole = folder / "corpus", write_corpus(folder / "whole")
    train_subwords(small_data(), whole, folder / "subwords", silent)
    for text in whole.glob("*/*.*"):
        lines, task = read_lines(text), text.parent.name
        parts = {task: lines}
        if task == "kor":
            parts = {half: lines[place::2] for place, half in enumerate(HALVES)}
        for name, part in parts.items():
            write_lines(corpus / name / text.name, part)
    record_corpus(corpus)
    tasks = [*DEFINITION["tasks"][:2], *([half, "hangul"] for half in HALVES)]
    data = small_data({"tasks": tasks, "pivot": "eng"}, pieces=DEFINITION)
    encode(data, corpus, folder / "subwords", folder / "tensors", silent)
    return data, folder / "tensors"


def weights(folder):
    return read_weights(folder / "checkpoints" / "last.pt")


def test_adapters_of_more_tasks_start_from_a_base_with_the_same_pieces(
    tensors, trained, halved, tmp_path
):
    """Table 4 of lamgd: seven domains, adapters over the Transformer of six."""
    base, tuned = base_and_tuned(one_task_per_batch=True, updates=8)
    data, text = halved
    tuned = replace(tuned, data=data)
    assert tuned.data.subwords_identity == base.data.subwords_identity
    for side in ("source", "target"):
        name = f"dictionary.{side}.txt"
        assert (text / name).read_bytes() == (tensors / name).read_bytes()
    train(tuned, 1, TrainPaths(text, tmp_path, trained), OPTIONS, silent)
    before, after = weights(trained), weights(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    tasks = {name.split(".")[4] for name in after if ".method.adapters." in name}
    assert tasks == {"0", "1", "2", "3"}
    record = read_record(tmp_path / "training.json")
    assert record["outcome"]["kind"] == "finished"
    assert set(record["validation"]["by_task"]) == {"bos", "bel", *HALVES}
    own = read_record(trained / "training.json")["validation"]["by_task"]
    assert record["validation"]["by_task"]["bel"] == pytest.approx(own["bel"], abs=0.2)


@pytest.mark.slow
def test_frozen_weights_stay_to_the_bit_and_what_the_method_adds_is_trained(
    tensors, trained, tmp_path
):
    _, tuned = base_and_tuned()
    train(tuned, 1, TrainPaths(tensors, tmp_path, trained), OPTIONS, silent)
    before, after = weights(trained), weights(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    added = {name: value for name, value in after.items() if name not in before}
    assert added
    assert any(value.any() for name, value in added.items() if "up" in name)
    facts = read_record(tmp_path / "training.json")["parameters"]
    assert facts["trainable"] == sum(value.numel() for value in added.values())


def test_the_mean_of_the_last_kept_weights_can_be_the_start(tensors, trained, tmp_path):
    _, tuned = base_and_tuned(average_of=2)
    train(tuned, 1, TrainPaths(tensors, tmp_path, trained), OPTIONS, silent)
    kept = [read_weights(trained / "checkpoints" / f"update_{n}.pt") for n in (3, 6)]
    name = "decoder.layers.0.fc1.weight"
    assert torch.allclose(weights(tmp_path)[name], (kept[0][name] + kept[1][name]) / 2, atol=1e-7)


def test_a_run_that_starts_from_one_that_did_not_finish_ends_as_that_one(tensors, tmp_path):
    _, tuned = base_and_tuned()
    outcome = {"kind": "diverged", "update": 7, "reason": "the loss is not finite"}
    write_record(tmp_path / "base" / "training.json", training(outcome=outcome))
    train(tuned, 1, TrainPaths(tensors, tmp_path / "run", tmp_path / "base"), OPTIONS, silent)
    outcome = read_record(tmp_path / "run" / "training.json")["outcome"]
    assert (outcome["kind"], outcome["update"]) == ("diverged", 0)
    assert outcome["reason"] == "paper/static_3_3, from which it starts: the loss is not finite"


def test_a_run_whose_start_has_not_ended_is_told_what_to_train(tensors, tmp_path):
    _, tuned = base_and_tuned()
    with refused("the training has not ended", remedy="train paper/static_3_3 first"):
        train(tuned, 1, TrainPaths(tensors, tmp_path / "run", tmp_path / "base"), OPTIONS, silent)


def test_weights_of_another_shape_of_network_are_refused(tensors, trained, tmp_path):
    _, tuned = base_and_tuned()
    deeper = replace(tuned, model=tuned.model.model_copy(update={"encoder_layers": 4}))
    with refused("its weights do not fit this network ("):
        train(deeper, 1, TrainPaths(tensors, tmp_path, trained), OPTIONS, silent)


def test_frozen_weights_and_nothing_else_are_refused(tensors, trained, tmp_path):
    _, tuned = base_and_tuned()
    still = replace(tuned, method=method("layerdrop", BOTH, p=0.5))
    with refused("nothing is left to train", remedy="choose a method that adds parameters"):
        train(still, 1, TrainPaths(tensors, tmp_path, trained), OPTIONS, silent)


def test_gates_alone_can_be_learnt_over_frozen_weights(tensors, trained, tmp_path):
    _, tuned = base_and_tuned()
    gated = replace(tuned, method=method("latent_layers", BOTH))
    train(gated, 1, TrainPaths(tensors, tmp_path, trained), OPTIONS, silent)
    before, after = weights(trained), weights(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert after["encoder.method.alpha"].any()
