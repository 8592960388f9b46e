"""Linear layers in half precision, against autocast of the network's weights; padded logits."""

import pytest
import torch

from fathom.nn.loss import smoothed_loss, token_nll
from fathom.nn.network import ENTRIES_MULTIPLE, LowPrecision
from tests.support.small_networks import gradients, method, network, recurrent, sentences, shape

SHAPES = {
    "transformer": shape(width=64, ffn=96, dropout=0.1),
    "rnmt_plus": recurrent(),
    "masked_lm": shape(architecture="masked_lm", decoder_layers=0, block=16, activation="gelu"),
}
METHODS = {"group_dropout": {"groups": 4, "active": 2}, "adapters": {"bottleneck": 4}}


def updated(predictor, of_network):
    """Return a batch's loss, its sum of NLL and all gradients, with the same gates and dropout."""
    of_network.start_update(1, 1)
    torch.manual_seed(1)
    predicted = predictor(sentences([(length, length) for length in (5, 9, 7, 3)]))
    loss, _ = smoothed_loss(predicted.logits, predicted.target, 0.1, of_network.entries)
    loss.backward()
    nll = token_nll(predicted).sum()
    return torch.stack([loss, nll]).detach(), gradients(of_network)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("kind", "name", "stacks"),
    [
        ("transformer", "static", ()),
        ("transformer", "latent_layers", ("encoder", "decoder")),
        ("transformer", "group_dropout", ("encoder", "decoder")),
        ("transformer", "transparent", ("encoder",)),
        ("transformer", "adapters", ("encoder", "decoder")),
        ("transformer", "layerdrop", ("encoder", "decoder")),
        ("rnmt_plus", "static", ()),
        ("masked_lm", "static", ()),
    ],
)
def test_loss_and_gradients_are_those_of_autocast_to_the_bit(kind, name, stacks, dtype):
    chosen = method(name, stacks, **METHODS.get(name, {}))
    ours, theirs = (network(chosen, SHAPES[kind]).train() for _ in range(2))
    low = LowPrecision(ours, dtype)
    low.start_update()
    with torch.autocast("cpu", dtype):
        loss, expected = updated(theirs.predict, theirs)
    found, given = updated(low.predict, ours)
    assert torch.equal(found, loss)
    for weight, gradient in expected.items():
        # A layer that is not used has no gradient, so that its weights do not move.
        assert (given[weight] is None) == (gradient is None), weight
        if gradient is not None:
            assert given[weight].dtype == torch.float32
            # float32 sums of float16 depend on where a tensor lies in memory.
            atol = 0.0 if dtype == torch.bfloat16 else 2**-8
            torch.testing.assert_close(given[weight], gradient, rtol=0.0, atol=atol, msg=weight)


def test_weights_are_copied_when_an_update_starts_and_stay_in_full():
    model = network(method("static", ())).train()
    names = list(model.state_dict())
    low = LowPrecision(model)
    low.start_update()
    before, _ = updated(low.predict, model)
    with torch.no_grad():
        model.decoder.layers[0].fc1.weight.add_(1)
    assert torch.equal(updated(low.predict, model)[0], before)
    low.start_update()
    assert not torch.equal(updated(low.predict, model)[0], before)
    assert list(model.state_dict()) == names
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("kind", SHAPES)
def test_entries_that_fill_logits_up_as_on_cuda_change_neither_loss_nor_gradients(
    kind, low, monkeypatch
):
    def made():
        model = network(method("static", ()), SHAPES[kind]).train()
        in_bfloat16 = LowPrecision(model)
        in_bfloat16.start_update()
        return updated(in_bfloat16.predict if low else model.predict, model)

    losses, expected = made()
    monkeypatch.setitem(ENTRIES_MULTIPLE, "cpu", ENTRIES_MULTIPLE["cuda"])
    found, given = made()
    assert losses.isfinite().all()
    torch.testing.assert_close(found, losses, rtol=1e-6, atol=0)
    for weight, gradient in expected.items():
        difference, largest = (x.abs().max() for x in (given[weight] - gradient, gradient))
        assert difference <= 1e-6 * largest, weight
