"""fairseq's layer modules with our joints, and what both stacks are built from."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

import torch
from fairseq.models.transformer import TransformerConfig
from fairseq.models.transformer.transformer_config import (
    DecoderConfig,
    EncDecBaseConfig,
    QuantNoiseConfig,
)
from fairseq.modules import SinusoidalPositionalEmbedding
from fairseq.modules.transformer_layer import (
    TransformerDecoderLayerBase,
    TransformerEncoderLayerBase,
)
from torch import Tensor, nn

from fathom.models.hooks import Method
from fathom.runs.spec import Model

Joint = Callable[[str, Tensor, Tensor], Tensor]
State = dict[str, dict[str, Tensor | None]]

# The sinusoids grow when a longer sentence comes; this many are made at once.
POSITIONS = 1024


class Vocabulary(Protocol):
    """What a stack asks of a dictionary; fairseq's has it."""

    def __len__(self) -> int:
        """Return the number of entries, V."""

    def pad(self) -> int:
        """Return the padding symbol's index."""


def fairseq_config(model: Model) -> TransformerConfig:
    """Return fairseq's configuration of one layer of this model."""
    config = TransformerConfig()
    # As released, these three fields default to classes that the whole process shares.
    config.encoder, config.decoder = EncDecBaseConfig(), DecoderConfig()
    config.quant_noise = QuantNoiseConfig()
    for stack in (config.encoder, config.decoder):
        stack.embed_dim = model.width
        stack.ffn_embed_dim = model.ffn
        stack.attention_heads = model.heads
        stack.normalize_before = model.norm != "post"
    config.activation_fn = model.activation
    config.dropout = model.dropout
    config.attention_dropout = model.attention_dropout
    config.activation_dropout = model.activation_dropout
    return config


def joint(model: Model, method: Method, layer: int) -> Joint:
    """Return the joint of a layer's sub-layers; without residuals, what it joins to is 0.

    Args:
        model: the network's shape.
        method: of the layer's stack.
        layer: from 0.
    """
    if method.stack.side in model.residuals:
        return partial(method.residual, layer)
    return lambda part, x, fx: method.residual(layer, part, x.new_zeros(()), fx)


