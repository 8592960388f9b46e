"""Methods that change first weights, order and sharing of layers, and small networks of them."""

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


class Sandwich(Method):
    """The first layer has attention alone, the last one the feed-forward network alone."""

    def order(self, layer):
        attentions, ffn = super().order(layer)[:-1], (("ffn",),)
        return {0: attentions, self.stack.layers - 1: ffn}.get(layer, (*attentions, *ffn))


class Parallel(Method):
    """Self-attention and the feed-forward network read the same input."""

    def order(self, layer):
        return (("self_attention", "ffn"), *super().order(layer)[1:-1])


class FeedForwardFirst(Method):
    """The feed-forward network comes before the attentions."""

    def order(self, layer):
        return super().order(layer)[::-1]


class Tied(Method):
    """All layers have the weights of the first, and the last one only its attentions."""

    def share(self, layer):
        return 0

    def order(self, layer):
        order = super().order(layer)
        return order[:-1] if layer == self.stack.layers - 1 else order


def network_of(kind: type[Method], seed: int = 7, **changes: object) -> Transformer:
    """Return a Transformer with a method on both stacks, as a training begins with it."""
    model = shape(**changes)
    methods = {side: kind(stack) for side, stack in Transformer.describe_stacks(model, 2).items()}
    torch.manual_seed(seed)
    network = Transformer(model, Entries(ENTRIES), Entries(ENTRIES), methods)
    network.initialise()
    return network


NETWORKS = {
    "deep_norm": partial(network_of, documented_method(), norm="post"),
    "sandwich": partial(network_of, Sandwich),
    "parallel": partial(network_of, Parallel),
    "feed_forward_first": partial(network_of, FeedForwardFirst, norm="lingvo"),
    "tied": partial(network_of, Tied),
}
