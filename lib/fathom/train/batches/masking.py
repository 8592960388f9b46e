"""Which pieces of a text a masked language model has to predict, and what replaces them.

As in BERT and fairseq: of the chosen pieces most become the mask symbol, some a random piece, and
some stay; only chosen pieces are predicted. fairseq may choose any position; here the dictionary's
own symbols are never chosen, because nothing is learnt from them.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from fathom.config.schema.run import Masking
from fathom.data.subwords.vocabulary import SPECIAL
from fathom.data.tensors import PAD
from fathom.train.batches.fused import Batch
from fathom.train.batches.sampler import Member

# Random numbers of 53 bits, as many as a float64 holds.
_BITS, _DROPPED = 53, 11

Masked = tuple[np.ndarray, np.ndarray]


def mask_symbol(entries: int) -> int:
    """Return the mask symbol's id: the first after the dictionary's `entries`, as in fairseq.

    Dictionary files do not contain it.
    """
    return entries


def mask(tokens: np.ndarray, entries: int, masking: Masking, *where: int) -> Masked:
    """Hide pieces of a text; a pure function of its arguments.

    The number of chosen pieces is rounded at random, so that short texts have their share on
    average.

    Args:
        tokens: (T,) ids, among them the dictionary's own symbols.
        entries: of the dictionary, without the mask symbol.
        masking: how many pieces are chosen, and what replaces them.
        where: the seed and the words that identify the draw, integers of at least 0.

    Returns:
        (T,) the input, and (T,) the target, PAD where nothing is predicted.
    """
    stream = np.random.PCG64(np.random.SeedSequence(where))
    first = len(SPECIAL)
    pieces = np.flatnonzero(tokens >= first)
    keys = _uniform(stream, len(pieces) + 1)
    count = int(masking.chosen * len(pieces) + keys[-1])
    chosen = pieces[np.argsort(keys[:-1], kind="stable")[:count]]
    fate, other = _uniform(stream, count), _uniform(stream, count)
    hidden, target = tokens.astype(np.int64), np.full(len(tokens), PAD)
    target[chosen] = tokens[chosen]
    changed = masking.masked + masking.random
    replaced = (fate >= masking.masked) & (fate < changed)
    hidden[chosen[fate < masking.masked]] = mask_symbol(entries)
    drawn = first + (other * (entries - first)).astype(np.int64)
    hidden[chosen[replaced]] = drawn[replaced]
    return hidden, target


def collate(rows: Sequence[Masked], members: Sequence[Member]) -> Batch:
    """Return a batch of masked texts of several tasks.

    Args:
        rows: input and target of each text, (T,) each, from `mask`; at least one.
        members: (task, text) of each row.
    """
    source, target = (_padded(side) for side in zip(*rows, strict=True))  # (B, T)
    where = torch.tensor(members, dtype=torch.long)  # (B, 2)
    return Batch(
        source=source,
        previous_target=source.new_empty(len(rows), 0),
        target=target,
        tasks=where[:, 0].contiguous(),
        sentences=where[:, 1].contiguous(),
        tokens=sum(map(predicted, rows)),
        source_lengths=tuple(len(side) for side, _ in rows),
    )


def predicted(row: Masked) -> int:
    """Return how many tokens of a masked text are predicted."""
    return int((row[1] != PAD).sum())


def _uniform(stream: np.random.PCG64, count: int) -> np.ndarray:
    """Return numbers in [0, 1), (count,), from raw bits, whose sequence numpy guarantees."""
    bits = stream.random_raw(count)
    return np.ldexp((bits >> np.uint64(_DROPPED)).astype(np.float64), -_BITS)


def _padded(rows: Sequence[np.ndarray]) -> torch.Tensor:
    """Return rows of ids as one tensor, (B, longest), padded on the right."""
    return pad_sequence(
        [torch.from_numpy(row) for row in rows], batch_first=True, padding_value=PAD
    )
