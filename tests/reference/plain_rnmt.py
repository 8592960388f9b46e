"""RNMT+ once more, for one sentence, in plain steps of one vector each; slow, and easy to check.

Only the weights are the library's; `drop` is applied in place of dropout.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

Drop = Callable[[Tensor], Tensor]


def cell(x: Tensor, m: Tensor, c: Tensor, weights: tuple[Tensor, Tensor, Tensor]):
    """Return m and c after one step; weights are the matrix, the scales and the biases."""
    matrix, scales, biases = weights
    units = m.numel()
    joined = torch.cat([x, m])
    gates = []
    for number in range(4):
        a = joined @ matrix[:, number * units : (number + 1) * units]
        centred = a - a.sum() / units
        deviation = (centred.pow(2).sum() / units + 1e-8).sqrt()
        gates.append(centred / deviation * scales[number] + biases[number])
    i, g, f, o = gates
    c = c / (1 + torch.exp(-f)) + torch.tanh(i) / (1 + torch.exp(-g))
    c = torch.minimum(torch.maximum(c, torch.tensor(-10.0)), torch.tensor(10.0))
    return c / (1 + torch.exp(-o)), c


def weights(lstm: nn.Module, direction: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return a direction's matrix, scales and biases."""
    return lstm.weight[direction], lstm.scale[direction], lstm.bias[direction]


def run(xs: list[Tensor], lstm: nn.Module, direction: int) -> list[Tensor]:
    """Return the outputs of one direction, in the order of its steps."""
    m = c = xs[0].new_zeros(lstm.cell)
    outputs = []
    for x in xs:
        m, c = cell(x, m, c, weights(lstm, direction))
        outputs.append(m)
    return outputs


def both(xs: list[Tensor], lstm: nn.Module) -> list[Tensor]:
    """Return forward and backward outputs side by side, in the sentence's order."""
    backward = run(xs[::-1], lstm, 1)[::-1]
    return [torch.cat(pair) for pair in zip(run(xs, lstm, 0), backward, strict=True)]


def context(memory: list[Tensor], query: Tensor, attention: nn.Module) -> Tensor:
    """Return what one query reads of the memory's vectors."""
    heads = []
    width = query.numel() // attention.heads
    asked = attention.query_projection(query)
    projected = [attention.source_projection(each) for each in memory]
    for head in range(attention.heads):
        rows = slice(head * width, (head + 1) * width)
        scores = [
            (
                attention.v
                * torch.tanh(
                    each[rows] @ attention.source_score + asked[rows] @ attention.query_score
                )
            ).sum()
            for each in projected
        ]
        share = torch.stack(scores).exp()
        share = share / share.sum()
        heads.append(sum(s * each[rows] for s, each in zip(share, projected, strict=True)))
    return torch.cat(heads)


def encode(encoder: nn.Module, source: Tensor, residual: bool, drop: Drop) -> list[Tensor]:
    """Return the memory of one sentence (S,), each vector projected."""
    xs = [drop(encoder.embed_tokens.weight[token]) for token in source]
    for number, layer in enumerate(encoder.layers):
        ys = [drop(y) for y in both(xs, layer.lstm)]
        add = residual and number >= 2
        xs = [x + y for x, y in zip(xs, ys, strict=True)] if add else ys
    return [encoder.projection.weight @ x + encoder.projection.bias for x in xs]


def decode(
    decoder: nn.Module, memory: list[Tensor], previous: Tensor, residual: bool, drop: Drop
) -> Tensor:
    """Return the logits (T, V) of one sentence's shifted target (T,)."""
    first, *upper = decoder.layers
    zeros = memory[0].new_zeros(first.lstm.cell)
    states = [(zeros, zeros) for _ in decoder.layers]
    now = context(memory, zeros, first.attention)
    logits = []
    for token in previous:
        embedded = drop(decoder.embed_tokens.weight[token])
        states[0] = cell(torch.cat([embedded, now]), *states[0], weights(first.lstm, 0))
        x = states[0][0]
        now = context(memory, x, first.attention)
        for number, layer in enumerate(upper, start=1):
            read = torch.cat([x, now])
            states[number] = cell(read, *states[number], weights(layer.lstm, 0))
            y = drop(states[number][0])
            x = x + y if residual and number >= 2 else y
        projection = decoder.output_projection
        logits.append(projection.weight @ torch.cat([x, now]) + projection.bias)
    return torch.stack(logits)
