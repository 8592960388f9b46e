"""The batch of each update, split over processes and into micro-batches that fit on a device.

Which pieces of a training block are hidden depends on seed, update, task and block; those of a
held-out block are always the same (batches/held_out.py).
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from fathom.config.schema.run import Masking, TrainingSettings
from fathom.data import vocabulary
from fathom.data.tensors import PAD, Tensors
from fathom.data.vocabulary import SPECIAL
from fathom.io.errors import FathomError
from fathom.nn.device import to_device
from fathom.train.batches.collate import Batch, collate
from fathom.train.batches.held_out import (
    held_out_blocks,
    held_out_pairs,
    sampled_blocks,
    sampled_pairs,
)
from fathom.train.batches.masking import (
    BlockedText,
    BlockSampler,
    Masked,
    collate_masked,
    mask,
    predicted,
    split_evenly,
    texts,
)
from fathom.train.batches.sampler import Member, Sampler
from fathom.train.batches.update_tasks import tasks_of_updates
from fathom.train.ranks import Ranks

B = TypeVar("B")
P = TypeVar("P")
# The second word of every seed: hidden pieces are independent of the order of blocks, and of the
# hidden pieces of held-out text.
_TRAINING = 2


@dataclass(frozen=True)
class MicroBatches:
    """The batch of one update as one process sees it."""

    batches: Sequence[Batch]  # this process's micro-batches
    tokens: int  # target tokens of the update over all processes, T
    tasks: Tensor  # the tasks in the update over all processes, each once
    # Of this process's micro-batches among those of the update, from 0. With them the dropout of a
    # micro-batch does not depend on the process that has it; without, an update is one stream.
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class MicroBatchSplit:
    """The micro-batches of an update, and those of this process."""

    ranks: Ranks
    most: int  # target tokens of a micro-batch at most, without padding
    # An update has a multiple of this many micro-batches; 0 for the number of processes.
    multiple: int = 0

    def count(self, tokens: int) -> int:
        """Return how many micro-batches an update has, over all processes, by its tokens."""
        multiple = self.multiple or self.ranks.world
        return multiple * -(-tokens // (self.most * multiple))

    def own(self, parts: Sequence[P]) -> Sequence[P]:
        """Return this process's micro-batches, of which some may be empty: the last ones."""
        return [part for part in parts[self.ranks.rank :: self.ranks.world] if part]

    def numbers(self, count: int) -> Sequence[int]:
        """Return the numbers of this process's micro-batches; none if it makes the update alone.

        Then an update draws its dropout in one stream.
        """
        if self.ranks.world == 1 and not self.multiple:
            return ()
        return range(self.ranks.rank, count, self.ranks.world)


class UpdateBatches:
    """The training batches of a run as a function of the update, and its held-out batches.

    Attributes:
        updates: the updates of the run.
        unigram_nll: NLL of the unigram baseline on the validation targets, in nats per token.
        validation: every validation pair once.
        training_sample: as many training pairs.

    Args:
        tokens_per_device: bound of a micro-batch's target tokens, without padding.
        micro_batches: an update has a multiple of this number; 0 for that of processes.
    """

    def __init__(
        self,
        tensors: Tensors,
        training: TrainingSettings,
        seed: int,
        ranks: Ranks,
        device: torch.device,
        tokens_per_device: int,
        micro_batches: int = 0,
    ):
        self.device, self.split = device, MicroBatchSplit(ranks, tokens_per_device, micro_batches)
        self.pairs = tensors.splits("train")
        self.sampler = Sampler(
            [pairs.target_lengths for pairs in self.pairs],
            [pairs.source_lengths for pairs in self.pairs],
            training.batch,
            training.shares,
            seed,
            training.one_task_per_batch,
        )
        self.updates = self.sampler.updates_until(training.updates)
        self.unigram_nll = tensors.unigram_nll
        self.validation = held_out_pairs(tensors, "valid")
        self.training_sample = sampled_pairs(tensors)

    def micro_batches(self, update: int) -> MicroBatches:
        """Return an update's batch as this process sees it; `update` counts from 1."""
        members = self.sampler.update(update)[0]
        drawn, sentences = np.array(members).T
        tasks = np.unique(drawn)
        lengths = (self.pairs[task].target_lengths[sentences[drawn == task]] for task in tasks)
        tokens = sum(int(of_task.sum()) for of_task in lengths)
        count = self.split.count(tokens)
        parts = self.split.own(self.sampler.update(update, count))
        batches = [collate(self.pairs, part).to(self.device) for part in parts]
        present = to_device(torch.from_numpy(tasks), self.device)
        return MicroBatches(batches, tokens, present, self.split.numbers(count))

    def epoch(self, update: int) -> float:
        """Return the epochs of the first updates: passes over the largest task."""
        return self.sampler.passes(update)


