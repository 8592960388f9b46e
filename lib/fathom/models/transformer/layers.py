"""fairseq's layers with our residual connections, and the other parts of both stacks."""

from collections.abc import Callable
from typing import cast

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

from fathom.models.stack import Residual, State, Vocabulary
from fathom.runs.settings import Model

# Sinusoids are made for this many positions at first, and for more when a sentence needs them.
POSITIONS = 1024


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

    def prepare(self, model: Model, residual: Residual) -> None:
        self.residual, self.norm = residual, model.norm
        if model.norm == "none":
            for name, _ in list(self.named_children()):
                if name.endswith("layer_norm"):
                    setattr(self, name, nn.Identity())

    def sub_layer(
        self, part: str, norm: nn.Module, x: Tensor, function: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return a sub-layer's output, added to its input.

        Args:
            part: "self_attention", "cross_attention" or "ffn".
            norm: its layer norm.
            x: (T, B, D) its input.
            function: what it computes, (T, B, D) → (T, B, D).
        """
        if self.norm == "post":
            return norm(self.residual(part, x, self.dropout_module(function(x))))
        y = norm(x)
        skip = y if self.norm == "lingvo" and part != "ffn" else x
        return self.residual(part, skip, self.dropout_module(function(y)))

    def feed_forward(self, x: Tensor) -> Tensor:
        """Return W2 activation(W1 x), (T, B, D)."""
        return self.fc2(self.activation_dropout_module(self.activation_fn(self.fc1(x))))


class EncoderLayer(_SubLayers, TransformerEncoderLayerBase):
    """One encoder layer."""

    def __init__(self, model: Model, residual: Residual):
        """Build the layer.

        Args:
            model: the network's shape.
            residual: adds a sub-layer's output to its input.
        """
        super().__init__(fairseq_config(model))
        self.prepare(model, residual)

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

    encoder_attn: nn.Module

    def __init__(self, model: Model, residual: Residual):
        """Build the layer.

        Args:
            model: the network's shape.
            residual: adds a sub-layer's output to its input.
        """
        super().__init__(fairseq_config(model))
        self.prepare(model, residual)

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
            state: keys and values of earlier positions when decoding incrementally.
            future: (T, T) true where attention is not allowed; None when decoding incrementally.
            padding: (B, T) true at padding; None if there is none.
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

        def attend_to_memory(y: Tensor) -> Tensor:
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
        x = self.sub_layer("cross_attention", self.encoder_attn_layer_norm, x, attend_to_memory)
        return self.sub_layer("ffn", self.final_layer_norm, x, self.feed_forward)


def embedding_table(vocabulary: Vocabulary, width: int) -> nn.Embedding:
    """Return embeddings (V, D), normal with deviation D^-½ and zero at padding, as in fairseq."""
    table = nn.Embedding(len(vocabulary), width, padding_idx=vocabulary.pad())
    nn.init.normal_(table.weight, mean=0, std=width**-0.5)
    nn.init.zeros_(table.weight[vocabulary.pad()])
    return table


def output_table(model: Model, embeddings: nn.Embedding) -> nn.Linear:
    """Return the projection to the vocabulary; `model` may tie its weights to the embeddings.

    Args:
        model: the network's shape.
        embeddings: of the target, (V, D).
    """
    entries, width = embeddings.weight.shape
    projection = nn.Linear(width, entries, bias=model.output_bias)
    if model.tie_embeddings == "none":
        nn.init.normal_(projection.weight, mean=0, std=width**-0.5)
    else:
        projection.weight = embeddings.weight
    if model.output_bias:
        nn.init.zeros_(projection.bias)
    return projection


def position_table(vocabulary: Vocabulary, width: int) -> SinusoidalPositionalEmbedding:
    """Return fairseq's sinusoids, which have no parameters; positions skip padding."""
    first = vocabulary.pad() + 1
    return SinusoidalPositionalEmbedding(width, vocabulary.pad(), init_size=POSITIONS + first)


def final_norm(model: Model) -> nn.Module:
    """Return what ends a stack: a layer norm with norm "pre", otherwise nothing."""
    return nn.LayerNorm(model.width) if model.norm == "pre" else nn.Identity()


def future_mask(tokens: Tensor) -> Tensor:
    """Return (T, T), true where the column is later than the row, for tokens (B, T)."""
    length = tokens.size(1)
    return torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
