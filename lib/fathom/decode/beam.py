"""Beam search over sentences of any tasks; a hypothesis depends on its own sentence alone.

The search is that of fairseq's generator. The score of a hypothesis is the sum of the
log-probabilities of its pieces and the end symbol, divided by `length_penalty`. At each position
the candidates are the 2 · beam likeliest continuations; of the first `beam` of them those with the
end symbol end a hypothesis, and the best others are continued. A sentence is finished when `beam`
hypotheses have ended, or at its cap, where all of them end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from fathom.config.schema.run import Decoding
from fathom.nn.network import ENTRIES_MULTIPLE, Network
from fathom.nn.stack import DictionaryLike, compaction_order

# Hypotheses that are searched together. More need memory, and fewer leave much to the small batches
# in which the last sentences end.
HYPOTHESES = 1280
# Log-probabilities that are computed at once. More do not stay in the caches of a processor.
AT_ONCE = {"cpu": 2**20, "cuda": 2**28}
# Entries of the vocabulary that are compared as one.
CHUNK = 32


class Symbols(DictionaryLike, Protocol):
    """What a search needs of a dictionary; fairseq's has it."""

    def eos(self) -> int:
        """Return the end symbol's index."""
        ...


class Candidates(NamedTuple):
    """C ways to continue the hypotheses of each of B sentences, the likeliest first."""

    scores: Tensor  # (B, C) the sum of all log-probabilities
    pieces: Tensor  # (B, C) the next piece
    parents: Tensor  # (B, C) the hypothesis that it continues


class Output:
    """The projection to the vocabulary, with padding entries that have no probability.

    With them each row of logits is a multiple of CHUNK entries: the product is faster, and the
    largest entries are found chunk by chunk.
    """

    def __init__(self, projection: nn.Linear):
        self.entries = projection.out_features
        multiple = ENTRIES_MULTIPLE[projection.weight.device.type]
        surplus = -self.entries % math.lcm(CHUNK, multiple)
        self.weight = pad(projection.weight, (0, 0, 0, surplus))
        self.bias = None if projection.bias is None else pad(projection.bias, (0, surplus))

    def __call__(self, rows: Tensor) -> Tensor:
        """Return the logits (rows, V') of rows (rows, units), V' ≥ V."""
        logits = linear(rows, self.weight, self.bias)
        logits[:, self.entries :] = -torch.inf
        return logits


@dataclass
class Searched:
    """The sentences of a batch that are not finished: B, with K hypotheses each."""

    numbers: Tensor  # (B,) their places in the batch
    caps: Tensor  # (B,) the most pieces of a hypothesis, without the end symbol
    pieces: Tensor  # (B, K, t) the pieces so far
    scores: Tensor  # (B, K) the sums of their log-probabilities
    ended: Tensor  # (B,) how many hypotheses have ended
    best: Tensor  # (B,) the best score of these, with the length penalty

    @classmethod
    def start(cls, caps: Tensor) -> Self:
        """Return the sentences of a batch with one empty hypothesis each."""
        scores = torch.zeros(len(caps), 1, device=caps.device)
        return cls(
            numbers=torch.arange(len(caps), device=caps.device),
            caps=caps,
            pieces=caps.new_empty(len(caps), 1, 0),
            scores=scores,
            ended=torch.zeros_like(caps),
            best=scores.new_full((len(caps),), -torch.inf),
        )

    def at(self, places: Tensor) -> "Searched":
        """Return the sentences at some places."""
        return Searched(*(getattr(self, field.name)[places] for field in fields(self)))

    def continued(self, chosen: Candidates) -> "Searched":
        """Return the sentences with a hypothesis for each candidate."""
        parents = chosen.parents.unsqueeze(2).expand(-1, -1, self.pieces.size(2))
        pieces = torch.cat([self.pieces.gather(1, parents), chosen.pieces.unsqueeze(2)], dim=2)
        return replace(self, pieces=pieces, scores=chosen.scores)


