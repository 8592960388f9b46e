"""The attention of RNMT+: additive scores (Bahdanau et al., 2015) inside each of several heads.

The heads share the score's weights, and the projected source gives both keys and values, as in the
published code of RNMT+: lingvo's MultiHeadedAttention around its AdditiveAttention.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


class Source(NamedTuple):
    """A batch of sources, prepared once for all queries: H heads of k = c / H units.

    Attributes:
        keys: (B, 1, H, S, k) Ws s.
        values: (B, 1, H, S, k) the projected source s.
        blocked: (B, 1, 1, S) is added to the scores: 0, or −∞ at padding.
        mask: (B, 1, H, S) dropout of the weights, the same at all steps; None without dropout.
    """

    keys: Tensor
    values: Tensor
    blocked: Tensor
    mask: Tensor | None


def attend(query: Tensor, source: Source, v: Tensor) -> Tensor:
    """Return each head's context, (B, K, H, k): Σ_s softmax_s(v · tanh(Ws s + Wq q)) s.

    Args:
        query: (B, K, H, k) Wq q of K queries to each source.
        source: what the queries attend to.
        v: (k,) the score's direction, shared by the heads.
    """
    scores = torch.tanh(source.keys + query.unsqueeze(3)) @ v  # (B, K, H, S)
    weights = torch.softmax(scores + source.blocked, dim=-1)
    if source.mask is not None:
        weights = weights * source.mask
    return (weights.unsqueeze(3).to(source.values.dtype) @ source.values).squeeze(3)


class AdditiveAttention(nn.Module):
    """Attention with additive scores; the output is not projected."""

    def __init__(self, width: int, heads: int, dropout: float):
        """Build the attention.

        Args:
            width: units of source, query and context, c.
            heads: H, a divisor of the width.
            dropout: probability of dropping a weight.
        """
        super().__init__()
        self.heads, self.dropout, part = heads, dropout, width // heads
        self.source_projection = nn.Linear(width, width)
        self.query_projection = nn.Linear(width, width)
        self.source_score = nn.Parameter(torch.empty(part, part))
        self.query_score = nn.Parameter(torch.empty(part, part))
        self.v = nn.Parameter(torch.empty(part))
        # Initialised as in the published code, unlike all other matrices.
        for projection in (self.source_projection, self.query_projection):
            nn.init.xavier_uniform_(projection.weight)
            nn.init.zeros_(projection.bias)
        for score in (self.source_score, self.query_score, self.v):
            nn.init.normal_(score, std=part**-0.5)

    def prepare(self, memory: Tensor, padding: Tensor) -> Source:
        """Return sources ready for queries, in training with a new draw of the dropout.

        Args:
            memory: (S, B, c) the sources.
            padding: (B, S) true at padding.
        """
        split = self.source_projection(memory).unflatten(-1, (self.heads, -1))
        values = split.permute(1, 2, 0, 3).contiguous().unsqueeze(1)  # (B, 1, H, S, k)
        blocked = values.new_zeros(padding.shape).masked_fill(padding, -torch.inf)[:, None, None]
        mask = None
        if self.training and self.dropout:
            mask = functional.dropout(torch.ones_like(values[..., 0]), self.dropout)
        return Source(values @ self.source_score, values, blocked, mask)

    def forward(self, query: Tensor, source: Source) -> Tensor:
        """Return the context of each query, (B · K, c).

        Args:
            query: (B · K, c) K queries to each source, which follow each other.
            source: from `prepare`.
        """
        sources = len(source.keys)
        split = self.query_projection(query).view(sources, -1, self.heads, source.keys.size(-1))
        return attend(split @ self.query_score, source, self.v).flatten(2).flatten(0, 1)
