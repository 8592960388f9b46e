"""The Transformer's decoder, position by position, over stored keys and values.

What a position's keys and values are is written once, to a slot, and no hypothesis copies them: a
mask says which slots are a hypothesis' own past. All hypotheses of a sentence attend to the slots
of the sentence in one product. The source's keys and values are computed once a sentence and layer.
"""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from fathom.models.stack import Memory, run_layers
from fathom.models.steps import Steps, moved
from fathom.models.transformer.decoder import Decoder
from fathom.models.transformer.layers import DecoderLayer

# Positions for which there is room at first; when it is full, the room doubles.
ROOM = 16


class Past:
    """Keys and values of the positions so far, and which of them each hypothesis sees.

    Attributes:
        stored: (L, 2, places, H, slots, k) keys and values of the slots; the first `used` slots of
            the first B places are in use.
        used: slots in use.
        hidden: (B, K, used) is added to the scores: 0 at the hypothesis' own past, else −∞.
    """

    def __init__(self, like: Tensor):
        """Start without slots.

        Args:
            like: (L, 2, B, H, S, k) keys and values of the source.
        """
        self.stored = like.new_empty(*like.shape[:4], 0, like.size(5))
        self.used = 0
        self.hidden = like.new_zeros(like.size(2), 1, 0)

    def add_slots(self, hypotheses: int) -> None:
        """Add a slot for each hypothesis of every sentence, which sees its own slot alone."""
        self.used += hypotheses
        if self.used > self.stored.size(4):
            room = max(ROOM * hypotheses, self.stored.size(4))
            self.stored = pad(self.stored[:, :, : len(self.hidden)], (0, 0, 0, room))
        own = torch.full((hypotheses, hypotheses), -torch.inf, device=self.hidden.device)
        own = own.to(self.hidden).fill_diagonal_(0.0).expand(len(self.hidden), -1, -1)
        self.hidden = torch.cat([self.hidden, own], dim=2)

    def write(self, layer: int, keys_values: Tensor) -> tuple[Tensor, Tensor]:
        """Store what a layer computed for the last slots; return all its keys and values.

        Args:
            layer: its number.
            keys_values: (B, K, 2, H, k).

        Returns:
            Keys and values of all slots, (B · H, used, k) each.
        """
        sentences, hypotheses = keys_values.shape[:2]
        stored = self.stored[layer, :, :sentences]
        last = stored[:, :, :, self.used - hypotheses : self.used]
        last.copy_(keys_values.permute(2, 0, 3, 1, 4))
        keys, values = stored[:, :, :, : self.used].flatten(1, 2)
        return keys, values

    def select(self, sentences: Tensor, parents: Tensor) -> None:
        """Keep some sentences and hypotheses, as `Steps.select` says."""
        new, old = moved(sentences)
        if len(new):
            self.stored[:, :, new, :, : self.used] = self.stored[:, :, old, :, : self.used]
        hidden = self.hidden if len(sentences) == len(self.hidden) else self.hidden[sentences]
        own = parents.unsqueeze(2).expand(-1, -1, self.used)
        self.hidden = hidden.gather(1, own)


