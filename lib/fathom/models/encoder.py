"""The encoder: one loop over its layers, with the hooks of a method."""

import math
from collections.abc import Callable, Sequence

from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fathom.models.hooks import Method
from fathom.models.layers import (
    EncoderLayer,
    Vocabulary,
    embedding_table,
    final_norm,
    joint,
    position_table,
)
from fathom.models.network import tasks_of
from fathom.runs.spec import Model

Memory = dict[str, list[Tensor]]
Watch = Callable[[Sequence[Tensor]], None]


class Encoder(FairseqEncoder):
    """A stack of encoder layers.

    Attributes:
        task: the task of every sentence, where a call does not say (generation).
        watch: where it is given, it sees the embeddings and each layer's output, (S, B, D) each.
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
        self.memories = model.decoder_layers
        self.embed_scale = math.sqrt(model.width)
        self.embed_tokens = embedding_table(dictionary, model.width)
        self.embed_positions = position_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            EncoderLayer(model, joint(model, method, layer))
            for layer in range(model.encoder_layers)
        )
        self.layer_norm = final_norm(model)

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
            "encoder_out": what each decoder layer attends to, (S, B, D) each;
            "encoder_padding_mask": one tensor (B, S), true at padding.
        """
        padding = src_tokens.eq(self.dictionary.pad())
        self.method.begin(tasks_of(src_tokens, tasks, self.task))
        outputs = [self.dropout(self.embed(src_tokens)).transpose(0, 1)]  # (S, B, D)
        for number, layer in enumerate(self.layers):
            x = self.method.source(number, outputs)
            if self.method.keep(number):
                y = self.method.block(number, x, layer(x, padding))
                x = self.method.after(number, y)
            outputs.append(x)
        if self.watch:
            self.watch(outputs)
        memories = self.method.memory(outputs, self.memories)
        return {
            "encoder_out": once_each(self.layer_norm, memories),
            "encoder_padding_mask": [padding],
        }

    def embed(self, src_tokens: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (B, S, D), of tokens (B, S)."""
        return self.embed_scale * self.embed_tokens(src_tokens) + self.embed_positions(src_tokens)

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Choose sentences of an encoded batch; `new_order` holds their indices."""
        return reordered(encoder_out, new_order)

    def max_positions(self) -> int:
        """Return the longest source that has positions (pieces)."""
        return self.embed_positions.max_positions


def reordered(encoder_out: Memory, new_order: Tensor) -> Memory:
    """Return chosen sentences of an encoded batch; `new_order` holds their indices."""
    memories, paddings = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
    return {
        "encoder_out": once_each(lambda memory: memory.index_select(1, new_order), memories),
        "encoder_padding_mask": [padding.index_select(0, new_order) for padding in paddings],
    }


def once_each(function: Callable[[Tensor], Tensor], tensors: list[Tensor]) -> list[Tensor]:
    """Apply a function to each tensor, only once to one that stands there many times."""
    distinct = {id(tensor): tensor for tensor in tensors}
    done = {key: function(tensor) for key, tensor in distinct.items()}
    return [done[id(tensor)] for tensor in tensors]
