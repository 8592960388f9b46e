"""A tiny RNMT+ for tests, with a method of the test's own where it wants one."""

import torch

from fathom.config.schema import run as settings
from fathom.nn.hooks import Method
from fathom.nn.rnmt_plus.network import RnmtPlus
from tests.support.small_networks import ENTRIES, Dictionary, shape


def recurrent(**changes: object) -> settings.Model:
    """Return a tiny RNMT+ without dropout, of four layers a side."""
    values = {
        "architecture": "rnmt_plus",
        "encoder_layers": 4,
        "decoder_layers": 4,
        "width": 8,
        "tie_embeddings": "none",
        "output_bias": True,
    }
    return shape(**(values | changes))


def recurrent_network(kind: type[Method] = Method, **changes: object) -> RnmtPlus:
    """Return a network with a method on both sides and weights large enough to matter."""
    model, dictionary = recurrent(**changes), Dictionary(ENTRIES)
    methods = {side: kind(stack) for side, stack in RnmtPlus.describe_stacks(model, 2).items()}
    torch.manual_seed(7)
    network = RnmtPlus(model, dictionary, dictionary, methods)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if ".method." not in name:
                parameter.add_(0.5 * torch.randn_like(parameter))
    return network
