"""The recurrent network against plain steps of single vectors, and against the paper's counts."""

import pytest
import torch

from fathom.decode.beam import Beam
from fathom.methods.build import build, count
from fathom.nn.rnmt_plus.network import RnmtPlus
from tests.decode.conftest import SEARCH, learn, padded, sentences, turned
from tests.reference import plain_rnmt
from tests.support.refused import refused
from tests.support.small_networks import ENTRIES, Dictionary, batch, gradients, method, nll
from tests.support.small_rnmt import recurrent, recurrent_network, thin

LENGTHS = [(5, 4), (3, 6), (7, 2), (1, 1)]
TASKS = torch.tensor([0, 1, 1, 0])
SOURCE, PREVIOUS, TARGET = batch(LENGTHS)


@pytest.mark.parametrize(
    "changes", [{}, {"residuals": ()}, {"encoder_layers": 1, "decoder_layers": 1}, {"heads": 2}]
)
def test_the_network_is_its_plain_steps_forward_and_in_its_gradients(changes):
    ours, theirs = (thin(recurrent_network(**changes)).double() for _ in range(2))
    residual = changes.get("residuals") is None

    def plain(row):
        pieces, positions = LENGTHS[row]
        source, previous = SOURCE[row, :pieces], PREVIOUS[row, :positions]
        memory = plain_rnmt.encode(theirs.encoder, source, residual, lambda x: 0.75 * x)
        return plain_rnmt.decode(theirs.decoder, memory, previous, residual, lambda x: 0.75 * x)

    logits, expected = ours(SOURCE, PREVIOUS, TASKS), [plain(row) for row in range(len(LENGTHS))]
    for row, each in enumerate(expected):
        assert torch.allclose(logits[row, : len(each)], each, atol=1e-10)
    nll(logits, TARGET).backward()
    for row, each in enumerate(expected):
        nll(each[None], TARGET[row : row + 1, : len(each)]).backward()
    found = gradients(ours)
    for name, gradient in gradients(theirs).items():
        assert gradient.any(), name
        assert torch.allclose(found[name], gradient, atol=1e-9), name


def test_padding_changes_nothing():
    model = recurrent_network().eval()
    together = model(SOURCE, PREVIOUS, TASKS)
    for row, (pieces, positions) in enumerate(LENGTHS):
        alone = model(
            SOURCE[row : row + 1, :pieces], PREVIOUS[row : row + 1, :positions], TASKS[:1]
        )
        assert torch.allclose(alone[0], together[row, :positions], atol=1e-5)


def lstm(inputs, cell):
    return 4 * cell * (inputs + cell) + 8 * cell


