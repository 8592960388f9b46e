"""The Transformer's decoder, position by position, over stored keys and values.

What a position's keys and values are is written once, to a slot, and no hypothesis copies them: a
mask says which slots are the past of a hypothesis. All hypotheses of a sentence attend to the slots
of the sentence in one product. The source's keys and values are computed once per sentence and
layer.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear, pad

from fathom.nn.packing import rounded_up
from fathom.nn.stack import Steps, moved_slots
from fathom.nn.transformer.layers import DecoderLayer
from fathom.nn.transformer.stacks import TransformerDecoder

# torch's softmax over fewer entries than this is several times as slow on a CPU.
ENTRIES = 16


class PastCache:
    """Keys and values of the positions so far, and which of them each hypothesis sees.

    Attributes:
        keys: (L, places, H, k, room) keys by slot, for the B sentences at the first places.
        values: (L, places, H, room, k).
        used: slots in use.
        hidden: (B, K, slots) is added to the scores: 0 at the hypothesis' past, else −∞. There are
            as many slots as are used, rounded up to a multiple of ENTRIES.
    """

    def __init__(self, layers: int, source_keys: Tensor):
        _, sentences, heads, units, _ = source_keys.shape  # (layers, B, H, k, S)
        self.keys = source_keys.new_empty(layers, sentences, heads, units, 0)
        self.values = source_keys.new_empty(layers, sentences, heads, 0, units)
        self.used = 0
        self.hidden = source_keys.new_empty(sentences, 1, 0)

    def add_slots(self, hypotheses: int) -> None:
        """Add a slot for each hypothesis of every sentence; it sees no other new slot."""
        numbers = torch.arange(hypotheses, device=self.hidden.device)
        slots = self.used + numbers
        self.used += hypotheses
        missing = rounded_up(self.used, ENTRIES) - self.hidden.size(2)
        if missing:
            self.hidden = pad(self.hidden, (0, missing), value=-torch.inf)
        if self.hidden.size(2) > self.keys.size(4):
            # The room doubles, so that few copies are made.
            new = max(missing, self.keys.size(4))
            self.keys = pad(self.keys[:, : len(self.hidden)], (0, new))
            self.values = pad(self.values[:, : len(self.hidden)], (0, 0, 0, new))
        self.hidden[:, numbers, slots] = 0.0

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store keys and values of the last slots, (B, K, H, k); return those of all slots.

        Keys are (B · H, k, slots), values (B · H, slots, k).
        """
        sentences, hypotheses = keys.shape[:2]
        slots, first = self.hidden.size(2), self.used - hypotheses
        all_keys = self.keys[layer, :sentences, :, :, :slots]
        all_values = self.values[layer, :sentences, :, :slots]
        all_keys[..., first : self.used] = keys.permute(0, 2, 3, 1)
        all_values[:, :, first : self.used] = values.transpose(1, 2)
        return all_keys.flatten(0, 1), all_values.flatten(0, 1)

    def reorder(self, sentences: Tensor, parents: Tensor) -> None:
        """Keep some sentences and hypotheses, as `Steps.select` says."""
        if len(sentences) < len(self.hidden):
            new, old = moved_slots(sentences)
            self.keys[:, new, :, :, : self.used] = self.keys[:, old, :, :, : self.used]
            self.values[:, new, :, : self.used] = self.values[:, old, :, : self.used]
            self.hidden = self.hidden[sentences]
        seen = parents.unsqueeze(2).expand(-1, -1, self.hidden.size(2))
        self.hidden = self.hidden.gather(1, seen)


class SourceCache:
    """Keys and values of the source, computed once per sentence and layer.

    Attributes:
        keys: (layers, places, H, k, S) for the B sentences at the first places; S is rounded up to
            a multiple of ENTRIES.
        values: (layers, places, H, S, k).
        hidden: (B, 1, 1, S) is added to the scores: 0, or −∞ at padding.

    They are made of the modules that attend to the source, of what each layer attends to,
    (B, S, D), and of the padding, (B, S).
    """

    def __init__(self, attentions: Sequence[Any], memories: Sequence[Tensor], padding: Tensor):
        missing = -padding.size(1) % ENTRIES
        keys, values = [], []
        for attention, memory in zip(attentions, memories, strict=True):
            rows = pad(memory, (0, 0, 0, missing))
            heads = (attention.num_heads, attention.head_dim)
            keys.append(attention.k_proj(rows).unflatten(2, heads).permute(0, 2, 3, 1))
            values.append(attention.v_proj(rows).unflatten(2, heads).transpose(1, 2))
        self.keys, self.values = torch.stack(keys), torch.stack(values)
        hidden = self.keys.new_zeros(padding.shape).masked_fill_(padding, -torch.inf)
        self.hidden = pad(hidden, (0, missing), value=-torch.inf)[:, None, None]

    def of_layer(self, layer: int) -> tuple[Tensor, Tensor]:
        """Return a layer's keys (B · H, k, S) and values (B · H, S, k)."""
        sentences = len(self.hidden)
        keys, values = self.keys[layer, :sentences], self.values[layer, :sentences]
        return keys.flatten(0, 1), values.flatten(0, 1)

    def reorder(self, sentences: Tensor) -> None:
        """Keep some sentences, as `Steps.select` says."""
        if len(sentences) < len(self.hidden):
            new, old = moved_slots(sentences)
            self.keys[:, new], self.values[:, new] = self.keys[:, old], self.values[:, old]
            self.hidden = self.hidden[sentences]


