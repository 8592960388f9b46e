"""The decoder of RNMT+: one loop over its layers, of which the first queries the source."""

from dataclasses import dataclass

import torch
from fairseq.models import FairseqIncrementalDecoder
from torch import Tensor, nn

from fathom.models.additive_attention import AdditiveAttention, Source
from fathom.models.encoder import Memory, Watch
from fathom.models.hooks import Method
from fathom.models.layers import Joint, State, Vocabulary
from fathom.models.lstm import INIT, LstmLayer, step
from fathom.models.network import tasks_of
from fathom.models.rnmt_encoder import LONGEST, recurrent_joint, recurrent_table
from fathom.runs.spec import Model

# The name under which fairseq keeps what a later step needs.
PAST = "past"


@dataclass
class Pass:
    """What the layers share in one pass.

    Attributes:
        source: what the first layer attends to.
        past: what a later step needs, by name, (B, …) each; empty at the first step.
        contexts: (T, B, c) of the steps, once the first layer has asked for them.
    """

    source: Source
    past: dict[str, Tensor]
    contexts: Tensor | None = None


class QueryLayer(nn.Module):
    """The first layer: it reads the context of the step before, and its output asks for this one's.

    Its output is not dropped.
    """

    def __init__(self, model: Model):
        """Build the layer and its attention."""
        super().__init__()
        self.lstm = LstmLayer(2 * model.width, model.width, directions=1)
        self.attention = AdditiveAttention(model.width, model.heads, model.attention_dropout)

    def forward(self, x: Tensor, shared: Pass) -> Tensor:
        """Return the layer's output, (T, B, c), and leave the contexts in `shared`.

        Each step needs the context of the one before, so that the layer goes step by step.

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
    """A layer above the first: it reads the one below, and the context of its own step."""

    def __init__(self, model: Model, joint: Joint, number: int):
        """Build the layer.

        Args:
            model: the network's shape.
            joint: (part, x, fx) → the joint of the layer's input and output.
            number: the layer, from 0, by which its state is named.
        """
        super().__init__()
        self.lstm = LstmLayer(2 * model.width, model.width, directions=1)
        self.dropout = nn.Dropout(model.dropout)
        self.joint, self.number = joint, number

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
        return self.joint("recurrence", x, self.dropout(y))


class RnmtDecoder(FairseqIncrementalDecoder):
    """A stack of layers, and the projection of output and context to the target vocabulary.

    Attributes:
        task: the task of every sentence, where a call does not say (generation).
        watch: where it is given, it sees the embeddings and each layer's output, (T, B, c) each.
    """

    def __init__(self, model: Model, dictionary: Vocabulary, method: Method):
        """Build the stack.

        Args:
            model: the network's shape.
            dictionary: the target side's.
            method: what is done to the layers.
        """
        super().__init__(dictionary)
        self.method = method
        self.task: int | None = None
        self.watch: Watch | None = None
        self.embed_tokens = recurrent_table(dictionary, model.width)
        self.dropout = nn.Dropout(model.dropout)
        self.layers = nn.ModuleList([QueryLayer(model)])
        self.layers.extend(
            ContextLayer(model, recurrent_joint(model, method, layer), layer)
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
            incremental_state: cells and context of the step before, and the prepared source; then
                only the last position is decoded.
            tasks: (B,) the task of each sentence; without it, the one of `for_task`.

        Returns:
            The logits, (B, T, V) or (B, 1, V), and that there are no attention weights.
        """
        tokens = previous_target if incremental_state is None else previous_target[:, -1:]
        shared = self.begin(encoder_out, incremental_state)
        self.method.begin(tasks_of(previous_target, tasks, self.task))
        outputs = [self.dropout(self.embed_tokens(tokens)).transpose(0, 1)]  # (T, B, c)
        for number, layer in enumerate(self.layers):
            x, kept = self.method.source(number, outputs), self.method.keep(number)
            # The first layer asks for the contexts, also where its output is not passed on.
            y = layer(x, shared) if kept or number == 0 else x
            if kept:
                x = self.method.after(number, self.method.block(number, x, y))
            outputs.append(x)
        if self.watch:
            self.watch(outputs)
        x = self.method.source(len(self.layers), outputs)
        x = torch.cat([x, shared.contexts], dim=-1).transpose(0, 1)  # (B, T, 2c)
        self.set_incremental_state(incremental_state, PAST, shared.past)
        return self.output_projection(x), {"attn": [None]}

    def begin(self, encoder_out: Memory, incremental_state: State | None) -> Pass:
        """Return what the layers share, with the source prepared now or at an earlier step.

        Args:
            encoder_out: what the encoder returned.
            incremental_state: what was kept, where the pass is incremental.
        """
        past = dict(self.get_incremental_state(incremental_state, PAST) or {})
        if past:
            return Pass(Source(*(past.get(name) for name in Source._fields)), past)
        (memory,), (padding,) = encoder_out["encoder_out"], encoder_out["encoder_padding_mask"]
        source = self.layers[0].attention.prepare(memory, padding)
        named = source._asdict().items()
        return Pass(source, {name: each for name, each in named if each is not None})

    def reorder_incremental_state(self, incremental_state: State, new_order: Tensor) -> None:
        """Choose sentences of what was kept; `new_order` holds their indices."""
        past = self.get_incremental_state(incremental_state, PAST)
        if past is not None:
            chosen = {name: each.index_select(0, new_order) for name, each in past.items()}
            self.set_incremental_state(incremental_state, PAST, chosen)

    def max_positions(self) -> int:
        """Return a length that no target reaches (pieces)."""
        return LONGEST
