"""The encoder of RNMT+: bidirectional layers, and a projection of the last one's output."""

import torch
from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method
from fathom.nn.rnmt_plus.lstm import INIT, LstmLayer
from fathom.nn.stack import (
    Memory,
    Observer,
    Residual,
    Vocabulary,
    reordered,
    residual,
    run_layers,
    tasks_of,
)

# The first layer, from 0, whose input is added to its output.
FIRST_RESIDUAL = 2
# Sentences may have any length; fairseq wants a number.
LONGEST = 100_000


class BidirectionalLayer(nn.Module):
    """One encoder layer, which concatenates the outputs of both directions."""

    def __init__(self, inputs: int, model: Model, residual: Residual):
        """Build the layer.

        Args:
            inputs: how many units it reads, the first ones of its input.
            model: the network's shape.
            residual: adds the layer's output to its input.
        """
        super().__init__()
        self.lstm = LstmLayer(inputs, model.width, directions=2)
        self.dropout = nn.Dropout(model.dropout)
        self.residual = residual

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Return the layer's output, (S, B, 2c).

        Args:
            x: (S, B, 2c) hidden states.
            padding: (S, B) true at padding.
        """
        y, _ = self.lstm(x[..., : self.lstm.inputs], padding)
        return self.residual("recurrence", x, self.dropout(y))


class RnmtEncoder(FairseqEncoder):
    """A stack of bidirectional layers, and the projection of its output.

    Every tensor between layers is 2c wide. The embeddings are repeated to that width, so that a
    method can use them in place of the first layer's output; the first layer reads one copy.

    Attributes:
        task: the task of every sentence if a call gives none (generation).
        observer: if set, called with the embeddings and each layer's output, (S, B, 2c) each.
    """

    def __init__(self, model: Model, dictionary: Vocabulary, method: Method):
        """Build the stack.

        Args:
            model: the network's shape.
            dictionary: of the source.
            method: what changes the layers.
        """
        super().__init__(dictionary)
        self.method = method
        self.task: int | None = None
        self.observer: Observer | None = None
        self.embed_tokens = recurrent_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            BidirectionalLayer(
                2 * model.width if layer else model.width,
                model,
                recurrent_residual(model, method, layer),
            )
            for layer in range(model.encoder_layers)
        )
        self.projection = nn.Linear(2 * model.width, model.width)
        nn.init.xavier_uniform_(self.projection.weight)
        nn.init.zeros_(self.projection.bias)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        tasks: Tensor | None = None,
    ) -> Memory:
        """Encode a batch.

        Args:
            src_tokens: (B, S) right-padded; fairseq's generator passes it by this name.
            src_lengths: not used; fairseq's generator passes it.
            tasks: (B,) the task of each sentence; None takes the one of `for_task`.

        Returns:
            "encoder_out": the one memory that the decoder attends to, (S, B, c);
            "encoder_padding_mask": one tensor (B, S), true at padding.
        """
        padding = src_tokens.eq(self.dictionary.pad())
        steps_padding = padding.t()
        self.method.begin(tasks_of(src_tokens, tasks, self.task))
        x = self.dropout(self.embed_tokens(src_tokens)).transpose(0, 1)  # (S, B, c)
        outputs = [torch.cat([x, x], dim=-1)]  # (S, B, 2c)
        run_layers(self.method, self.layers, outputs, lambda _, layer, x: layer(x, steps_padding))
        if self.observer:
            self.observer(outputs)
        (memory,) = self.method.memory(outputs, 1)
        return {"encoder_out": [self.projection(memory)], "encoder_padding_mask": [padding]}

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Return the sentences of an encoded batch whose indices are in `new_order`."""
        return reordered(encoder_out, new_order)

    def max_positions(self) -> int:
        """Return a length that is longer than any source (pieces)."""
        return LONGEST


def recurrent_table(vocabulary: Vocabulary, width: int) -> nn.Embedding:
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
