"""fairseq's layer modules with our joints, and what both stacks are built from."""

from collections.abc import Callable
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

from fathom.catalog.spec import Model

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
    config.dropout = model.dropout
    config.attention_dropout = model.attention_dropout
    config.activation_dropout = model.activation_dropout
    return config


class _Joints:
    """The joints of a layer's sub-layers: fairseq asks for them in order, without naming them."""

    parts: tuple[str, ...]

    def prepare(self, model: Model, joint: Joint) -> None:
        self.joint, self.residuals, self.joined = joint, model.residuals, 0
        if model.norm == "none":
            for name, _ in list(self.named_children()):
                if name.endswith("layer_norm"):
                    setattr(self, name, nn.Identity())

    def residual_connection(self, x: Tensor, residual: Tensor) -> Tensor:
        """Join a sub-layer's output `x` to its input `residual`, both (T, B, D)."""
        part = self.parts[self.joined]
        self.joined += 1
        return self.joint(part, residual, x) if self.residuals else x


class EncoderLayer(_Joints, TransformerEncoderLayerBase):
    """One encoder layer."""

    parts = ("self_attention", "ffn")

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
        self.joined = 0
        return super().forward(x, padding)


class DecoderLayer(_Joints, TransformerDecoderLayerBase):
    """One decoder layer."""

    parts = ("self_attention", "cross_attention", "ffn")

    def __init__(self, model: Model, joint: Joint):
        """Build the layer.

        Args:
            model: the network's shape.
            joint: (part, x, fx) → the joint of a sub-layer's input and output.
        """
        super().__init__(fairseq_config(model))
        self.prepare(model, joint)
        # Nobody reads the attention weights, and asking for them costs an average over heads.
        self.need_attn = False

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
        self.joined = 0
        return super().forward(
            x,
            memory,
            memory_padding,
            state,
            self_attn_mask=future,
            self_attn_padding_mask=padding,
        )[0]


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
