"""The Transformer's stacks by fairseq's modules on padded states, (T, B, D)."""

from typing import Any

from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor

from fathom.nn.transformer.layers import DecoderLayer, EncoderLayer
from fathom.nn.transformer.stacks import TransformerDecoder, TransformerEncoder
from tests.reference.padded.stacks import Encoder, Memory, State, future_mask, tasks_of


def encoder_layer(layer: EncoderLayer, x: Tensor, padding: Tensor) -> Tensor:
    """Return a layer's output, (S, B, D).

    Args:
        x: (S, B, D) hidden states.
        padding: (B, S) true at padding.
    """

    def attend(y: Tensor) -> Tensor:
        return layer.self_attn(y, y, y, key_padding_mask=padding, need_weights=False)[0]

    return layer.run(x, {"self_attention": attend, "ffn": layer.feed_forward})


def decoder_layer(
    layer: DecoderLayer,
    x: Tensor,
    memory: Tensor,
    memory_padding: Tensor,
    state: State | None,
    future: Tensor | None,
    padding: Tensor | None,
) -> Tensor:
    """Return a layer's output, (T, B, D).

    Args:
        x: (T, B, D) hidden states; T is 1 when decoding incrementally.
        memory: (S, B, D) what the layer attends to.
        memory_padding: (B, S) true at padding.
        state: keys and values of earlier positions when decoding incrementally.
        future: (T, T) true where attention is not allowed; None when decoding incrementally.
        padding: (B, T) true at padding; None if there is none.
    """

    def attend(y: Tensor) -> Tensor:
        return layer.self_attn(
            y,
            y,
            y,
            key_padding_mask=padding,
            incremental_state=state,
            need_weights=False,
            attn_mask=future,
        )[0]

    def attend_to_memory(y: Tensor) -> Tensor:
        return layer.encoder_attn(
            y,
            memory,
            memory,
            key_padding_mask=memory_padding,
            incremental_state=state,
            static_kv=True,
            need_weights=False,
        )[0]

    attentions = {"self_attention": attend, "cross_attention": attend_to_memory}
    return layer.run(x, attentions | {"ffn": layer.feed_forward})


class PaddedEncoder(Encoder):
    """A Transformer's encoder."""

    stack: TransformerEncoder

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        tasks: Tensor | None = None,
    ) -> Memory:
        """Encode a batch; fairseq's generator passes the first two arguments by name.

        Returns:
            "encoder_out": what each decoder layer attends to, (S, B, D) each;
            "encoder_padding_mask": one tensor (B, S), true at padding.
        """
        stack, padding = self.stack, src_tokens.eq(self.dictionary.pad())
        stack.method.begin(tasks_of(src_tokens, tasks, self.task))
        x = stack.embed(src_tokens, stack.embed_positions(src_tokens))
        x = stack.dropout(x).transpose(0, 1)  # (S, B, D)
        memories = stack.run(x, lambda _, layer, x: encoder_layer(layer, x, padding))
        return {"encoder_out": memories, "encoder_padding_mask": [padding]}

    def max_positions(self) -> int:
        """Return the longest text that has positions (pieces)."""
        return self.stack.max_positions()


class PaddedDecoder(FairseqIncrementalDecoder):
    """A Transformer's decoder; `task` is that of all sentences where a call gives none."""

    def __init__(self, stack: TransformerDecoder, task: int | None = None):
        super().__init__(stack.dictionary)
        self.stack, self.task = stack, task

    def forward(
        self,
        previous_target: Tensor,
        encoder_out: Memory,
        incremental_state: State | None = None,
        tasks: Tensor | None = None,
    ) -> tuple[Tensor, dict[str, list[None]]]:
        """Decode a batch with teacher forcing, or its last position incrementally.

        Returns:
            The logits, (B, T, V) or (B, 1, V), and that there are no attention weights.
        """
        stack, memories = self.stack, encoder_out["encoder_out"]
        memory_padding = encoder_out["encoder_padding_mask"][0]
        positions = stack.embed_positions(previous_target, incremental_state=incremental_state)
        if incremental_state is None:
            tokens, future = previous_target, future_mask(previous_target)
            padding = previous_target.eq(self.dictionary.pad())
        else:
            tokens, future, padding = previous_target[:, -1:], None, None
        x = stack.embed(tokens, positions)
        stack.method.begin(tasks_of(previous_target, tasks, self.task))
        x = stack.dropout(x).transpose(0, 1)  # (T, B, D)

        def call(number: int, layer: Any, x: Tensor) -> Tensor:
            memory = memories[number]
            return decoder_layer(
                layer, x, memory, memory_padding, incremental_state, future, padding
            )

        return stack.output_projection(stack.run(x, call).transpose(0, 1)), {"attn": [None]}

    def max_positions(self) -> int:
        """Return the longest text that has positions (pieces)."""
        return self.stack.max_positions()