class Best:
    """The best hypothesis of each sentence of a batch so far."""

    def __init__(self, caps: Tensor):
        """Start without any; `caps` (B,) are the most pieces of each."""
        self.pieces = caps.new_zeros(len(caps), int(caps.max()))
        self.lengths = torch.full_like(caps, -1)

    def put(self, searched: Searched, rows: Tensor, parents: Tensor) -> None:
        """Replace the hypotheses of sentences `rows`, (n,), by those, `parents`, that end here."""
        numbers, length = searched.numbers[rows], searched.pieces.size(2)
        self.pieces[numbers, :length] = searched.pieces[rows, parents]
        self.lengths[numbers] = length

    def lists(self) -> list[list[int] | None]:
        """Return the pieces of each hypothesis, without the end symbol; None if there is none."""
        lengths = self.lengths.tolist()
        rows = zip(self.pieces.tolist(), lengths, strict=True)
        return [pieces[:length] if length >= 0 else None for pieces, length in rows]


class Beam:
    """The beam search of one network, for one batch after another."""

    def __init__(
        self,
        network: Network,
        dictionary: Symbols,
        settings: Decoding,
        starts: Sequence[int] | None = None,
    ):
        """Prepare the search of a network with a decoder, whose gates are set.

        `starts` are what the decoder of each task reads first; None is the end symbol for all.
        """
        self.starts = None if starts is None else torch.tensor(starts)
        self.network, self.settings = network.eval(), settings
        self.width = min(settings.beam, len(dictionary) - 1)
        self.sentences = max(1, HYPOTHESES // self.width)  # that are searched together, at most
        self.entries, self.pad, self.end = len(dictionary), dictionary.pad(), dictionary.eos()

    @torch.inference_mode()
    def best(self, source: Tensor, tasks: Tensor) -> list[list[int] | None]:
        """Return the best hypothesis of each sentence, without the end symbol.

        `source` is (B, S), right-padded, with end symbols; `tasks` is (B,). A hypothesis is None if
        none has a probability.
        """
        # fairseq's types of a network do not know what its decoder is.
        decoder: Any = self.network.decoder
        lengths = source.ne(self.pad).sum(dim=1).tolist()
        caps = [cap(self.settings, length - 1, decoder.max_positions()) for length in lengths]
        searched = Searched.start(torch.tensor(caps, device=source.device))
        best, steps = Best(searched.caps), self.network.steps(source, tasks)
        output = Output(steps.output)
        pieces = source.new_full((len(source),), self.end)
        if self.starts is not None:
            pieces = self.starts.to(tasks.device)[tasks]
        while True:
            chosen = self.candidates(steps.advance(pieces), output, searched)
            ending = chosen.pieces.eq(self.end) & chosen.scores.gt(-torch.inf)
            self.end_hypotheses(searched, chosen, ending[:, : self.width], best)
            # A stable order: the best candidates that do not end come first.
            going = ending.sort(dim=1, stable=True).indices[:, : self.width]
            chosen = Candidates(*(part.gather(1, going) for part in chosen))
            finished = (searched.ended >= self.width) | (searched.caps <= searched.pieces.size(2))
            left = compaction_order(finished)
            if not len(left):
                return best.lists()
            if len(left) < len(finished):
                searched, chosen = searched.at(left), Candidates(*(part[left] for part in chosen))
            searched, pieces = searched.continued(chosen), chosen.pieces.flatten()
            steps.select(left, chosen.parents)

    def candidates(self, rows: Tensor, output: Output, searched: Searched) -> Candidates:
        """Return the candidates of each sentence from what the decoder returned, (B · K, units)."""
        hypotheses, position = searched.pieces.shape[1:]
        # fairseq's generator does not end an empty hypothesis.
        never = [self.pad] if position else [self.pad, self.end]
        last = searched.caps <= position
        parts = []
        at_once = max(1, AT_ONCE[rows.device.type] // (hypotheses * self.entries))
        for block, scores, at_cap in zip(
            rows.split(at_once * hypotheses),
            searched.scores.split(at_once),
            last.split(at_once),
            strict=True,
        ):
            logits = output(block).unflatten(0, (-1, hypotheses))
            if self.width == 1:
                parts.append(greedy(logits, never, self.end, at_cap))
            else:
                parts.append(candidates(logits, scores, 2 * self.width, never, self.end, at_cap))
        return Candidates(*map(torch.cat, zip(*parts, strict=True)))

    def end_hypotheses(
        self, searched: Searched, chosen: Candidates, ending: Tensor, best: Best
    ) -> None:
        """Count the hypotheses that end here, and remember the best one of each sentence.

        `ending` says which of the first candidates end a hypothesis, (B, beam).
        """
        if not ending.any():
            return
        searched.ended = searched.ended + ending.sum(dim=1)
        # Of those that end at one position the first is the best.
        first = ending.int().argmax(dim=1, keepdim=True)
        length = searched.pieces.size(2) + 1
        scores = chosen.scores.gather(1, first) / length_penalty(self.settings, length)
        scores = scores.masked_fill_(~ending.gather(1, first), -torch.inf).squeeze(1)
        rows = (scores > searched.best).nonzero().squeeze(1)
        searched.best = torch.maximum(searched.best, scores)
        best.put(searched, rows, chosen.parents.gather(1, first).squeeze(1)[rows])


def cap(settings: Decoding, source_pieces: int, positions: int) -> int:
    """Return the most pieces of a hypothesis; neither side's count includes the end symbol."""
    return min(settings.cap(source_pieces), positions - 1)


def length_penalty(settings: Decoding, length: int) -> float:
    """Return what the score of an ended hypothesis is divided by.

    `length` counts its pieces and the end symbol. With the exponent α the penalty is length^α in
    fairseq's generator, and ((5 + length) / (5 + 1))^α in Wu et al. (2016), eq. 14. lingvo divides
    by 5 in place of 5 + 1, a constant factor of all scores that changes no order.
    """
    if settings.length_penalty_form == "gnmt":
        return ((5 + length) / (5 + 1)) ** settings.length_penalty
    return length**settings.length_penalty


# The likeliest ways to continue the hypotheses of each sentence by one piece


def candidates(
    logits: Tensor, scores: Tensor, count: int, never: Sequence[int], end: int, last: Tensor
) -> Candidates:
    """Return the likeliest candidates of each sentence.

    Args:
        logits: (B, K, V) of the next piece of K hypotheses.
        scores: (B, K) of the hypotheses.
        never: pieces that do not follow; they have their share of the probabilities all the same.
        last: (B,) true for sentences whose hypotheses all end here.
    """
    entries = logits.size(2)
    total = logits.log_softmax(dim=2, dtype=torch.float32).add_(scores.unsqueeze(2))
    for piece in never:
        total[:, :, piece] = -torch.inf
    best, places = likeliest(total.flatten(1), min(count, total[0].numel() - 1))
    # What has no probability, or NaN, may be a padding entry, which has no embedding.
    pieces = (places % entries).masked_fill_(~(best > -torch.inf), end)
    chosen = Candidates(best, pieces, places // entries)
    return ended(chosen, total[:, :, end], end, last) if last.any() else chosen


def greedy(logits: Tensor, never: Sequence[int], end: int, last: Tensor) -> Candidates:
    """Return the likeliest continuation of the one hypothesis of each sentence, with the score 0.

    Only one hypothesis of a sentence ever ends, so no two scores are compared. NaN stays NaN. The
    arguments are those of `candidates`, with K = 1.
    """
    for piece in never:
        logits[:, :, piece] = -torch.inf
    best, pieces = logits.max(dim=2)
    pieces = pieces.masked_fill(last.unsqueeze(1), end)
    return Candidates(best - best, pieces, torch.zeros_like(pieces))


def ended(chosen: Candidates, scores: Tensor, end: int, last: Tensor) -> Candidates:
    """Return candidates in which all hypotheses of the `last` sentences, (B,), end, the best first.

    `scores` are those of the hypotheses with the end symbol, (B, K).
    """
    best, parents = scores[last].sort(dim=1, descending=True)
    hypotheses = parents.size(1)
    for part, values in zip(chosen, (best, end, parents), strict=True):
        part[last, :hypotheses] = values
    return chosen


def likeliest(total: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the largest values of each row (B, n · CHUNK) and their places, (B, C), largest first.

    They are in the chunks with the C largest maxima. Sorting what these hold is several times as
    fast as looking for the largest values among all, which torch does value by value.
    """
    chunks = total.unflatten(1, (-1, CHUNK))
    if chunks.size(1) <= count:
        return total.topk(count, dim=1)
    numbers = chunks.amax(dim=2).topk(count, dim=1).indices
    first = torch.arange(len(total), device=total.device).unsqueeze(1) * chunks.size(1)
    values = chunks.flatten(0, 1).index_select(0, (first + numbers).flatten())
    best, places = values.view(len(total), -1).topk(count, dim=1)
    return best, numbers.gather(1, places // CHUNK) * CHUNK + places % CHUNK
