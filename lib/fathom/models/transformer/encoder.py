"""The Transformer's encoder."""

import math

from fairseq.models import FairseqEncoder
from torch import Tensor, nn

from fathom.models.hooks import Method
from fathom.models.stack import (
    Memory,
    Observer,
    Vocabulary,
    apply_once,
    reordered,
    residual,
    run_layers,
    tasks_of,
)
from fathom.models.transformer.layers import (
    EncoderLayer,
    embedding_table,
    final_norm,
    position_table,
)
from fathom.runs.settings import Model


class Encoder(FairseqEncoder):
    """A stack of encoder layers.

    Attributes:
        task: the task of every sentence if a call gives none (generation).
        observer: if set, called with the embeddings and each layer's output, (S, B, D) each.
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
        outputs = [self.dropout(self.embed(src_tokens)).transpose(0, 1)]  # (S, B, D)
        run_layers(self.method, self.layers, outputs, lambda _, layer, x: layer(x, padding))
        if self.observer:
            self.observer(outputs)
        memories = self.method.memory(outputs, self.memories)
        return {
            "encoder_out": apply_once(self.layer_norm, memories),
            "encoder_padding_mask": [padding],
        }

    def embed(self, src_tokens: Tensor) -> Tensor:
        """Return what enters the stack before dropout, (B, S, D), of tokens (B, S)."""
        return self.embed_scale * self.embed_tokens(src_tokens) + self.embed_positions(src_tokens)

    def reorder_encoder_out(self, encoder_out: Memory, new_order: Tensor) -> Memory:
        """Return the sentences of an encoded batch whose indices are in `new_order`."""
        return reordered(encoder_out, new_order)

    def max_positions(self) -> int:
        """Return the longest source that has positions (pieces)."""
        return self.embed_positions.max_positions
