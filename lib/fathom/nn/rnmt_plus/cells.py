"""The LSTM cells and the attention of RNMT+, as in its published code (lingvo).

The cells have normalised gates (LayerNormalizedLSTMCellSimple). The attention has additive scores
(Bahdanau et al., 2015) inside each of several heads (MultiHeadedAttention around
AdditiveAttention): the heads share the score's weights, and the projected source gives both keys
and values.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

# The bound of a cell's state, and the epsilon of its layer norm.
CLIP, EPSILON = 10.0, 1e-8
# Matrices are initialised uniformly in ±INIT.
INIT = 0.04
GATES = 4

Carried = tuple[Tensor, Tensor]


def step(a: Tensor, c: Tensor, scale: Tensor, bias: Tensor) -> Carried:
    """Return one step of the cell: its output m and its state c, (…, cell) each.

        i, g, f, o = LN(a), each gate over its own units
        c = σ(f) c_before + σ(g) tanh(i), clipped to ±10
        m = σ(o) c

    There is no tanh on the output, so |m| can exceed 1. a is [x; m_before] W, (…, 4 · cell):
    candidate, input gate, forget gate, output gate. c is the state of the previous step. The norm
    has a scale and a bias, (…, 4, cell); there is no other bias.
    """
    normal = functional.layer_norm(a.unflatten(-1, (GATES, -1)), scale.shape[-1:], eps=EPSILON)
    gates = normal * scale + bias
    candidate = torch.tanh(gates[..., 0, :])
    input_gate, forget_gate, output_gate = torch.sigmoid(gates[..., 1:, :]).unbind(-2)
    c = torch.clamp(forget_gate * c + input_gate * candidate, -CLIP, CLIP)
    return output_gate * c, c


def flip_backward(directions: Sequence[Tensor]) -> list[Tensor]:
    """Return time-first tensors, all but the first with their steps in reverse order."""
    return [steps.flip(0) if number else steps for number, steps in enumerate(directions)]


def start(x: Tensor, size: Sequence[int]) -> Carried:
    """Return m and c before the first step, zeros of a size."""
    # In training they ask for a gradient, as those of later steps: a compiler then needs no graph
    # for the first step.
    grad = torch.is_grad_enabled()
    return x.new_zeros(size, requires_grad=grad), x.new_zeros(size, requires_grad=grad)


class LstmLayer(nn.Module):
    """One LSTM over a sentence, or two, of which the second starts at its end.

    The matrix of [x; m_before] is (directions, inputs + cell, 4 · cell); scale and bias of the
    gates' norms are (directions, 4, cell).
    """

    def __init__(self, inputs: int, cell: int, directions: int):
        super().__init__()
        self.inputs, self.cell, self.directions = inputs, cell, directions
        self.weight = nn.Parameter(torch.empty(directions, inputs + cell, GATES * cell))
        self.scale = nn.Parameter(torch.ones(directions, GATES, cell))
        self.bias = nn.Parameter(torch.zeros(directions, GATES, cell))
        nn.init.uniform_(self.weight, -INIT, INIT)

    def forward(
        self, x: Tensor, padding: Tensor | None = None, before: Carried | None = None
    ) -> tuple[Tensor, Carried]:
        """Return the outputs, (T, B, directions · cell), and the state after the last step.

        Padding does not change the state, so the direction that reads backwards starts at each
        sentence's last real position. `padding`, (T, B), is None if it comes last in the reading
        order. `before` are m and c of an earlier step, (directions, B, cell) each; None for zeros.
        """
        # One product gives the input's part of all steps; only the recurrent part is sequential.
        parts = flip_backward([x @ weight[: self.inputs] for weight in self.weight])
        steps = torch.stack(parts, dim=1)
        recurrent = self.weight[:, self.inputs :].to(steps.dtype).contiguous()
        scale, bias = self.scale[:, None], self.bias[:, None]
        m, c = before or start(x, (self.directions, x.size(1), self.cell))
        stops: Sequence[Tensor | None] = [None] * len(steps)
        if padding is not None:
            stop = torch.stack(flip_backward([padding] * self.directions), dim=1)
            stops = stop.unsqueeze(-1).unbind()
        outputs = []
        for a, stop in zip(steps.unbind(), stops, strict=True):
            m, c = self.advance(a, m, c, recurrent, scale, bias, stop)
            outputs.append(m)
        return torch.cat(flip_backward(torch.stack(outputs).unbind(1)), dim=-1), (m, c)

    @staticmethod
    def advance(
        a: Tensor,
        m: Tensor,
        c: Tensor,
        recurrent: Tensor,
        scale: Tensor,
        bias: Tensor,
        stop: Tensor | None,
    ) -> Carried:
        """Return m and c after one step, (directions, B, cell) each; a compiler takes it whole.

        a is the input's part, (directions, B, 4 · cell), and `recurrent` the matrix of m,
        (directions, cell, 4 · cell). m and c stay where `stop`, (directions, B, 1), is true.
        """
        new_m, new_c = step(torch.baddbmm(a, m.to(a.dtype), recurrent), c, scale, bias)
        if stop is None:
            return new_m, new_c
        return torch.where(stop, m, new_m), torch.where(stop, c, new_c)


class PreparedSource(NamedTuple):
    """A batch of sources, prepared once for all queries: H heads of k = c / H units."""

    keys: Tensor  # (B, 1, H, S, k) Ws s
    values: Tensor  # (B, 1, H, S, k) the projected source s
    blocked: Tensor  # (B, 1, 1, S) is added to the scores: 0, or −∞ at padding
    # (B, 1, H, S) dropout of the weights, the same at all steps; None without dropout.
    mask: Tensor | None


def attend(query: Tensor, source: PreparedSource, v: Tensor) -> Tensor:
    """Return each head's context, (B, K, H, k): Σ_s softmax_s(v · tanh(Ws s + Wq q)) s.

    The query is Wq q, (B, K, H, k), of K queries to each source; the heads share v, (k,).
    """
    scores = torch.tanh(source.keys + query.unsqueeze(3)) @ v  # (B, K, H, S)
    weights = torch.softmax(scores + source.blocked, dim=-1)
    if source.mask is not None:
        weights = weights * source.mask
    return (weights.unsqueeze(3).to(source.values.dtype) @ source.values).squeeze(3)


class AdditiveAttention(nn.Module):
    """Attention with additive scores; the output is not projected."""

    def __init__(self, width: int, heads: int, dropout: float):
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

    def prepare(self, memory: Tensor, padding: Tensor) -> PreparedSource:
        """Return sources, (S, B, c), ready for queries, in training with a new draw of dropout."""
        split = self.source_projection(memory).unflatten(-1, (self.heads, -1))
        values = split.permute(1, 2, 0, 3).contiguous().unsqueeze(1)  # (B, 1, H, S, k)
        blocked = values.new_zeros(padding.shape).masked_fill(padding, -torch.inf)[:, None, None]
        mask = None
        if self.training and self.dropout:
            mask = functional.dropout(torch.ones_like(values[..., 0]), self.dropout)
        return PreparedSource(values @ self.source_score, values, blocked, mask)

    def forward(self, query: Tensor, source: PreparedSource) -> Tensor:
        """Return the context (B · K, c) of K queries (B · K, c) to each source."""
        sources = len(source.keys)
        split = self.query_projection(query).view(sources, -1, self.heads, source.keys.size(-1))
        return attend(split @ self.query_score, source, self.v).flatten(2).flatten(0, 1)
