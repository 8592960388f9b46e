"""Layers that are removed, skipped or multiplied by zero give the same hypotheses.

The network has learnt two languages with the same alphabet: a sentence is turned round in
one and moved by one symbol in the other. Nothing but the layers that each keeps tells them apart.
"""

import random
from dataclasses import replace

import pytest
import torch
from fairseq.checkpoint_utils import load_model_ensemble_and_task
from fairseq.models.transformer import TransformerModel
from torch import Tensor, nn

from fathom.batches.tensors import EOS, PAD, load
from fathom.inference.beam import Beam
from fathom.inference.fairseq_beam import FairseqBeam
from fathom.inference.trained_run import TrainedRun
from fathom.inference.translate import hypotheses
from fathom.models.network import Network
from fathom.runs.paths import Paths
from fathom.runs.settings import Decoding
from tests.inference.pruned_runs import built, gated, pruned, write_run, write_tensors
from tests.support.small_corpus import LANGUAGES, small_data
from tests.support.trained import CPU, set_gates

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
ENTRIES, FIRST = 20, 4
UPDATES, BATCH = 300, 64
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


def sentences(amount: int, seed: int) -> list[Tensor]:
    """Return different random sentences with their end symbols."""
    dice, found = random.Random(seed), {}
    while len(found) < amount:
        words = tuple(dice.randrange(FIRST, ENTRIES) for _ in range(dice.randint(3, 6)))
        found[words] = torch.tensor([*words, EOS])
    return list(found.values())


def answer(source: Tensor, task: int) -> Tensor:
    """Return the right translation of a sentence, with its end symbol."""
    words = source[:-1]
    moved = (words - FIRST + 1) % (ENTRIES - FIRST) + FIRST
    return torch.cat([(words.flip(0), moved)[task], source[-1:]])


def padded(rows: list[Tensor]) -> Tensor:
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def learn(network):
    """Teach both languages with the gates as they are."""
    optimiser = torch.optim.Adam((p for p in network.parameters() if p.requires_grad), lr=3e-3)
    network.train()
    for update in range(1, UPDATES + 1):
        rows = sentences(BATCH, seed=update)
        tasks = torch.arange(BATCH) % len(TASKS)
        targets = [answer(row, task) for row, task in zip(rows, tasks, strict=True)]
        previous = padded([row.roll(1) for row in targets])
        network.start_update(1, update)
        logits = network(padded(rows), previous, tasks)
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), padded(targets).flatten(), ignore_index=PAD
        )
        optimiser.param_groups[0]["lr"] = 3e-3 * min(1, update / 50, (UPDATES - update) / 100 + 0.1)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
    return network


@pytest.fixture(scope="module")
def spec():
    definition = {"tasks": [[task, LANGUAGES[task]] for task in TASKS], "pivot": "eng"}
    return replace(gated(MODEL), data=small_data(definition), decoding=SEARCH)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return Paths(tmp_path_factory.mktemp("results"), "tiny")


@pytest.fixture(scope="module")
def tensors(spec, paths):
    return write_tensors(paths, spec.data, ENTRIES)


@pytest.fixture(scope="module")
def run(spec, paths, tensors):
    network = built(spec, paths)
    set_gates(network, ACTIVE)
    return write_run(spec, paths, learn(network))


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