class TransformerSteps(Steps):
    """The decoder, in evaluation mode, at one position after another.

    Each layer has a memory (B, S, D), and the source padding (B, S).
    """

    def __init__(
        self,
        decoder: TransformerDecoder,
        memories: Sequence[Tensor],
        padding: Tensor,
        tasks: Tensor,
    ):
        super().__init__(decoder.method, decoder.output_projection, tasks)
        self.decoder, self.position = decoder, 0
        layers: list[Any] = [*decoder.layers]
        readers = [layer.encoder_attn for layer in layers]
        self.projections = [joined_projections(layer.self_attn) for layer in layers]
        self.queries = [scaled_queries(reader) for reader in readers]
        self.source = SourceCache(readers, memories, padding)
        self.past = PastCache(len(layers), self.source.keys)

    def advance(self, pieces: Tensor) -> Tensor:
        """Return the decoder's last hidden states, (B · K, D), of one more piece (B · K,)."""
        decoder = self.decoder
        self.past.add_slots(self.hypotheses)
        # fairseq's table counts the pieces so far and looks at nothing else of them.
        read = self.tasks.new_empty(1, self.position + 1)
        position = decoder.embed_positions(read, incremental_state={})[0]  # (1, D)
        x = decoder.embed_scale * decoder.embed_tokens(pieces) + position
        self.position += 1
        return decoder.run(x.unsqueeze(0), self.layer).squeeze(0)

    def reorder(self, sentences: Tensor, parents: Tensor) -> None:
        """Choose what each hypothesis sees; what is stored moves only with its sentence."""
        self.past.reorder(sentences, parents)
        self.source.reorder(sentences)

    def layer(self, number: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        """Return a layer's output, (1, B · K, D)."""
        functions = {
            "self_attention": partial(self.attend, number, layer),
            "cross_attention": partial(self.read, number, layer),
            "ffn": layer.feed_forward,
        }
        return layer.run(x, functions)

    def attend(self, number: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        """Return the attention of each hypothesis to its past, (1, B · K, D)."""
        attention = layer.self_attn
        heads = (-1, self.hypotheses, 3, attention.num_heads, attention.head_dim)
        queries, keys, values = linear(x, *self.projections[number]).view(heads).unbind(2)
        past = self.past.write(number, keys, values)
        y = attended(queries, *past, self.past.hidden.unsqueeze(1))
        return attention.out_proj(y.reshape(x.shape))

    def read(self, number: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        """Return the attention of each hypothesis to the source, (1, B · K, D)."""
        attention: Any = layer.encoder_attn
        heads = (-1, self.hypotheses, attention.num_heads, attention.head_dim)
        queries = linear(x, *self.queries[number]).view(heads)
        y = attended(queries, *self.source.of_layer(number), self.source.hidden)
        return attention.out_proj(y.reshape(x.shape))


def attended(queries: Tensor, keys: Tensor, values: Tensor, hidden: Tensor) -> Tensor:
    """Return softmax(q kᵀ + hidden) v of each head, (B, K, H, k), as the scaled queries are.

    Keys are (B · H, k, S), values (B · H, S, k), and `hidden`, 0 or −∞, is (B, 1, K or 1, S).
    """
    sentences, hypotheses, heads, units = queries.shape
    by_head = queries.transpose(1, 2).reshape(-1, hypotheses, units)
    scores = torch.bmm(by_head, keys).view(sentences, heads, hypotheses, -1)
    weights = scores.add_(hidden).softmax(dim=-1).flatten(0, 1)
    return torch.bmm(weights, values).view(sentences, heads, hypotheses, units).transpose(1, 2)


def scaled_queries(attention: Any) -> tuple[Tensor, Tensor]:
    """Return weight and bias of an attention's queries, divided by √k."""
    projection = attention.q_proj
    scale = 1 / math.sqrt(attention.head_dim)
    return projection.weight * scale, projection.bias * scale


def joined_projections(attention: Any) -> tuple[Tensor, Tensor]:
    """Return weight (3 D, D) and bias (3 D,) of queries, which are scaled, keys and values."""
    weight, bias = scaled_queries(attention)
    return (
        torch.cat([weight, attention.k_proj.weight, attention.v_proj.weight]),
        torch.cat([bias, attention.k_proj.bias, attention.v_proj.bias]),
    )
