"""The encoder: one loop over its layers, with the hooks of a method."""

import math
from collections.abc import Callable
from functools import partial

from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fathom.catalog.spec import Model
from fathom.models.hooks import Method
from fathom.models.layers import (
    EncoderLayer,
    Vocabulary,
    embedding_table,
    final_norm,
    position_table,
)

Memory = dict[str, list[Tensor]]


class Encoder(FairseqEncoder):
    """A stack of encoder layers.

    Attributes:
        task: the task of every sentence, where a call does not say (generation).
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
        self.memories = model.decoder_layers
        self.embed_scale = math.sqrt(model.width)
        self.embed_tokens = embedding_table(dictionary, model.width)
        self.embed_positions = position_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            EncoderLayer(model, partial(method.residual, layer))
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
        x = self.embed_scale * self.embed_tokens(src_tokens) + self.embed_positions(src_tokens)
        self.method.begin(tasks_of(src_tokens, tasks, self.task))
        outputs = [self.dropout(x).transpose(0, 1)]  # (S, B, D)
        for number, layer in enumerate(self.layers):
            x = self.method.source(number, outputs)
            if self.method.keep(number):
                y = self.method.block(number, x, layer(x, padding))
                x = self.method.after(number, y)
            outputs.append(x)
        memories = self.method.memory(outputs, self.memories)
        return {
            "encoder_out": once_each(self.layer_norm, memories),
            "encoder_padding_mask": [padding],
        }

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Choose sentences of an encoded batch; `new_order` holds their indices."""
        return {
            "encoder_out": once_each(
                lambda memory: memory.index_select(1, new_order), encoder_out["encoder_out"]
            ),
            "encoder_padding_mask": [
                padding.index_select(0, new_order)
                for padding in encoder_out["encoder_padding_mask"]
            ],
        }

    def max_positions(self) -> int:
        """Return the longest source that has positions (pieces)."""
        return self.embed_positions.max_positions


def once_each(function: Callable[[Tensor], Tensor], tensors: list[Tensor]) -> list[Tensor]:
    """Apply a function to each tensor, only once to one that stands there many times."""
    distinct = {id(tensor): tensor for tensor in tensors}
    done = {key: function(tensor) for key, tensor in distinct.items()}
    return [done[id(tensor)] for tensor in tensors]


def tasks_of(tokens: Tensor, tasks: Tensor | None, task: int | None) -> Tensor:
    """Return the task of each sentence, (B,).

    Args:
        tokens: (B, T) the batch.
        tasks: (B,) where the caller knows.
        task: the one task of all sentences, where it does not.

    Raises:
        RuntimeError: neither was given.
    """
    if tasks is not None:
        return tasks
    if task is None:
        raise RuntimeError("give the tasks of the sentences, or call for_task first")
    return tokens.new_full((tokens.size(0),), task)