class MaskedUpdateBatches:
    """The same for a masked language model: blocks of the source with hidden pieces.

    A block has at most `block_tokens` tokens, start symbol included.
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
        self.device, self.split = device, MicroBatchSplit(ranks, tokens_per_device, micro_batches)
        self.masking, self.seed = masking, seed
        self.entries = len(tensors.source_dictionary)
        self.texts = texts(tensors, "train", block_tokens)
        lines = [text.lines for text in self.texts]
        single = training.one_task_per_batch
        tasks = tasks_of_updates(lines, training.batch, training.shares, seed, single)
        self.order = BlockSampler([text.lengths for text in self.texts], tasks, seed)
        self.updates = self.order.updates_until(training.updates)
        self.validation = held_out_blocks(tensors, "valid", masking, block_tokens)
        self.training_sample = sampled_blocks(tensors, masking, block_tokens)

    def micro_batches(self, update: int) -> MicroBatches:
        """Return an update's batch as this process sees it; `update` counts from 1."""
        members = self.order.update(update)
        lengths = [self.order.length(member) for member in members]
        count = self.split.count(sum(lengths))
        parts = self.split.own(split_evenly(lengths, count))
        # Losses are divided by the predicted tokens of the update: every process masks all of it.
        rows = [self._masked(member, update) for member in members]
        tokens = sum(map(predicted, rows))
        if not tokens:
            what = f"nothing is predicted in update {update}"
            raise FathomError(what, "training.batch.tokens", "raise it")
        batches = [
            collate_masked([rows[i] for i in part], [members[i] for i in part]).to(self.device)
            for part in parts
        ]
        present = torch.tensor(sorted({task for task, _ in members}))
        tasks = to_device(present, self.device)
        return MicroBatches(batches, tokens, tasks, self.split.numbers(count))

    def epoch(self, update: int) -> float:
        """Return the epochs of the first updates: passes over the largest task."""
        return self.order.passes(update)

    @cached_property
    def unigram_nll(self) -> float:
        """NLL of the unigram baseline on the predicted validation pieces, in nats per piece."""
        training = (pieces(text, block) for text in self.texts for block in range(len(text)))
        distribution = vocabulary.unigram(training, self.entries)
        targets = (batch.target[batch.target != PAD].numpy() for batch in self.validation)
        nats, tokens = vocabulary.unigram_nll(distribution, targets)
        return nats / tokens

    def _masked(self, member: Member, update: int) -> Masked:
        """Return a training block's input and target at an update."""
        task, block = member
        tokens = self.texts[task].block(block)
        return mask(tokens, self.entries, self.masking, self.seed, _TRAINING, update, task, block)


def pieces(text: BlockedText, block: int) -> np.ndarray:
    """Return the ids of a block that can be predicted: all but the dictionary's symbols."""
    tokens = text.block(block)
    return tokens[tokens >= len(SPECIAL)]


class Prefetcher(Generic[B]):
    """A thread that makes the next `depth` batches while the current update computes.

    A batch depends on the number of its update alone, so nothing is lost or repeated where a
    training stops between making a batch and using it. The thread ends with the `with` block.
    """

    def __init__(self, make: Callable[[int], B], last: int, depth: int = 2):
        self._make, self._last, self._depth = make, last, depth
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batches")
        self._batches: dict[int, Future[B]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    def take(self, update: int) -> B:
        """Return the batch of an update; errors in making it are raised here."""
        for number in range(update, min(update + self._depth, self._last) + 1):
            if number not in self._batches:
                self._batches[number] = self._thread.submit(self._make, number)
        return self._batches.pop(update).result()
