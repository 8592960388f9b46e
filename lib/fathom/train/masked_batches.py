"""The batch of each update of a masked language model: blocks of the source with hidden pieces.

Which pieces of a training block are hidden depends on seed, update, task and block; those of a
held-out block are always the same (train/batches/held_out.py).
"""

from functools import cached_property

import numpy as np
import torch

from fathom.config.schema.run import Masking, TrainingSettings
from fathom.data.subwords import unigram
from fathom.data.subwords.vocabulary import SPECIAL
from fathom.data.tensors import PAD, Tensors
from fathom.io.errors import FathomError
from fathom.train.batches.blocks import BlockOrder, Text, split_evenly, texts
from fathom.train.batches.held_out import held_out_blocks, sampled_blocks
from fathom.train.batches.masking import Masked, collate, mask, predicted
from fathom.train.batches.sampler import Member
from fathom.train.batches.update_tasks import tasks_of_updates
from fathom.train.ranks import Ranks
from fathom.train.update_batches import MicroBatches, Share

# The second word of every seed: hidden pieces are independent of the order of blocks, and of the
# hidden pieces of held-out text.
_TRAINING = 2


class MaskedUpdateBatches:
    """The training batches of a run as a function of the update, and its validation batches.

    Attributes:
        updates: the updates of the run.
        validation: every validation block once.
        training_sample: as many training blocks.
    """

    def __init__(
        self,
        tensors: Tensors,
        training: TrainingSettings,
        masking: Masking,
        block_tokens: int,
        seed: int,
        ranks: Ranks,
        device: torch.device,
        tokens_per_device: int,
        micro_batches: int = 0,
    ):
        """Measure the text.

        Args:
            tensors: the encoded text, of which the source is read.
            training: the tokens of an update, those that are read, its tasks, and each one's share.
            masking: how many pieces are hidden, and how.
            block_tokens: the most tokens of a block, start symbol included.
            seed: of the order of data and of the hidden pieces.
            ranks: the processes that share an update.
            device: where batches are put.
            tokens_per_device: bound of a micro-batch's tokens, without padding.
            micro_batches: an update has a multiple of this number; 0 for that of processes.
        """
        self.device, self.share = device, Share(ranks, tokens_per_device, micro_batches)
        self.masking, self.seed = masking, seed
        self.entries = len(tensors.source_dictionary)
        self.texts = texts(tensors, "train", block_tokens)
        lines = [text.lines for text in self.texts]
        single = training.one_task_per_batch
        tasks = tasks_of_updates(lines, training.batch, training.shares, seed, single)
        self.order = BlockOrder([text.lengths for text in self.texts], tasks, seed)
        self.updates = self.order.updates_until(training.updates)
        self.validation = held_out_blocks(tensors, "valid", masking, block_tokens)
        self.training_sample = sampled_blocks(tensors, masking, block_tokens)

    def micro_batches(self, update: int) -> MicroBatches:
        """Return an update's batch as this process sees it; `update` counts from 1.

        Raises:
            FathomError: the update is so small that nothing of it is predicted.
        """
        members = self.order.update(update)
        lengths = [self.order.length(member) for member in members]
        count = self.share.count(sum(lengths))
        parts = self.share.own(split_evenly(lengths, count))
        # Losses are divided by the predicted tokens of the update: every process masks all of it.
        rows = [self._masked(member, update) for member in members]
        tokens = sum(map(predicted, rows))
        if not tokens:
            what = f"nothing is predicted in update {update}"
            raise FathomError(what, "training.batch.tokens", "raise it")
        batches = [
            collate([rows[i] for i in part], [members[i] for i in part]).to(self.device)
            for part in parts
        ]
        tasks = torch.tensor(sorted({task for task, _ in members}))
        return MicroBatches(batches, tokens, tasks, self.share.numbers(count))

    def epoch(self, update: int) -> float:
        """Return the epochs of the first updates: passes over the largest task."""
        return self.order.passes(update)

    @cached_property
    def unigram_nll(self) -> float:
        """NLL of the unigram baseline on the predicted validation pieces, nats a piece."""
        training = (pieces(text, block) for text in self.texts for block in range(len(text)))
        distribution = unigram.fit(training, self.entries)
        targets = (batch.target[batch.target != PAD].numpy() for batch in self.validation)
        nats, tokens = unigram.nll(distribution, targets)
        return nats / tokens

    def _masked(self, member: Member, update: int) -> Masked:
        """Return a training block's input and target at an update."""
        task, block = member
        tokens = self.texts[task].block(block)
        return mask(tokens, self.entries, self.masking, self.seed, _TRAINING, update, task, block)


def pieces(text: Text, block: int) -> np.ndarray:
    """Return the ids of a block that can be predicted: all but the dictionary's own symbols."""
    tokens = text.block(block)
    return tokens[tokens >= len(SPECIAL)]
