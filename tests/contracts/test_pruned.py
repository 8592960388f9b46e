"""Layers that are removed, skipped or multiplied by zero give the same hypotheses.

fairseq's own Transformer and CTranslate2 compute what is left.

The network has learnt two languages with the same alphabet: a sentence is turned round in
one and moved by one symbol in the other. Nothing but the layers that each keeps tells them apart.
"""

from dataclasses import replace

import pytest
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.models.transformer import TransformerModel

from fathom.config.paths import Paths
from fathom.config.schema.run import Decoding
from fathom.data.tensors import load
from fathom.decode.beam import Beam
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import hypotheses
from fathom.nn.network import Network
from tests.reference.padded.beam import FairseqBeam
from tests.support.small_corpus import LANGUAGES, small_data
from tests.support.taught import ENTRIES, MOVED, TURNED, answer, learn, sentences, write_sentences
from tests.support.trained import (
    CPU,
    built,
    gated,
    in_ctranslate2,
    pruned,
    set_gates,
    write_run,
    write_tensors,
)

# fairseq's own network masks padding and the future with unlike types.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Support for mismatched key_padding_mask"),
]

TASKS = ("bos", "kor")
ACTIVE = {
    "encoder": {"bos": (0, 2, 3), "kor": (1, 2)},
    "decoder": {"bos": (0, 1), "kor": (1, 2, 3)},
}
UPDATES = 300
SENTENCES, DISTINCT = 200, 100
MODEL = {
    "encoder_layers": 4,
    "decoder_layers": 4,
    "width": 32,
    "ffn": 64,
    "heads": 4,
    "dropout": 0.0,
}
SEARCH = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=1.5, cap_constant=4)


@pytest.fixture(scope="module")
def spec():
    definition = {"tasks": [[task, LANGUAGES[task]] for task in TASKS], "pivot": "eng"}
    return replace(gated(MODEL), data=small_data(definition), decoding=SEARCH)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return Paths(tmp_path_factory.mktemp("results"), "tiny")


@pytest.fixture(scope="module")
def tensors(spec, paths):
    folder = write_tensors(paths, spec.data, ENTRIES)
    write_sentences(folder, {"bos": TURNED, "kor": MOVED})
    return folder


@pytest.fixture(scope="module")
def run(spec, paths, tensors):
    network = built(spec, paths)
    set_gates(network, ACTIVE)
    return write_run(spec, paths, learn(network, (TURNED, MOVED), UPDATES))


def found(model, tensors, task=0):
    """Return a network's hypothesis for each sentence, as sentences of a task."""
    search = Beam if isinstance(model, Network) else FairseqBeam
    beam = search(model, load(tensors).target_dictionary, SEARCH)
    return hypotheses(beam, sentences(SENTENCES, seed=0), [task] * SENTENCES, CPU)


def counted(network):
    """Return a list to which each layer's place is added when it is computed."""
    calls = []
    for side in ACTIVE:
        for number, layer in enumerate(network.get_submodule(f"{side}.layers")):
            # Both ways through a layer call its last norm.
            layer.final_layer_norm.register_forward_hook(
                lambda *_, s=side, n=number: calls.append((s, n))
            )
    return calls


@pytest.fixture(scope="module")
def skipped(tensors, run):
    """Hypotheses of each task with hard gates, whose layers at 0 must not be computed."""
    network, answers = run.network("hard"), {}
    calls = counted(network)
    for number, task in enumerate(TASKS):
        calls.clear()
        answers[task] = found(network, tensors, number)
        assert set(calls) == {(side, layer) for side in ACTIVE for layer in ACTIVE[side][task]}
    return answers


def test_the_network_has_learnt_both_languages_and_keeps_different_layers_for_them(skipped):
    sources = sentences(SENTENCES, seed=0)
    for number, task in enumerate(TASKS):
        assert len({tuple(each) for each in skipped[task]}) >= DISTINCT
        right = [answer(row, number)[:-1].tolist() for row in sources]
        equal = sum(each == wanted for each, wanted in zip(skipped[task], right, strict=True))
        assert equal >= SENTENCES // 2, (task, equal)
    for side in ACTIVE:
        assert len({layers for layers in ACTIVE[side].values()}) == len(TASKS)


def test_layers_that_are_computed_and_multiplied_by_zero_give_the_same_hypotheses(
    tensors, run, skipped
):
    network = TrainedRun(run.spec, run.seed, run.paths, CPU).network("hard")
    calls = counted(network)
    for each in network.methods.values():
        each.keep = lambda layer: True
    for number, task in enumerate(TASKS):
        assert found(network, tensors, number) == skipped[task]
    assert len(set(calls)) == MODEL["encoder_layers"] + MODEL["decoder_layers"]


def test_layers_that_are_removed_give_the_same_hypotheses_in_fairseqs_own_transformer(
    tensors, run, skipped
):
    for task, other in zip(TASKS, reversed(TASKS), strict=True):
        folder, described = pruned(run, task)
        (model,), _, _ = load_model_ensemble_and_task([str(folder / "model.pt")])
        assert type(model) is TransformerModel
        for side in ACTIVE:
            assert len(model.get_submodule(f"{side}.layers")) == len(ACTIVE[side][task])
            assert described["active"][side] == list(ACTIVE[side][task])
        assert found(model, tensors) == skipped[task]
        assert found(model, tensors) != skipped[other]


def test_ctranslate2_gives_the_same_hypotheses_of_the_layers_that_each_task_keeps(run, skipped):
    pytest.importorskip("ctranslate2", reason="run `make ctranslate2`")
    sources = sentences(SENTENCES, seed=0)
    for task in TASKS:
        assert in_ctranslate2(run, "hard", task).best(sources, SEARCH) == skipped[task]
