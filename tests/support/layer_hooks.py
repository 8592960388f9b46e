"""The worked example of docs/adding_a_method.md, and small networks of a class of methods."""

from functools import partial
from types import ModuleType

import torch

from fathom.nn.hooks import Method
from fathom.nn.network import Entries
from fathom.nn.transformer.network import Transformer
from tests.support.small_networks import ENTRIES, ROOT, shape


def documented_method() -> type[Method]:
    """Return the class of the worked example in docs/adding_a_method.md."""
    text = (ROOT / "docs" / "adding_a_method.md").read_text(encoding="utf-8")
    (code,) = (block for block in text.split("```") if "class DeepNorm(" in block)
    example = ModuleType("deep_norm")
    exec(code.removeprefix("python"), vars(example))
    return example.DeepNorm


def network_of(kind: type[Method], seed: int = 7, **changes: object) -> Transformer:
    """Return a Transformer with a method on both stacks, as a training begins with it."""
    model = shape(**changes)
    methods = {side: kind(stack) for side, stack in Transformer.describe_stacks(model, 2).items()}
    torch.manual_seed(seed)
    network = Transformer(model, Entries(ENTRIES), Entries(ENTRIES), methods)
    network.initialise()
    return network


deep_norm = partial(network_of, documented_method(), norm="post")
