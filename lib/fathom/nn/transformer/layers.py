"""Transformer layers: fairseq's parameters, our residual connections.

They compute on packed states (nn/packing.py), (1, rows, D), where only attention needs to know
which rows are a sentence. fairseq's own `forward` is not used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.io.fairseq_files import fairseq_files
from fathom.nn.attention import PackedAttention, attend_packed
from fathom.nn.cpu import dropout, linear
from fathom.nn.hooks import PARTS
from fathom.nn.packing import Packing
from fathom.nn.stack import Residual

with fairseq_files():
    from fairseq.models.transformer.transformer_config import (
        DecoderConfig,
        EncDecBaseConfig,
        QuantNoiseConfig,
        TransformerConfig,
    )
    from fairseq.modules.transformer_layer import (
        TransformerDecoderLayerBase,
        TransformerEncoderLayerBase,
    )


def _attention(name: str) -> dict[str, str]:
    projections = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
    paths = {place: f"{name}.{projection}" for place, projection in projections.items()}
    return {**paths, "norm": f"{name}_layer_norm"}


# Where fairseq's layers have the modules of each sub-layer.
MODULES = {
    "self_attention": _attention("self_attn"),
    "cross_attention": _attention("encoder_attn"),
    "ffn": {"first": "fc1", "second": "fc2", "norm": "final_layer_norm"},
}


@dataclass(frozen=True)
class PackedPass:
    """One pass through the layers of a stack.

    fairseq's types of its modules do not know their weights, so modules are of any type.
    """

    packing: Packing  # of the hidden states
    precision: str  # of matrix products
    causal: bool = False  # whether a token sees no later one
    memory: Packing | None = None  # of what a decoder attends to
    rows_by_task: Mapping[int, int] | None = None  # None if only the device knows

    def linear(self, module: nn.Linear, x: Tensor) -> Tensor:
        """Return what a linear module computes, (1, rows, out) of (1, rows, in)."""
        return linear(x, module.weight, module.bias, self.precision)

    def dropout(self, module: Any, x: Tensor) -> Tensor:
        """Return x after dropout with a module's probability, in training."""
        return dropout(x, module.p, module.training)

    def functions(self, layer: Any) -> dict[str, Callable[[Tensor], Tensor]]:
        """Return what the sub-layers compute that the layers of both stacks have."""
        return {
            "self_attention": partial(self.self_attention, layer.self_attn),
            "ffn": partial(self.feed_forward, layer),
        }

    def self_attention(self, attention: Any, y: Tensor) -> Tensor:
        """Return the self-attention of y; both are (1, rows, D)."""
        q, k, v = self._fused(y, attention.q_proj, attention.k_proj, attention.v_proj)
        return self._attend(attention, (q, k, v), self.packing, self.causal)

    def memory_attention(self, attention: Any, memory: Tensor, y: Tensor) -> Tensor:
        """Return the attention of y, (1, rows, D), to a memory (1, source rows, D)."""
        if self.memory is None:
            raise RuntimeError("a pass without a memory cannot attend to one")
        k, v = self._fused(memory, attention.k_proj, attention.v_proj)
        return self._attend(attention, (self.linear(attention.q_proj, y), k, v), self.memory, False)

    def feed_forward(self, layer: Any, y: Tensor) -> Tensor:
        """Return W2 activation(W1 y) with a layer's weights; both are (1, rows, D)."""
        hidden = layer.activation_fn(self.linear(layer.fc1, y))
        return self.linear(layer.fc2, self.dropout(layer.activation_dropout_module, hidden))

    def _fused(self, x: Tensor, *modules: nn.Linear) -> tuple[Tensor, ...]:
        """Apply several linear layers to one input in a single matmul."""
        weight = torch.cat([module.weight for module in modules])
        bias = torch.cat([module.bias for module in modules])
        return linear(x, weight, bias, self.precision).chunk(len(modules), dim=-1)

    def _attend(
        self, attention: Any, projected: tuple[Tensor, Tensor, Tensor], keys: Packing, causal: bool
    ) -> Tensor:
        p = attention.dropout_module.p if attention.training else 0.0
        this = PackedAttention(attention.num_heads, self.packing, keys, causal, p)
        y = attend_packed(*projected, this)
        return self.linear(attention.out_proj, y)


