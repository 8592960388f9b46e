"""The plain Transformer that a trained network is for a task: the layers that its gates keep.

fairseq, CTranslate2 and transformers compute it without fathom. Skipped layers and the parameters
of methods are removed. That is right only if the method does nothing else, which is tested: every
hook must return random hidden states unchanged, to the bit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from fathom.config.rules import NOT_PLAIN, beyond_plain
from fathom.config.schema.run import Model
from fathom.io.errors import FathomError
from fathom.nn.hooks import PARTS, Method
from fathom.nn.network import Network

Active = Mapping[str, Sequence[int]]

# fairseq takes the final norm from a stack whose weights come without this number.
STACK_VERSION = 3.0
# The settings of probabilities, which fairseq and transformers call as we do.
DROPOUTS = ("dropout", "attention_dropout", "activation_dropout")


@dataclass(frozen=True, eq=False)
class Plain:
    """A plain Transformer."""

    model: Model  # the shape of the network that it is a part of
    active: Active  # the layers that stay, from 0 and in order, by stack
    state: dict[str, Tensor]  # the weights under fairseq's names; layers are numbered from 0


def require_plain_shape(model: Model, where: str) -> None:
    """Refuse a network that is not a plain Transformer, whatever its gates select."""
    for what in beyond_plain(model):
        raise FathomError(f"not a plain Transformer: {what}", where, NOT_PLAIN)


def plain(network: Network, model: Model, task: int, where: str) -> Plain:
    """Return what a network is for a task with the gates in use; messages begin with `where`."""
    require_plain_shape(model, where)
    active = {stack: active_layers(method, task) for stack, method in network.methods.items()}
    for stack, layers in active.items():
        if not layers:
            raise FathomError(f"no {stack} layer is left", where, "choose another run or task")
    for stack, method in network.methods.items():
        hook = beyond_keeping(method, task)
        if hook:
            what = f"the {stack}'s method does more than keep or skip layers ('{hook}')"
            raise FathomError(what, where, NOT_PLAIN)
    return Plain(model, active, plain_state(network.state_dict(), active))


def plain_state(state: Mapping[str, Tensor], active: Active) -> dict[str, Tensor]:
    """Return the weights of the kept layers, numbered from 0, under the names that fairseq uses.

    The parameters of methods are left out.
    """
    plain = {f"{stack}.version": torch.tensor([STACK_VERSION]) for stack in active}
    for name, tensor in state.items():
        stack, part, *rest = name.split(".")
        if part == "layers":
            layer = int(rest[0])
            if layer in active[stack]:
                number = active[stack].index(layer)
                plain[".".join((stack, part, str(number), *rest[1:]))] = tensor
        elif part != "method":
            plain[name] = tensor
    return plain


def parameters(plain: Mapping[str, Tensor]) -> int:
    """Return the parameters among a plain network's weights; a shared tensor counts once."""
    own = (tensor for name, tensor in plain.items() if not name.endswith(".version"))
    return sum({tensor.data_ptr(): tensor.numel() for tensor in own}.values())


def active_layers(method: Method, task: int) -> tuple[int, ...]:
    """Return the layers of a stack that a method keeps for a task, with the gates in use."""
    method.begin(torch.tensor([task], device=_device(method)))
    return tuple(layer for layer in range(method.stack.layers) if method.keep(layer))


@torch.no_grad()
def beyond_keeping(method: Method, task: int) -> str | None:
    """Return the hook by which a method does more for a task than keep or skip layers, or None."""
    tried = _tried(method, active_layers(method, task))
    return next((hook for hook, own, plain in tried if not torch.equal(own, plain)), None)


def _tried(method: Method, active: Sequence[int]) -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield each hook, what it returns for random states, and what the static model returns."""
    stack, device = method.stack, _device(method)
    stream = torch.Generator().manual_seed(1)
    drawn = (torch.randn(5, 1, stack.width, generator=stream) for _ in range(stack.layers + 1))
    states = [state.to(device) for state in drawn]
    for layer, (x, y) in enumerate(pairwise(states)):
        yield "source", method.source(layer, states[: layer + 1]), x
        if layer in active:
            for part in PARTS[stack.name]:
                yield "residual", method.residual(layer, part, x, y), x + y
            yield "block", method.block(layer, x, y), y
            yield "after", method.after(layer, y), y
    yield "source", method.source(stack.layers, states), states[-1]
    if stack.name == "encoder":
        for memory in method.memory(states, stack.memories):
            yield "memory", memory, states[-1]


def _device(method: Method) -> torch.device:
    """Return where a method's parameters are; one without any works everywhere."""
    return next((parameter.device for parameter in method.parameters()), torch.device("cpu"))