@pytest.mark.parametrize(
    ("layers", "width", "worked_out", "printed"),
    [
        (6, 512, 127.55, 128),
        (12, 512, 165.35, 165),
        (16, 512, 190.55, 191),
        (20, 512, 215.75, 216),
        (6, 1024, 378.87, 379),
    ],
)
def test_counts_are_the_formulas_and_the_papers(layers, width, worked_out, printed):
    entries, c = 32_000, width
    model = recurrent(encoder_layers=layers, decoder_layers=8, width=width)
    found = count(model, method("static", ()), 1, entries, entries)["total"]
    embeddings = 2 * entries * c + 2 * c * entries + entries
    encoder = 2 * lstm(c, c) + (layers - 1) * 2 * lstm(2 * c, c) + 2 * c**2 + c
    attention = 2 * (c**2 + c) + 2 * (c // 4) ** 2 + c // 4
    assert found == embeddings + encoder + attention + 8 * lstm(2 * c, c)
    assert round(found / 1e6, 2) == worked_out
    assert found / 1e6 == pytest.approx(printed, rel=4e-3)


def test_matrices_start_uniform():
    torch.manual_seed(1)
    dictionary = Dictionary(ENTRIES)
    model = build(recurrent(width=32), method("static", ()), 1, dictionary, dictionary)
    for name, parameter in model.named_parameters():
        if name.endswith("weight") and ("lstm" in name or "embed" in name or "output" in name):
            assert 0.037 < parameter.abs().max() <= 0.04, name
    assert not model.decoder.output_projection.bias.any()
    assert not model.encoder.projection.bias.any()


@pytest.mark.parametrize("shared", ["decoder", "all"])
def test_shared_embeddings_are_refused(shared):
    with refused(where="model.tie_embeddings", remedy="none"):
        recurrent_network(tie_embeddings=shared)


def test_a_method_is_told_of_both_stacks():
    stacks = RnmtPlus.describe_stacks(recurrent(encoder_layers=6), tasks=3)
    assert [(each.name, each.layers, each.width) for each in stacks.values()] == [
        ("encoder", 6, 16),
        ("decoder", 4, 8),
    ]
    assert (stacks["encoder"].sources, stacks["encoder"].memories) == (6, 1)


@pytest.mark.parametrize(
    "chosen",
    [
        method("static", ()),
        method("layerdrop", p=0.5),
        method("latent_layers"),
        method("transparent", ("encoder",)),
    ],
    ids=lambda chosen: chosen.name,
)
def test_methods_train_and_reach_every_parameter(chosen):
    torch.manual_seed(7)
    dictionary = Dictionary(ENTRIES)
    model = build(recurrent(), chosen, 2, dictionary, dictionary)
    reached, losses = set(), []
    adam = torch.optim.Adam(model.parameters(), lr=1e-2)
    for number in range(1, 13):
        model.start_update(1, number)
        adam.zero_grad()
        loss = nll(model(SOURCE, PREVIOUS, TASKS), TARGET)
        loss.backward()
        losses.append(loss.item())
        found = gradients(model).items()
        reached |= {name for name, each in found if each is not None and each.any()}
        adam.step()
    assert reached == {name for name, _ in model.named_parameters()}
    assert losses[-1] < losses[0]


def test_a_layer_that_is_dropped_learns_nothing_but_the_one_that_asks_for_contexts():
    dictionary = Dictionary(ENTRIES)
    model = build(recurrent(), method("layerdrop", p=0.5), 2, dictionary, dictionary)
    dropped = 0
    for number in range(1, 9):
        model.zero_grad()
        model.start_update(1, number)
        nll(model(SOURCE, PREVIOUS, TASKS), TARGET).backward()
        for side, stack in model.stacks.items():
            for layer, kept in zip(stack.layers, model.methods[side].active_layers, strict=True):
                asks = layer is model.decoder.layers[0]
                assert (layer.lstm.weight.grad is not None) == (kept or asks)
                dropped += not kept
    assert dropped > 16


@pytest.fixture(scope="module")
def learnt():
    torch.manual_seed(7)
    dictionary = Dictionary(ENTRIES)
    model = recurrent(encoder_layers=2, decoder_layers=2, width=32)
    fresh = build(model, method("static", ()), 1, dictionary, dictionary)
    return learn(fresh, 200).for_task(0)


@pytest.mark.slow
def test_it_learns_to_turn_sentences_round(learnt):
    rows = sentences(64, 5, seed=999)[1:]
    found = Beam(learnt, Dictionary(ENTRIES), SEARCH).best(
        padded(rows), torch.zeros(len(rows), dtype=torch.long)
    )
    right = sum(each == turned(row) for each, row in zip(found, rows, strict=True))
    assert right > 25


@pytest.mark.slow
def test_a_hypothesis_does_not_depend_on_its_batch(learnt):
    rows = sentences(20, 7, seed=99)
    beam = Beam(learnt, Dictionary(ENTRIES), SEARCH)
    tasks = torch.zeros(len(rows), dtype=torch.long)
    alone = [beam.best(row[None], tasks[:1])[0] for row in rows]
    assert beam.best(padded(rows), tasks) == alone
    assert len({tuple(each) for each in alone}) > 15
