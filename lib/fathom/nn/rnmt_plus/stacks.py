"""The encoder and the decoder of RNMT+.

The encoder is bidirectional, and the last layer's output is projected. In the decoder the first
layer queries the source, and all others read its context.
"""

from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method
from fathom.nn.rnmt_plus.cells import (
    INIT,
    AdditiveAttention,
    LstmLayer,
    PreparedSource,
    start,
    step,
)
from fathom.nn.stack import DictionaryLike, Observer, Residual, residual, run_layers

# The first layer, from 0, whose input is added to its output.
FIRST_RESIDUAL = 2
# Sentences may have any length; the search wants a number.
LONGEST = 100_000


class BidirectionalLayer(nn.Module):
    """One encoder layer, which concatenates the outputs of both directions."""

    def __init__(self, inputs: int, model: Model, residual: Residual):
        super().__init__()
        self.lstm = LstmLayer(inputs, model.width, directions=2)
        self.dropout = nn.Dropout(model.dropout)
        self.residual = residual

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Return the layer's output for x; both are (S, B, 2c), and `padding` is (S, B)."""
        y, _ = self.lstm(x[..., : self.lstm.inputs], padding)
        return self.residual("recurrence", x, self.dropout(y))


class RnmtEncoder(nn.Module):
    """A stack of bidirectional layers, and the projection of its output.

    Every tensor between layers is 2c wide. The embeddings are repeated to that width, so that a
    method can use them in place of the first layer's output; the first layer reads one copy. An
    `observer` is called with the embeddings and each layer's output, (S, B, 2c) each.
    """

    def __init__(self, model: Model, dictionary: DictionaryLike, method: Method):
        super().__init__()
        self.dictionary, self.method = dictionary, method
        self.observer: Observer | None = None
        self.embed_tokens = recurrent_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        inputs = [model.width, *[2 * model.width] * (model.encoder_layers - 1)]
        self.layers = nn.ModuleList(
            BidirectionalLayer(units, model, recurrent_residual(model, method, layer))
            for layer, units in enumerate(inputs)
        )
        self.projection = nn.Linear(2 * model.width, model.width)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def forward(self, source: Tensor, tasks: Tensor) -> Tensor:
        """Return the one memory that the decoder attends to, (S, B, c), of sources (B, S)."""
        padding = source.eq(self.dictionary.pad()).t()
        self.method.begin(tasks)
        x = self.dropout(self.embed_tokens(source)).transpose(0, 1)  # (S, B, c)
        outputs = [torch.cat([x, x], dim=-1)]  # (S, B, 2c)
        run_layers(self.method, self.layers, outputs, lambda _, layer, x: layer(x, padding))
        if self.observer:
            self.observer(outputs)
        (memory,) = self.method.memory(outputs, 1)
        return self.projection(memory)


def recurrent_table(vocabulary: DictionaryLike, width: int) -> nn.Embedding:
    """Return a table of embeddings (V, c), uniform, zero at padding; they are not scaled."""
    table = nn.Embedding(len(vocabulary), width, padding_idx=vocabulary.pad())
    nn.init.uniform_(table.weight, -INIT, INIT)
    nn.init.zeros_(table.weight[vocabulary.pad()])
    return table


def recurrent_residual(model: Model, method: Method, layer: int) -> Residual:
    """Return how a layer adds its output to its input; the first two layers do not."""
    if layer < FIRST_RESIDUAL:
        return lambda part, x, fx: fx
    return residual(model, method, layer)


@dataclass
class RnmtPass:
    """What the layers of one forward pass share."""

    source: PreparedSource  # what the first layer attends to
    past: dict[str, Tensor]  # what a later step needs, by name, (B, …) each; empty at first
    contexts: Tensor = field(init=False)  # (T, B, c) of all steps, set by the first layer


