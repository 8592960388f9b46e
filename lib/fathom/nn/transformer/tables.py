"""Embeddings, positions, output projection and last norm of a stack."""

from typing import Any

from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.packing import Packing
from fathom.nn.stack import Vocabulary

# Sinusoids are made for this many positions at first, and for more when a sentence needs them.
POSITIONS = 1024


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


def packed_positions(table: Any, packing: Packing) -> Tensor:
    """Return the position embedding of each row, (rows, D).

    Args:
        table: fairseq's, from tokens (B, T) to the embeddings of their positions, (B, T, D).
        packing: where the rows come from.
    """
    # A sentence without padding has every position once.
    whole = packing.positions.new_full((1, packing.width), table.padding_idx + 1)
    return table(whole)[0].index_select(0, packing.positions)