class TransformerSteps(Steps):
    """The decoder at one position after another."""

    def __init__(self, decoder: Decoder, memory: Memory, tasks: Tensor):
        """Compute the source's keys and values.

        Args:
            decoder: in evaluation mode.
            memory: what the encoder returned.
            tasks: (B,) the task of each sentence.
        """
        super().__init__(decoder.method, tasks)
        self.decoder, self.position = decoder, 0
        layers: list[Any] = list(decoder.layers)
        self.heads = layers[0].self_attn.num_heads
        self.projections = [joined_projections(layer.self_attn) for layer in layers]
        self.queries = [scaled_queries(layer.encoder_attn) for layer in layers]
        (padding,) = memory["encoder_padding_mask"]
        stored = [
            torch.stack([self.by_head(part(states)) for part in (source.k_proj, source.v_proj)])
            for source, states in zip(
                [layer.encoder_attn for layer in layers], memory["encoder_out"], strict=True
            )
        ]
        self.source = torch.stack(stored)  # (L, 2, B, H, S, k)
        self.padding = self.source.new_zeros(padding.shape).masked_fill_(padding, -torch.inf)
        self.past = Past(self.source)

    def by_head(self, states: Tensor) -> Tensor:
        """Return (B, H, S, k) of (S, B, D)."""
        return states.unflatten(2, (self.heads, -1)).permute(1, 2, 0, 3)

    def advance(self, pieces: Tensor) -> Tensor:
        """Return the decoder's last hidden states, (B · K, D), of one more piece (B · K,)."""
        decoder = self.decoder
        self.past.add_slots(self.hypotheses)
        x = decoder.embed_scale * decoder.embed_tokens(pieces) + self.embedded_position()
        outputs = [x.unsqueeze(0)]  # (1, B · K, D)
        run_layers(decoder.method, decoder.layers, outputs, self.layer)
        self.position += 1
        x = decoder.method.source(len(decoder.layers), outputs)
        return decoder.layer_norm(x).squeeze(0)

    def project(self, rows: Tensor) -> Tensor:
        """Return logits (rows, V) of hidden states (rows, D)."""
        return self.decoder.output_projection(rows)

    def reorder(self, sentences: Tensor, parents: Tensor) -> None:
        """Choose what each hypothesis sees; what is stored moves only with its sentence."""
        self.past.select(sentences, parents)
        if len(sentences) < len(self.tasks):
            new, old = moved(sentences)
            self.source[:, :, new] = self.source[:, :, old]
            self.padding = self.padding[sentences]

    def embedded_position(self) -> Tensor:
        """Return the embedding of this position, (1, D)."""
        # fairseq's table counts the pieces so far and looks at nothing else of them.
        pieces = self.tasks.new_empty(1, self.position + 1)
        return self.decoder.embed_positions(pieces, incremental_state={})[0]

    def layer(self, number: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        """Return a layer's output, (1, B · K, D)."""
        past, source = partial(self.attend, number, layer), partial(self.read, number, layer)
        x = layer.sub_layer("self_attention", layer.self_attn_layer_norm, x, past)
        x = layer.sub_layer("cross_attention", layer.encoder_attn_layer_norm, x, source)
        return layer.sub_layer("ffn", layer.final_layer_norm, x, layer.feed_forward)

    def attend(self, number: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        """Return the attention of each hypothesis to its past, (1, B · K, D)."""
        projected = linear(x, *self.projections[number])
        # (B, K, 3, H, k)
        split = projected.view(-1, self.hypotheses, 3, self.heads, x.size(2) // self.heads)
        keys, values = self.past.write(number, split[:, :, 1:])
        y = attended(split[:, :, 0], keys, values, self.past.hidden.unsqueeze(1))
        return layer.self_attn.out_proj(y.reshape(x.shape))

    def read(self, number: int, layer: DecoderLayer, x: Tensor) -> Tensor:
        """Return the attention of each hypothesis to the source, (1, B · K, D)."""
        queries = linear(x, *self.queries[number])
        split = queries.view(-1, self.hypotheses, self.heads, x.size(2) // self.heads)
        keys, values = self.source[number, :, : len(self.tasks)].flatten(1, 2)
        y = attended(split, keys, values, self.padding[:, None, None])
        return layer.encoder_attn.out_proj(y.reshape(x.shape))


def attended(queries: Tensor, keys: Tensor, values: Tensor, hidden: Tensor) -> Tensor:
    """Return softmax(q kᵀ + hidden) v of each head, (B, K, H, k).

    Args:
        queries: (B, K, H, k), scaled.
        keys: (B · H, S, k).
        values: (B · H, S, k).
        hidden: (B, 1, K or 1, S) 0 or −∞.
    """
    sentences, hypotheses, heads, units = queries.shape
    by_head = queries.transpose(1, 2).reshape(-1, hypotheses, units)
    scores = torch.bmm(by_head, keys.transpose(1, 2)).view(sentences, heads, hypotheses, -1)
    weights = scores.add_(hidden).softmax(dim=-1).flatten(0, 1)
    return torch.bmm(weights, values).view(sentences, heads, hypotheses, units).transpose(1, 2)


def scaled_queries(attention: nn.Module) -> tuple[Tensor, Tensor]:
    """Return weight and bias of an attention's queries, divided by √k."""
    projection = attention.q_proj
    scale = 1 / math.sqrt(attention.head_dim)
    return projection.weight * scale, projection.bias * scale


def joined_projections(attention: nn.Module) -> tuple[Tensor, Tensor]:
    """Return weight (3 D, D) and bias (3 D,) of queries, which are scaled, keys and values."""
    weight, bias = scaled_queries(attention)
    return (
        torch.cat([weight, attention.k_proj.weight, attention.v_proj.weight]),
        torch.cat([bias, attention.k_proj.bias, attention.v_proj.bias]),
    )
