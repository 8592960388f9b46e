"""What each update of a masked language model is fed with: blocks of the source side, masked.

Which pieces of a training block are hidden follows from seed, update, task and block; those of a
held-out block are always the same (batches/held_out.py).
"""

from functools import cached_property

import numpy as np
import torch

from fathom.batches.blocks import BlockOrder, Text, language_shares, parted, texts
from fathom.batches.held_out import held_out_blocks
from fathom.batches.masking import Masked, collate, mask, predicted
from fathom.batches.sampler import Member, shares
from fathom.batches.tensors import PAD, Tensors
from fathom.errors import FathomError
from fathom.runs.spec import Batches, Masking
from fathom.subwords import unigram
from fathom.subwords.vocabulary import SPECIAL
from fathom.training.ranks import Ranks
from fathom.training.two_level import Parts

# The second word of every seed: hidden pieces are strangers to the order of blocks, and to those
# of held-out text.
_TRAINING = 2


class MaskedFeed:
    """The training batches of a run as a function of the update, and its validation batches."""

    def __init__(
        self,
        tensors: Tensors,
        batches: Batches,
        masking: Masking,
        block_tokens: int,
        seed: int,
        ranks: Ranks,
        device: torch.device,
        tokens_per_device: int,
    ):
        """Measure the text.

        Args:
            tensors: the encoded text, of which the source side is read.
            batches: tokens of an update, those that are read.
            masking: how many pieces are hidden, and how, and each language's share of an update.
            block_tokens: the most tokens of a block, start symbol included.
            seed: of the order of data and of the hidden pieces.
            ranks: the processes that share an update.
            device: where batches are put.
            tokens_per_device: tokens of a micro-batch, at most, padding not counted.
        """
        self.ranks, self.device, self.tokens_per_device = ranks, device, tokens_per_device
        self.masking, self.seed = masking, seed
        self.entries = len(tensors.source_dictionary)
        self.texts = texts(tensors, "train", block_tokens)
        lines = [text.lines for text in self.texts]
        tokens = sum(shares(lines, batches)) * language_shares(lines, masking.language_exponent)
        self.order = BlockOrder([text.lengths for text in self.texts], tokens.tolist(), seed)
        self.validation = held_out_blocks(tensors, "valid", masking, block_tokens)

    def parts(self, update: int) -> Parts:
        """Return an update's batch as this process sees it; `update` counts from 1.

        Raises:
            FathomError: the update is so small that nothing of it is predicted.
        """
        whole = self.order.update(update)
        lengths = [self.order.length(member) for member in whole]
        world = self.ranks.world
        micro = world * -(-sum(lengths) // (self.tokens_per_device * world))
        mine = parted(lengths, micro)[self.ranks.rank :: world]
        # Losses are divided by what the whole update predicts, so that every process masks it all.
        rows = [self._masked(member, update) for member in whole]
        tokens = sum(map(predicted, rows))
        if not tokens:
            raise FathomError(
                f"update {update} predicts nothing", "training.batches.tokens", "write more"
            )
        batches = [
            collate([rows[i] for i in part], [whole[i] for i in part]).to(self.device)
            for part in mine
            if part
        ]
        return Parts(batches, tokens, torch.tensor(sorted({task for task, _ in whole})))

    def epoch(self, update: int) -> float:
        """Return the passes over the largest task after an update."""
        return self.order.passes(update)

    @cached_property
    def unigram_nll(self) -> float:
        """The yardstick: nats a predicted piece of validation, by the pieces' frequencies alone."""
        training = (pieces(text, block) for text in self.texts for block in range(len(text)))
        known = unigram.fit(training, self.entries)
        targets = (batch.target[batch.target != PAD].numpy() for batch in self.validation)
        nats, tokens = unigram.nll(known, targets)
        return nats / tokens

    def _masked(self, member: Member, update: int) -> Masked:
        """Return a training block's input and target at an update."""
        task, block = member
        tokens = self.texts[task].block(block)
        return mask(tokens, self.entries, self.masking, self.seed, _TRAINING, update, task, block)


def pieces(text: Text, block: int) -> np.ndarray:
    """Return the ids of a block that may be predicted: all but the dictionary's own symbols."""
    tokens = text.block(block)
    return tokens[tokens >= len(SPECIAL)]
