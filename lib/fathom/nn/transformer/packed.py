"""The arithmetic of packed layers, with the weights of fairseq's modules.

Hidden states are (1, rows, D): the real tokens of a batch in the order of its packing
(nn/packing.py). Only attention needs to know which rows are a sentence.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from fathom.nn.attention import attend_packed
from fathom.nn.dropout import dropout
from fathom.nn.packing import Packing
from fathom.nn.products import linear


@dataclass(frozen=True)
class PackedPass:
    """One pass through the layers of a stack.

    fairseq's types of its modules do not know their weights, so modules are of any type.

    Attributes:
        packing: of the hidden states.
        precision: of matrix products.
        causal: whether a token sees no later one.
        memory: the packing of what a decoder attends to.
    """

    packing: Packing
    precision: str
    causal: bool = False
    memory: Packing | None = None

    def linear(self, module: nn.Linear, x: Tensor) -> Tensor:
        """Return what a linear module computes, (1, rows, out) of (1, rows, in)."""
        return linear(x, module.weight, module.bias, self.precision)

    def dropout(self, module: Any, x: Tensor) -> Tensor:
        """Return x after dropout with a module's probability, in training."""
        return dropout(x, module.p, module.training)

    def self_attention(self, attention: Any, y: Tensor) -> Tensor:
        """Return the self-attention of y; both are (1, rows, D).

        Args:
            attention: fairseq's module.
            y: queries, keys and values before their projections.
        """
        q, k, v = self._fused(y, attention.q_proj, attention.k_proj, attention.v_proj)
        return self._attend(attention, (q, k, v), self.packing, self.causal)

    def memory_attention(self, attention: Any, memory: Tensor, y: Tensor) -> Tensor:
        """Return the attention of y to a memory, (1, rows, D).

        Args:
            attention: fairseq's module.
            memory: (1, source rows, D) keys and values before their projections.
            y: (1, rows, D) queries before their projection.
        """
        if self.memory is None:
            raise RuntimeError("a pass without a memory cannot attend to one")
        k, v = self._fused(memory, attention.k_proj, attention.v_proj)
        return self._attend(attention, (self.linear(attention.q_proj, y), k, v), self.memory, False)

    def feed_forward(self, layer: Any, y: Tensor) -> Tensor:
        """Return W2 activation(W1 y) with a layer's weights; both are (1, rows, D)."""
        hidden = layer.activation_fn(self.linear(layer.fc1, y))
        return self.linear(layer.fc2, self.dropout(layer.activation_dropout_module, hidden))

    def _fused(self, x: Tensor, *modules: nn.Linear) -> tuple[Tensor, ...]:
        """Return what several modules compute of one input, by one product."""
        weight = torch.cat([module.weight for module in modules])
        bias = torch.cat([module.bias for module in modules])
        return linear(x, weight, bias, self.precision).chunk(len(modules), dim=-1)

    def _attend(
        self, attention: Any, projected: tuple[Tensor, Tensor, Tensor], keys: Packing, causal: bool
    ) -> Tensor:
        p = attention.dropout_module.p if attention.training else 0.0
        y = attend_packed(*projected, attention.num_heads, self.packing, keys, causal, p)
        return self.linear(attention.out_proj, y)
