"""The Transformer's encoder."""

import math
from collections.abc import Callable
from typing import Any

from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method
from fathom.nn.stack import (
    Memory,
    Observer,
    Vocabulary,
    apply_once,
    reordered,
    residual,
    run_layers,
    tasks_of,
)
from fathom.nn.transformer.layers import EncoderLayer
from fathom.nn.transformer.packed import PackedPass
from fathom.nn.transformer.tables import (
    embedding_table,
    final_norm,
    packed_positions,
    position_table,
)


class Encoder(FairseqEncoder):
    """A stack of encoder layers.

    Attributes:
        task: the task of every sentence if a call gives none (generation).
        observer: if set, called with the embeddings and each layer's output, (S, B, D)
            each, or packed, (1, rows, D).
        memories: how many memories the decoder attends to, M.
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
        self.memories = model.decoder_layers
        self.embed_scale = math.sqrt(model.width)
        self.embed_tokens = embedding_table(dictionary, model.width)
        self.embed_positions = position_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            EncoderLayer(model, residual(model, method, layer))
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
            tasks: (B,) the task of each sentence; None takes the one of `for_task`.

        Returns:
            "encoder_out": what each decoder layer attends to, (S, B, D) each;
            "encoder_padding_mask": one tensor (B, S), true at padding.
        """
        padding = src_tokens.eq(self.dictionary.pad())
        self.method.begin(tasks_of(src_tokens, tasks, self.task))
        x = self.embed(src_tokens, self.embed_positions(src_tokens))
        x = self.dropout(x).transpose(0, 1)  # (S, B, D)
        memories = self.run(x, lambda _, layer, x: layer(x, padding))
        return {"encoder_out": memories, "encoder_padding_mask": [padding]}

    def packed(self, src_tokens: Tensor, tasks: Tensor, this: PackedPass) -> list[Tensor]:
        """Return what each decoder layer attends to, (1, rows, D) each.

        Args:
            src_tokens: (B, S) right-padded.
            tasks: (B,) the task of each sentence.
            this: the pass, with the packing of the batch.
        """
        self.method.begin(this.packing.of_tokens(tasks))
        tokens = this.packing.of_ids(src_tokens, self.dictionary.pad())
        x = self.embed(tokens, packed_positions(self.embed_positions, this.packing))
        x = this.dropout(self.dropout, x.unsqueeze(0))
        return self.run(x, lambda _, layer, x: layer.packed(x, this))

    def run(self, x: Tensor, call: Callable[[int, Any, Tensor], Tensor]) -> list[Tensor]:
        """Return what each decoder layer attends to, of the shape of x.

        Args:
            x: (S, B, D) the embeddings, or packed, (1, rows, D).
            call: (number, layer, x) → the layer's output.
        """
        outputs = [x]
        run_layers(self.method, self.layers, outputs, call)
        if self.observer:
            self.observer(outputs)
        return apply_once(self.layer_norm, self.method.memory(outputs, self.memories))

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (…, D).

        Args:
            tokens: (…).
            positions: (…, D) the embeddings of their positions.
        """
        return self.embed_scale * self.embed_tokens(tokens) + positions

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Return the sentences of an encoded batch whose indices are in `new_order`."""
        return reordered(encoder_out, new_order)

    def max_positions(self) -> int:
        """Return the longest source that has positions (pieces)."""
        return self.embed_positions.max_positions
