"""The decoder of RNMT+: its first layer queries the source, all others read the context."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import torch
from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor, nn

from fathom.config.schema.run import Model
from fathom.nn.hooks import Method
from fathom.nn.rnmt_plus.additive_attention import AdditiveAttention, Source
from fathom.nn.rnmt_plus.encoder import LONGEST, recurrent_residual, recurrent_table
from fathom.nn.rnmt_plus.lstm import INIT, LstmLayer, step
from fathom.nn.stack import (
    Memory,
    Observer,
    Residual,
    State,
    Vocabulary,
    run_layers,
    tasks_of,
)

# The key of the state of earlier steps.
PAST = "past"


@dataclass
class Pass:
    """What the layers of one forward pass share.

    Attributes:
        source: what the first layer attends to.
        past: what a later step needs, by name, (B, …) each; empty at the first step.
        contexts: (T, B, c) of all steps, set by the first layer.
    """

    source: Source
    past: dict[str, Tensor]
    contexts: Tensor = field(init=False)


class QueryLayer(nn.Module):
    """The first layer: it reads the previous step's context, and its output queries this step's.

    Its output has no dropout.
    """

    def __init__(self, model: Model):
        """Build the layer and its attention."""
        super().__init__()
        self.lstm = LstmLayer(2 * model.width, model.width, directions=1)
        self.attention = AdditiveAttention(model.width, model.heads, model.attention_dropout)

    def forward(self, x: Tensor, shared: Pass) -> Tensor:
        """Return the layer's output, (T, B, c), and store the contexts in `shared`.

        Each step needs the context of the previous one, so the steps are computed one by one.

        Args:
            x: (T, B, c) embeddings.
            shared: of this pass.
        """
        width, source, past = x.size(-1), shared.source, shared.past
        (weight,), (scale,), (bias,) = self.lstm.weight, self.lstm.scale, self.lstm.bias
        # The matrix's rows belong to [x; context before; m before].
        steps = x @ weight[:width]
        recurrent = weight[width:].to(steps.dtype)
        zeros = x.new_zeros(x.shape[1:])
        m, c = past.get("m0", zeros), past.get("c0", zeros)
        context = past["context"] if "context" in past else self.attention(zeros, source)
        outputs, contexts = [], []
        for a in steps.unbind():
            carried = torch.cat([context, m], dim=-1).to(a.dtype)
            m, c = step(torch.addmm(a, carried, recurrent), c, scale, bias)
            context = self.attention(m, source)
            outputs.append(m)
            contexts.append(context)
        past |= {"m0": m, "c0": c, "context": context}
        shared.contexts = torch.stack(contexts)
        return torch.stack(outputs)


class ContextLayer(nn.Module):
    """A layer above the first: it reads the layer below and the context of the same step."""

    def __init__(self, model: Model, residual: Residual, number: int):
        """Build the layer.

        Args:
            model: the network's shape.
            residual: adds the layer's output to its input.
            number: the layer, from 0, part of the names of its state.
        """
        super().__init__()
        self.lstm = LstmLayer(2 * model.width, model.width, directions=1)
        self.dropout = nn.Dropout(model.dropout)
        self.residual, self.number = residual, number

    def forward(self, x: Tensor, shared: Pass) -> Tensor:
        """Return the layer's output, (T, B, c).

        Args:
            x: (T, B, c) hidden states.
            shared: of this pass, with its contexts.
        """
        m, c, past = f"m{self.number}", f"c{self.number}", shared.past
        before = (past[m][None], past[c][None]) if m in past else None
        y, (last_m, last_c) = self.lstm(torch.cat([x, shared.contexts], dim=-1), before=before)
        past |= {m: last_m[0], c: last_c[0]}
        return self.residual("recurrence", x, self.dropout(y))


class RnmtDecoder(FairseqIncrementalDecoder):
    """A stack of layers, and the projection of output and context to the target vocabulary.

    Attributes:
        task: the task of every sentence if a call gives none (generation).
        observer: if set, called with the embeddings and each layer's output, (T, B, c) each.
    """

    # fairseq adds both with a decorator, of which its types do not know.
    get_incremental_state: Callable[[State | None, str], dict[str, Tensor] | None]
    set_incremental_state: Callable[[State | None, str, dict[str, Tensor]], State | None]

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
            incremental_state: cells and context of the previous step, and the prepared source;
                with it only the last position is decoded.
            tasks: (B,) the task of each sentence; None takes the one of `for_task`.

        Returns:
            The logits, (B, T, V) or (B, 1, V), and that there are no attention weights.
        """
        states = self.states(previous_target, encoder_out, incremental_state, tasks)
        return self.output_projection(states), {"attn": [None]}

    def states(
        self,
        previous_target: Tensor,
        encoder_out: Memory,
        incremental_state: State | None = None,
        tasks: Tensor | None = None,
    ) -> Tensor:
        """Return what is projected to logits, (B, T, 2c) or (B, 1, 2c); arguments of `forward`."""
        tokens = previous_target if incremental_state is None else previous_target[:, -1:]
        shared = self.start_pass(encoder_out, incremental_state)
        self.method.begin(tasks_of(previous_target, tasks, self.task))
        x = self.run(tokens, shared).transpose(0, 1)  # (B, T, 2c)
        self.set_incremental_state(incremental_state, PAST, shared.past)
        return x

    def run(self, tokens: Tensor, shared: Pass) -> Tensor:
        """Return the stack's output next to the context, (T, B, 2c); the method has begun.

        Args:
            tokens: (B, T).
            shared: of this pass.
        """
        outputs = [self.dropout(self.embed_tokens(tokens)).transpose(0, 1)]  # (T, B, c)
        # The first layer computes the contexts that all others read.
        run_layers(
            self.method, self.layers, outputs, lambda _, layer, x: layer(x, shared), always={0}
        )
        if self.observer:
            self.observer(outputs)
        x = self.method.source(len(self.layers), outputs)
        return torch.cat([x, shared.contexts], dim=-1)

    def start_pass(self, encoder_out: Memory, incremental_state: State | None) -> Pass:
        """Return what the layers share, with the source prepared now or at an earlier step.

        Args:
            encoder_out: what the encoder returned.
            incremental_state: the state of earlier steps, if the pass is incremental.
        """
        past = dict(self.get_incremental_state(incremental_state, PAST) or {})
        if past:
            source = Source(past["keys"], past["values"], past["blocked"], past.get("mask"))
            return Pass(source, past)
        (memory,), (padding,) = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
        source = cast(QueryLayer, self.layers[0]).attention.prepare(memory, padding)
        tensors = source._asdict().items()
        return Pass(source, {name: tensor for name, tensor in tensors if tensor is not None})

    def reorder_incremental_state(self, incremental_state: State, new_order: Tensor) -> None:
        """Select the sentences whose indices are in `new_order`, in the state of earlier steps."""
        past = self.get_incremental_state(incremental_state, PAST)
        if past is not None:
            selected = {name: past[name].index_select(0, new_order) for name in past}
            self.set_incremental_state(incremental_state, PAST, selected)

    def max_positions(self) -> int:
        """Return a length that is longer than any target (pieces)."""
        return LONGEST
