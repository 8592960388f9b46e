"""The batch of each update, split over processes and into micro-batches that fit on a device."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from fathom.config.schema.run import TrainingSettings
from fathom.data.tensors import Tensors
from fathom.train.batches.fused import Batch, collate
from fathom.train.batches.held_out import held_out_pairs, sampled_pairs
from fathom.train.batches.sampler import Sampler
from fathom.train.ranks import Ranks

P = TypeVar("P")


@dataclass(frozen=True)
class MicroBatches:
    """The batch of one update as one process sees it.

    Attributes:
        batches: this process's micro-batches.
        tokens: target tokens of the update over all processes, T.
        tasks: the tasks in the update over all processes, each once.
        numbers: of this process's micro-batches among those of the update, from 0; with them each
            micro-batch draws its own dropout, whichever process has it. Without, an update does.
    """

    batches: Sequence[Batch]
    tokens: int
    tasks: Tensor
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Share:
    """The micro-batches of an update, and those of this process.

    Attributes:
        ranks: the processes that share an update.
        most: target tokens of a micro-batch at most, without padding.
        multiple: an update has a multiple of this many micro-batches; 0 for the number of
            processes.
    """

    ranks: Ranks
    most: int
    multiple: int = 0

    def count(self, tokens: int) -> int:
        """Return how many micro-batches an update has, over all processes, by its tokens."""
        multiple = self.multiple or self.ranks.world
        return multiple * -(-tokens // (self.most * multiple))

    def own(self, parts: Sequence[P]) -> Sequence[P]:
        """Return this process's micro-batches, of which some may be empty: the last ones."""
        return [part for part in parts[self.ranks.rank :: self.ranks.world] if part]

    def numbers(self, count: int) -> Sequence[int]:
        """Return the numbers of this process's micro-batches.

        None where one process makes the update alone and shares it with no other one: then an
        update draws its dropout in one stream.
        """
        if self.ranks.world == 1 and not self.multiple:
            return ()
        return range(self.ranks.rank, count, self.ranks.world)


class UpdateBatches:
    """The training batches of a run as a function of the update, and its validation batches.

    Attributes:
        updates: the updates of the run.
        unigram_nll: NLL of the unigram baseline on the validation targets, nats a token.
        validation: every validation pair once.
        training_sample: as many training pairs.
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
        """Measure the text.

        Args:
            tensors: the encoded text.
            training: the size of an update, its tasks, and each one's share.
            seed: of the order of data.
            ranks: the processes that share an update.
            device: where batches are put.
            tokens_per_device: bound of a micro-batch's target tokens, without padding.
            micro_batches: an update has a multiple of this number; 0 for that of processes.
        """
        self.device, self.share = device, Share(ranks, tokens_per_device, micro_batches)
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
        count = self.share.count(tokens)
        parts = self.share.own(self.sampler.update(update, count))
        batches = [collate(self.pairs, part).to(self.device) for part in parts]
        return MicroBatches(batches, tokens, torch.from_numpy(tasks), self.share.numbers(count))

    def epoch(self, update: int) -> float:
        """Return the epochs of the first updates: passes over the largest task."""
        return self.sampler.passes(update)
