"""The Transformer's decoder."""

import math
from collections.abc import Callable
from typing import Any

from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method
from fathom.nn.stack import (
    Memory,
    Observer,
    State,
    Vocabulary,
    residual,
    run_layers,
    tasks_of,
)
from fathom.nn.transformer.layers import DecoderLayer, future_mask
from fathom.nn.transformer.packed import PackedPass
from fathom.nn.transformer.tables import (
    embedding_table,
    final_norm,
    output_table,
    packed_positions,
    position_table,
)


class Decoder(FairseqIncrementalDecoder):
    """A stack of decoder layers, and the projection to the target vocabulary.

    Attributes:
        task: the task of every sentence if a call gives none (generation).
        observer: if set, called with the embeddings and each layer's output, (T, B, D)
            each, or packed, (1, rows, D).
    """

    def __init__(self, model: Model, dictionary: Vocabulary, method: Method):
        """Build the stack.

        Args:
            model: the network's shape.
            dictionary: of the target.
            method: what changes the layers.
        """
        super().__init__(dictionary)
        self.method = method
        self.task: int | None = None
        self.observer: Observer | None = None
        self.embed_scale = math.sqrt(model.width)
        self.embed_tokens = embedding_table(dictionary, model.width)
        self.embed_positions = position_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList(
            DecoderLayer(model, residual(model, method, layer))
            for layer in range(model.decoder_layers)
        )
        self.layer_norm = final_norm(model)
        self.output_projection = output_table(model, self.embed_tokens)

    def forward(
        self,
        previous_target: Tensor,
        encoder_out: Memory,
        incremental_state: State | None = None,
        tasks: Tensor | None = None,
    ) -> tuple[Tensor, dict[str, list[None]]]:
        """Decode a batch with teacher forcing, or its last position incrementally.

        Args:
            previous_target: (B, T) the target shifted by one, right-padded.
            encoder_out: what the encoder returned; fairseq's generator passes it by this name.
            incremental_state: keys and values of earlier positions; then only the last is decoded.
            tasks: (B,) the task of each sentence; None takes the one of `for_task`.

        Returns:
            The logits, (B, T, V) or (B, 1, V), and that there are no attention weights.
        """
        memories = encoder_out["encoder_out"]
        memory_padding = encoder_out["encoder_padding_mask"][0]
        positions = self.embed_positions(previous_target, incremental_state=incremental_state)
        if incremental_state is None:
            tokens, future = previous_target, future_mask(previous_target)
            padding = previous_target.eq(self.dictionary.pad())
        else:
            tokens, future, padding = previous_target[:, -1:], None, None
        x = self.embed(tokens, positions)
        self.method.begin(tasks_of(previous_target, tasks, self.task))
        x = self.dropout(x).transpose(0, 1)  # (T, B, D)

        def call(number: int, layer: nn.Module, x: Tensor) -> Tensor:
            return layer(x, memories[number], memory_padding, incremental_state, future, padding)

        return self.output_projection(self.run(x, call).transpose(0, 1)), {"attn": [None]}

    def packed(
        self, previous_target: Tensor, memories: list[Tensor], tasks: Tensor, this: PackedPass
    ) -> Tensor:
        """Return the logits of the real targets in the order of the batch, with teacher forcing.

        They are (n, V); n is the number of targets, rounded up.

        Args:
            previous_target: (B, T) the target shifted by one, right-padded.
            memories: (1, source rows, D) for each layer, from the encoder's `packed`.
            tasks: (B,) the task of each sentence.
            this: the pass, with the packings of both sides.
        """
        self.method.begin(this.packing.of_tokens(tasks))
        tokens = this.packing.of_ids(previous_target, self.dictionary.pad())
        x = self.embed(tokens, packed_positions(self.embed_positions, this.packing))
        x = this.dropout(self.dropout, x.unsqueeze(0))
        x = self.run(x, lambda number, layer, x: layer.packed(x, memories[number], this))
        return this.linear(self.output_projection, this.packing.real(x)).squeeze(0)

    def run(self, x: Tensor, call: Callable[[int, Any, Tensor], Tensor]) -> Tensor:
        """Return the stack's output, of the shape of x.

        Args:
            x: (T, B, D) the embeddings, or packed, (1, rows, D).
            call: (number, layer, x) → the layer's output.
        """
        outputs = [x]
        run_layers(self.method, self.layers, outputs, call)
        if self.observer:
            self.observer(outputs)
        return self.layer_norm(self.method.source(len(self.layers), outputs))

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (…, D).

        Args:
            tokens: (…).
            positions: (…, D) the embeddings of their positions.
        """
        return self.embed_scale * self.embed_tokens(tokens) + positions

    def max_positions(self) -> int:
        """Return the longest target that has positions (pieces)."""
        return self.embed_positions.max_positions
