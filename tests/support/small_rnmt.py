"""A tiny RNMT+ for tests, with a method of the test's own where it wants one."""

import torch
from torch import Tensor, nn

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


class Thinning(nn.Module):
    """Replaces dropout and scales instead, so that a test sees where dropout is."""

    def forward(self, x: Tensor) -> Tensor:
        """Return x, thinned."""
        return 0.75 * x


def thin(network: nn.Module) -> nn.Module:
    """Put `Thinning` where a network has dropout modules, and return the network."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Dropout):
                setattr(module, name, Thinning())
    return network


def silence(lstm: nn.Module) -> None:
    """Make an LSTM say 0 to everything."""
    with torch.no_grad():
        lstm.scale.zero_()
        lstm.bias.zero_()
