"""Every method on every kind of network; the Transformer's are held to more in test_methods."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest
import torch

from fathom.config import plugins
from fathom.decode.contracts import CONTRACTS, LENGTHS
from fathom.methods.build import load_network
from tests.reference.padded.networks import padded_logits
from tests.support.small_networks import Made, batch, card, gradients, method, network, nll, shape

KINDS = {
    "transformer": {},
    "rnmt_plus": {"tie_embeddings": "none"},
    "masked_lm": {"decoder_layers": 0, "activation": "gelu", "output_bias": True, "block": 32},
}
TASKS = torch.tensor([0, 1, 1, 0])
every = [
    pytest.param(kind, name, id=f"{kind}-{name}")
    for kind in ("rnmt_plus", "masked_lm")
    for name in plugins.names("methods")
    # Its only change is at sub-layers' joints, of which the first recurrent layers have none.
    if (kind, name) != ("rnmt_plus", "rezero")
]


def built(kind: str, name: str, norm: str = "", changes: Mapping = MappingProxyType({}), **model):
    """Return a network with the method of a card's example on all sides that both have.

    `changes` are of the method, `model` of the network; without `norm` it is the method's first.
    """
    about = card(name).about
    layers = about.example.layers
    size = {"architecture": kind, "encoder_layers": layers, "decoder_layers": layers}
    whole = shape(**(size | {"norm": norm or about.norms[0]} | KINDS[kind] | model))
    stacks = load_network(kind).describe_stacks(whole, 2)
    sides = tuple(side for side in stacks if side in about.stacks)
    return network(method(name, sides, **(about.example.settings | dict(changes))), whole)


def loss(model, rows):
    """Return the loss of some sentences; without a decoder, of their own pieces."""
    source, previous, target = batch(LENGTHS)
    source, target = source[rows], target[rows]
    wanted = target if "decoder" in model.stacks else source
    return nll(padded_logits(model, source, previous[rows], TASKS[rows]), wanted)


@pytest.mark.parametrize(("kind", "name"), every)
def test_a_fused_batch_equals_one_pass_for_each_task(kind, name):
    fused, apart = built(kind, name), built(kind, name)
    for model in (fused, apart):
        model.start_update(1, 1)
    whole = loss(fused, torch.arange(4))
    whole.backward()
    parts = [loss(apart, (task == TASKS).nonzero().flatten()) for task in (0, 1)]
    sum(parts).backward()
    assert whole.item() == pytest.approx(sum(each.item() for each in parts), abs=1e-4)
    found = gradients(apart)
    for key, gradient in gradients(fused).items():
        if gradient is None:
            assert found[key] is None, key
        else:
            torch.testing.assert_close(gradient, found[key], rtol=1e-4, atol=1e-4, msg=key)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), every)
def test_it_trains_and_a_gradient_reaches_every_parameter(kind, name):
    model = built(kind, name)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    reached, losses = set(), []
    for number in range(1, 11):
        optimiser.zero_grad()
        model.start_update(1, number)
        whole = loss(model, torch.arange(4))
        whole.backward()
        reached |= {
            key for key, each in gradients(model).items() if each is not None and each.any()
        }
        losses.append(whole.item())
        optimiser.step()
    assert reached == {key for key, _ in model.named_parameters()}
    assert losses[-1] < losses[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", plugins.names("methods"))
def test_recurrent_translations_do_not_depend_on_what_a_batch_holds(name):
    if name == "rezero":
        pytest.skip("its only change is at joints, of which the first recurrent layers have none")
    made = Made(card(name), make=lambda: built("rnmt_plus", name))
    assert not [*CONTRACTS["batches"](made)]


def test_a_task_that_closes_a_recurrent_first_layer_is_the_same_beside_one_that_keeps_it():
    model = built("rnmt_plus", "latent_layers").eval().use_gates("hard")
    decoder = model.methods["decoder"]
    decoder.alpha.data = torch.full_like(decoder.alpha, 5.0)
    decoder.alpha.data[0, 0] = -5.0
    source, previous, _ = batch(LENGTHS)
    mixed = padded_logits(model, source, previous, TASKS)[0]
    alone = padded_logits(model, source[:1], previous[:1], TASKS[:1])[0]
    assert torch.allclose(mixed, alone, atol=1e-5)