class QueryLayer(nn.Module):
    """The first layer: it reads the previous step's context, and its output queries this step's.

    Its output has no dropout.
    """

    def __init__(self, model: Model):
        super().__init__()
        self.lstm = LstmLayer(2 * model.width, model.width, directions=1)
        self.attention = AdditiveAttention(model.width, model.heads, model.attention_dropout)

    def forward(self, x: Tensor, shared: RnmtPass) -> Tensor:
        """Return the layer's output for embeddings x, (T, B, c), and store the contexts.

        Each step needs the context of the previous one, so the steps are computed one by one.
        """
        width, source, past = x.size(-1), shared.source, shared.past
        (weight,), (scale,), (bias,) = self.lstm.weight, self.lstm.scale, self.lstm.bias
        # The matrix's rows belong to [x; context before; m before].
        steps = x @ weight[:width]
        recurrent = weight[width:].to(steps.dtype)
        m, c = (past["m0"], past["c0"]) if past else start(x, x.shape[1:])
        context = past["context"] if past else self.attention(m, source)
        outputs, contexts = [], []
        for a in steps.unbind():
            m, c, context = self.advance(a, m, c, context, recurrent, scale, bias, source)
            outputs.append(m)
            contexts.append(context)
        past |= {"m0": m, "c0": c, "context": context}
        shared.contexts = torch.stack(contexts)
        return torch.stack(outputs)

    def advance(
        self,
        a: Tensor,
        m: Tensor,
        c: Tensor,
        context: Tensor,
        recurrent: Tensor,
        scale: Tensor,
        bias: Tensor,
        source: PreparedSource,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return m, c and the context after one step, (B, c) each; a compiler takes it whole.

        a is the embedding's part, (B, 4c), and `recurrent` the matrix of [context; m], (2c, 4c).
        """
        carried = torch.cat([context, m], dim=-1).to(a.dtype)
        m, c = step(torch.addmm(a, carried, recurrent), c, scale, bias)
        return m, c, self.attention(m, source)


class ContextLayer(nn.Module):
    """A layer above the first: it reads the layer below and the context of the same step."""

    def __init__(self, model: Model, residual: Residual, number: int):
        super().__init__()
        self.lstm = LstmLayer(2 * model.width, model.width, directions=1)
        self.dropout = nn.Dropout(model.dropout)
        self.residual, self.number = residual, number  # from 0, part of the names of its state

    def forward(self, x: Tensor, shared: RnmtPass) -> Tensor:
        """Return the layer's output for hidden states x; both are (T, B, c)."""
        m, c, past = f"m{self.number}", f"c{self.number}", shared.past
        before = (past[m][None], past[c][None]) if m in past else None
        y, (last_m, last_c) = self.lstm(torch.cat([x, shared.contexts], dim=-1), before=before)
        past |= {m: last_m[0], c: last_c[0]}
        return self.residual("recurrence", x, self.dropout(y))


class RnmtDecoder(nn.Module):
    """A stack of layers, and the projection of output and context to the target vocabulary.

    An `observer` is called with the embeddings and each layer's output, (T, B, c) each.
    """

    def __init__(self, model: Model, dictionary: DictionaryLike, method: Method):
        super().__init__()
        self.method = method
        self.observer: Observer | None = None
        self.embed_tokens = recurrent_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList([QueryLayer(model)])
        self.layers.extend(
            ContextLayer(model, recurrent_residual(model, method, layer), layer)
            for layer in range(1, model.decoder_layers)
        )
        entries = len(dictionary)
        self.output_projection = nn.Linear(2 * model.width, entries, bias=model.output_bias)
        nn.init.uniform_(self.output_projection.weight, -INIT, INIT)
        if model.output_bias:
            nn.init.zeros_(self.output_projection.bias)

    def forward(
        self, previous_target: Tensor, memory: Tensor, padding: Tensor, tasks: Tensor
    ) -> Tensor:
        """Return what is projected to logits, (B, T, 2c), with teacher forcing.

        Of the targets (B, T), shifted by one; memory is (S, B, c), and padding (B, S) the source's.
        """
        shared = self.start_pass(memory, padding)
        self.method.begin(tasks)
        return self.run(previous_target, shared).transpose(0, 1)

    def run(self, tokens: Tensor, shared: RnmtPass) -> Tensor:
        """Return the stack's output next to the context, (T, B, 2c), of tokens (B, T)."""
        outputs = [self.dropout(self.embed_tokens(tokens)).transpose(0, 1)]  # (T, B, c)
        # The first layer computes the contexts that all others read.
        run_layers(
            self.method, self.layers, outputs, lambda _, layer, x: layer(x, shared), always={0}
        )
        if self.observer:
            self.observer(outputs)
        x = self.method.source(len(self.layers), outputs)
        return torch.cat([x, shared.contexts], dim=-1)

    def start_pass(self, memory: Tensor, padding: Tensor) -> RnmtPass:
        """Return what the layers share at the first step, with the source prepared."""
        attention = cast(QueryLayer, self.layers[0]).attention
        return RnmtPass(attention.prepare(memory, padding), {})

    def max_positions(self) -> int:
        """Return a length that is longer than any target (pieces)."""
        return LONGEST