def fairseq_config(model: Model) -> TransformerConfig:
    """Return fairseq's configuration of one layer."""
    config = TransformerConfig()
    # By default these three fields are classes, which all configurations of a process would share.
    config.encoder, config.decoder = EncDecBaseConfig(), DecoderConfig()
    config.quant_noise = QuantNoiseConfig()
    for stack in (config.encoder, config.decoder):
        stack.embed_dim = model.width
        # A Transformer without a width is refused when its settings are read.
        stack.ffn_embed_dim = cast(int, model.ffn)
        stack.attention_heads = model.heads
        stack.normalize_before = model.norm != "post"
    config.activation_fn = model.activation
    config.dropout = model.dropout
    config.attention_dropout = model.attention_dropout
    config.activation_dropout = model.activation_dropout
    return config


class _SubLayers(nn.Module):
    """Where a layer is normalised, and how its sub-layers are added; the rest is fairseq's.

    With y = LN(x):

        pre          x + SubLayer(y)
        post         LN(x + SubLayer(x))
        lingvo       y + Attention(y), x + FFN(y): the attention's skip path is normalised
        none         x + SubLayer(x)
    """

    # fairseq's layers, which are the other base, set these.
    dropout_module: nn.Module
    activation_dropout_module: nn.Module
    activation_fn: Callable[[Tensor], Tensor]
    fc1: nn.Module
    fc2: nn.Module
    parts: tuple[str, ...]  # the sub-layers, in their order

    def __init__(self, model: Model, residual: Residual):
        with fairseq_files():
            super().__init__(fairseq_config(model))
        self.residual, self.norm = residual, model.norm
        # fairseq's GELU leaves half precision and comes back.
        self.activation_fn = getattr(torch.nn.functional, model.activation)
        if model.norm == "none":
            for name, _ in list(self.named_children()):
                if name.endswith("layer_norm"):
                    setattr(self, name, nn.Identity())

    def modules_by_name(self) -> dict[str, nn.Module]:
        """Return the modules of the sub-layers, as `Method.initialise` names them."""
        places = ((part, *each) for part in self.parts for each in MODULES[part].items())
        return {f"{part}.{name}": self.get_submodule(path) for part, name, path in places}

    def run(
        self,
        x: Tensor,
        functions: Mapping[str, Callable[[Tensor], Tensor]],
        drop: Callable[[Tensor], Tensor] | None = None,
    ) -> Tensor:
        """Return the layer's output for x, (1, rows, D), as what each sub-layer computes of it.

        `drop` is the dropout of a sub-layer's output; None for fairseq's.
        """
        for part in self.parts:
            x = self._add(part, x, functions[part], drop or self.dropout_module)
        return x

    def _add(
        self,
        part: str,
        x: Tensor,
        function: Callable[[Tensor], Tensor],
        drop: Callable[[Tensor], Tensor],
    ) -> Tensor:
        """Return x with the output of a sub-layer."""
        norm = getattr(self, MODULES[part]["norm"])
        if self.norm == "post":
            return norm(self.residual(part, x, drop(function(x))))
        y = norm(x)
        skip = y if self.norm == "lingvo" and part != "ffn" else x
        return self.residual(part, skip, drop(function(y)))

    def feed_forward(self, x: Tensor) -> Tensor:
        """Return W2 activation(W1 x), of the shape of x."""
        return self.fc2(self.activation_dropout_module(self.activation_fn(self.fc1(x))))


class EncoderLayer(_SubLayers, TransformerEncoderLayerBase):
    """One encoder layer."""

    parts = PARTS["encoder"]

    def forward(self, x: Tensor, this: PackedPass) -> Tensor:
        """Return the layer's output for packed hidden states; both are (1, rows, D)."""
        return self.run(x, this.functions(self), partial(this.dropout, self.dropout_module))


class DecoderLayer(_SubLayers, TransformerDecoderLayerBase):
    """One decoder layer."""

    parts = PARTS["decoder"]
    encoder_attn: nn.Module

    def forward(self, x: Tensor, memory: Tensor, this: PackedPass) -> Tensor:
        """Return the layer's output for x, (1, rows, D) each, and a memory (1, source rows, D)."""
        attend = partial(this.memory_attention, self.encoder_attn, memory)
        functions = this.functions(self) | {"cross_attention": attend}
        return self.run(x, functions, partial(this.dropout, self.dropout_module))
