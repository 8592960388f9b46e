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
from tests.support.refused import refused
from tests.support.run_files import training
from tests.support.small_corpus import DEFINITION, record_corpus, silent, small_data, write_corpus
from tests.support.small_networks import method
from tests.support.small_runs import specification, train_run

# A few updates teach little; the base shall count as finished all the same.
LENIENT = {"outcome": {"failed_margin": -20.0}}
BOTH = ("encoder", "decoder")


BASE = specification(changes=LENIENT | {"training": {"keep_weights": 2}})


def tuned(average_of=1, **changes):
    """Return a run of adapters over the frozen weights of BASE."""
    training = {"training": {"updates": 5} | changes}
    spec = specification("adapters", BOTH, LENIENT | training, bottleneck=8)
    return replace(spec, start=StartSpec(BASE.paper, BASE.run, BASE.identity, average_of, True))


@pytest.fixture(scope="module")
def trained(tensors, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    train_run(BASE, tensors, folder)
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


def test_adapters_of_more_tasks_start_from_a_base_that_stays_to_the_bit(
    tensors, trained, halved, tmp_path
):
    """Table 4 of lamgd: seven domains, adapters over the Transformer of six."""
    data, text = halved
    assert data.subwords_identity == BASE.data.subwords_identity
    for side in ("source", "target"):
        name = f"dictionary.{side}.txt"
        assert (text / name).read_bytes() == (tensors / name).read_bytes()
    spec = replace(tuned(tasks_per_update=1, updates=8), data=data)
    record = train_run(spec, text, tmp_path, start=trained)
    before, after = weights(trained), weights(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    added = {name: value for name, value in after.items() if name not in before}
    assert {name.split(".")[4] for name in added} == {"0", "1", "2", "3"}
    assert any(value.any() for name, value in added.items() if "up" in name)
    assert record["parameters"]["trainable"] == sum(value.numel() for value in added.values())
    assert record["outcome"]["kind"] == "finished"
    assert set(record["validation"]["by_task"]) == {"bos", "bel", *HALVES}
    own = read_record(trained / "training.json")["validation"]["by_task"]
    assert record["validation"]["by_task"]["bel"] == pytest.approx(own["bel"], abs=0.2)


def test_the_mean_of_the_last_kept_weights_can_be_the_start(tensors, trained, tmp_path):
    train_run(tuned(average_of=2), tensors, tmp_path, start=trained)
    kept = [read_weights(trained / "checkpoints" / f"update_{n}.pt") for n in (3, 6)]
    name = "decoder.layers.0.fc1.weight"
    assert torch.allclose(weights(tmp_path)[name], (kept[0][name] + kept[1][name]) / 2, atol=1e-7)


def test_a_run_that_starts_from_one_that_did_not_finish_ends_as_that_one(tensors, tmp_path):
    outcome = {"kind": "diverged", "update": 7, "reason": "the loss is not finite"}
    write_record(tmp_path / "base" / "training.json", training(outcome=outcome))
    run, base = tmp_path / "run", tmp_path / "base"
    outcome = train_run(tuned(), tensors, run, start=base)["outcome"]
    assert (outcome["kind"], outcome["update"]) == ("diverged", 0)
    assert outcome["reason"] == "paper/static_3_3, from which it starts: the loss is not finite"


def test_a_run_whose_start_has_not_ended_is_told_what_to_train(tensors, tmp_path):
    with refused("the training has not ended", remedy="train paper/static_3_3 first"):
        train_run(tuned(), tensors, tmp_path / "run", start=tmp_path / "base")


def test_weights_of_another_shape_of_network_are_refused(tensors, trained, tmp_path):
    deeper = tuned().model.model_copy(update={"encoder_layers": 4})
    with refused("its weights do not fit this network ("):
        train_run(replace(tuned(), model=deeper), tensors, tmp_path, start=trained)


def test_frozen_weights_and_nothing_else_are_refused(tensors, trained, tmp_path):
    still = replace(tuned(), method=method("layerdrop", BOTH, p=0.5))
    with refused("nothing is left to train", remedy="choose a method that adds parameters"):
        train_run(still, tensors, tmp_path, start=trained)


def test_gates_alone_can_be_learnt_over_frozen_weights(tensors, trained, tmp_path):
    gated = replace(tuned(), method=method("latent_layers", BOTH))
    train_run(gated, tensors, tmp_path, start=trained)
    before, after = weights(trained), weights(tmp_path)
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert after["encoder.method.alpha"].any()