class _SubLayers:
    """How a layer's sub-layers are normalised and joined; the sub-layers themselves are fairseq's.

    The normalised vector is y = LN(x), but for "post", which normalises the joint instead:

        pre, post    x + SubLayer(y)
        lingvo       y + Attention(y), x + FFN(y): the attention's skip path is normalised
        none         x + SubLayer(x)
    """

    def prepare(self, model: Model, joint: Joint) -> None:
        self.joint, self.norm = joint, model.norm
        if model.norm == "none":
            for name, _ in list(self.named_children()):
                if name.endswith("layer_norm"):
                    setattr(self, name, nn.Identity())

    def sub_layer(
        self, part: str, norm: nn.Module, x: Tensor, function: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return a sub-layer's output, joined to its input.

        Args:
            part: "self_attention", "cross_attention" or "ffn".
            norm: its layer norm.
            x: (T, B, D) its input.
            function: what it computes, (T, B, D) → (T, B, D).
        """
        if self.norm == "post":
            return norm(self.joint(part, x, self.dropout_module(function(x))))
        y = norm(x)
        skip = y if self.norm == "lingvo" and part != "ffn" else x
        return self.joint(part, skip, self.dropout_module(function(y)))

    def feed_forward(self, x: Tensor) -> Tensor:
        """Return W2 activation(W1 x), (T, B, D)."""
        return self.fc2(self.activation_dropout_module(self.activation_fn(self.fc1(x))))


class EncoderLayer(_SubLayers, TransformerEncoderLayerBase):
    """One encoder layer."""

    def __init__(self, model: Model, joint: Joint):
        """Build the layer.

        Args:
            model: the network's shape.
            joint: (part, x, fx) → the joint of a sub-layer's input and output.
        """
        super().__init__(fairseq_config(model))
        self.prepare(model, joint)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Return the layer's output, (S, B, D).

        Args:
            x: (S, B, D) hidden states.
            padding: (B, S) true at padding.
        """

        def attend(y: Tensor) -> Tensor:
            return self.self_attn(y, y, y, key_padding_mask=padding, need_weights=False)[0]

        x = self.sub_layer("self_attention", self.self_attn_layer_norm, x, attend)
        return self.sub_layer("ffn", self.final_layer_norm, x, self.feed_forward)


class DecoderLayer(_SubLayers, TransformerDecoderLayerBase):
    """One decoder layer."""

    def __init__(self, model: Model, joint: Joint):
        """Build the layer.

        Args:
            model: the network's shape.
            joint: (part, x, fx) → the joint of a sub-layer's input and output.
        """
        super().__init__(fairseq_config(model))
        self.prepare(model, joint)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        memory_padding: Tensor,
        state: State | None,
        future: Tensor | None,
        padding: Tensor | None,
    ) -> Tensor:
        """Return the layer's output, (T, B, D).

        Args:
            x: (T, B, D) hidden states; T is 1 when decoding incrementally.
            memory: (S, B, D) what the layer attends to.
            memory_padding: (B, S) true at padding.
            state: keys and values of earlier positions, when decoding incrementally.
            future: (T, T) true where a position must not look, None when decoding incrementally.
            padding: (B, T) true at padding, None where there is none.
        """

        def attend(y: Tensor) -> Tensor:
            return self.self_attn(
                y,
                y,
                y,
                key_padding_mask=padding,
                incremental_state=state,
                need_weights=False,
                attn_mask=future,
            )[0]

        def look(y: Tensor) -> Tensor:
            return self.encoder_attn(
                y,
                memory,
                memory,
                key_padding_mask=memory_padding,
                incremental_state=state,
                static_kv=True,
                need_weights=False,
            )[0]

        x = self.sub_layer("self_attention", self.self_attn_layer_norm, x, attend)
        x = self.sub_layer("cross_attention", self.encoder_attn_layer_norm, x, look)
        return self.sub_layer("ffn", self.final_layer_norm, x, self.feed_forward)


def embedding_table(vocabulary: Vocabulary, width: int) -> nn.Embedding:
    """Return a table of vectors, normal with deviation D^-½ and zero at padding, as fairseq's is.

    Args:
        vocabulary: the side's dictionary.
        width: D.
    """
    table = nn.Embedding(len(vocabulary), width, padding_idx=vocabulary.pad())
    nn.init.normal_(table.weight, mean=0, std=width**-0.5)
    nn.init.zeros_(table.weight[vocabulary.pad()])
    return table


def output_table(model: Model, embeddings: nn.Embedding) -> nn.Linear:
    """Return the projection to the vocabulary, whose weights may be the embeddings' own.

    Args:
        model: says what is shared, and whether there is a bias.
        embeddings: the target side's, (V, D).
    """
    entries, width = embeddings.weight.shape
    projection = nn.Linear(width, entries, bias=model.output_bias)
    if model.share_embeddings == "none":
        nn.init.normal_(projection.weight, mean=0, std=width**-0.5)
    else:
        projection.weight = embeddings.weight
    if model.output_bias:
        nn.init.zeros_(projection.bias)
    return projection


def position_table(vocabulary: Vocabulary, width: int) -> SinusoidalPositionalEmbedding:
    """Return fairseq's sinusoids, which have no parameters and count from the first real token."""
    first = vocabulary.pad() + 1
    return SinusoidalPositionalEmbedding(width, vocabulary.pad(), init_size=POSITIONS + first)


def final_norm(model: Model) -> nn.Module:
    """Return what ends a stack: a layer norm where layers normalise before, else nothing."""
    return nn.LayerNorm(model.width) if model.norm == "pre" else nn.Identity()


def future_mask(tokens: Tensor) -> Tensor:
    """Return (T, T), true where the row's position must not look: at every later one.

    Args:
        tokens: (B, T) the batch.
    """
    length = tokens.size(1)
    return torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
