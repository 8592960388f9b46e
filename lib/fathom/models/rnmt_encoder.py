"""The encoder of RNMT+: one loop over its bidirectional layers, with the hooks of a method."""

import torch
from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fathom.models.encoder import Memory, Watch, reordered
from fathom.models.hooks import Method
from fathom.models.layers import Joint, Vocabulary, joint
from fathom.models.lstm import INIT, LstmLayer
from fathom.models.network import tasks_of
from fathom.runs.spec import Model

# The first layer, from 0, whose input is added to its output.
FIRST_RESIDUAL = 2
# Sentences may have any length; fairseq wants a number.
LONGEST = 100_000


class BidirectionalLayer(nn.Module):
    """One encoder layer: the outputs of both directions side by side."""

    def __init__(self, inputs: int, model: Model, joint: Joint):
        """Build the layer.

        Args:
            inputs: units that it reads, the first of what it is given.
            model: the network's shape.
            joint: (part, x, fx) → the joint of the layer's input and output.
        """
        super().__init__()
        self.lstm = LstmLayer(inputs, model.width, directions=2)
        self.dropout = nn.Dropout(model.dropout)
        self.joint = joint

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        """Return the layer's output, (S, B, 2c).

        Args:
            x: (S, B, 2c) hidden states.
            padding: (S, B) true at padding.
        """
        y, _ = self.lstm(x[..., : self.lstm.inputs], padding)
        return self.joint("recurrence", x, self.dropout(y))


class RnmtEncoder(FairseqEncoder):
    """A stack of bidirectional layers, and the projection of what leaves it.

    Every tensor between layers is 2c wide. So that a method may pass the embeddings on in place of
    the first layer's output, they stand there twice; the first layer reads them once.

    Attributes:
        task: the task of every sentence, where a call does not say (generation).
        watch: where it is given, it sees the embeddings and each layer's output, (S, B, 2c) each.
    """

    def __init__(self, model: Model, dictionary: Vocabulary, method: Method):
        """Build the stack.

        Args:
            model: the network's shape.
            dictionary: the source side's.
            method: what is done to the layers.
        """
        super().__init__(dictionary)
        self.method = method
        self.task: int | None = None
        self.watch: Watch | None = None
        self.embed_tokens = recurrent_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            BidirectionalLayer(
                2 * model.width if layer else model.width,
                model,
                recurrent_joint(model, method, layer),
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
            tasks: (B,) the task of each sentence; without it, the one of `for_task`.

        Returns:
            "encoder_out": the one memory that the decoder attends to, (S, B, c);
            "encoder_padding_mask": one tensor (B, S), true at padding.
        """
        padding = src_tokens.eq(self.dictionary.pad())
        steps_padding = padding.t()
        self.method.begin(tasks_of(src_tokens, tasks, self.task))
        x = self.dropout(self.embed_tokens(src_tokens)).transpose(0, 1)  # (S, B, c)
        outputs = [torch.cat([x, x], dim=-1)]  # (S, B, 2c)
        for number, layer in enumerate(self.layers):
            x = self.method.source(number, outputs)
            if self.method.keep(number):
                y = self.method.block(number, x, layer(x, steps_padding))
                x = self.method.after(number, y)
            outputs.append(x)
        if self.watch:
            self.watch(outputs)
        (memory,) = self.method.memory(outputs, 1)
        return {"encoder_out": [self.projection(memory)], "encoder_padding_mask": [padding]}

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Choose sentences of an encoded batch; `new_order` holds their indices."""
        return reordered(encoder_out, new_order)

    def max_positions(self) -> int:
        """Return a length that no source reaches (pieces)."""
        return LONGEST


def recurrent_table(vocabulary: Vocabulary, width: int) -> nn.Embedding:
    """Return a table of vectors, uniform and zero at padding; nothing scales them.

    Args:
        vocabulary: the side's dictionary.
        width: of a vector, c.
    """
    table = nn.Embedding(len(vocabulary), width, padding_idx=vocabulary.pad())
    nn.init.uniform_(table.weight, -INIT, INIT)
    nn.init.zeros_(table.weight[vocabulary.pad()])
    return table


def recurrent_joint(model: Model, method: Method, layer: int) -> Joint:
    """Return the joint of a layer: from the third on the side's, before it none.

    Args:
        model: the network's shape.
        method: of the layer's stack.
        layer: from 0.
    """
    if layer < FIRST_RESIDUAL:
        return lambda part, x, fx: fx
    return joint(model, method, layer)
