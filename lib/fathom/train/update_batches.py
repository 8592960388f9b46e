"""The batch of each update, split over processes and into micro-batches that fit on a device.

Which pieces of a training block are hidden depends on seed, update, task and block; those of a
held-out block are always the same (batches/held_out.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from fathom.config.spec import Spec
from fathom.data import vocabulary
from fathom.data.tensors import PAD, Tensors
from fathom.data.vocabulary import SPECIAL
from fathom.io.errors import FathomError
from fathom.nn.device import to_device
from fathom.nn.network import Batch
from fathom.train.batches.collate import collate
from fathom.train.batches.held_out import held_out
from fathom.train.batches.masking import (
    BlockedText,
    BlockSampler,
    Masked,
    collate_masked,
    count_predicted,
    mask,
    predicted,
    texts,
)
from fathom.train.batches.sampler import Member, Sampler, tasks_of_updates
from fathom.train.ranks import Ranks

B = TypeVar("B")
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


class RunBatches(ABC):
    """The training batches of a run as a function of the update, and its held-out batches.

    `validation` has every validation text once, and `training_sample` as many training texts;
    `unigram_nll` is that of the unigram baseline on the validation targets, in nats per token.
    `tokens_per_device` bounds a micro-batch's target tokens, without padding. An update has a
    multiple of `micro_batches` of them; 0 for the number of processes.
    """

    def __init__(
        self,
        tensors: Tensors,
        spec: Spec,
        seed: int,
        ranks: Ranks,
        device: torch.device,
        tokens_per_device: int,
        micro_batches: int = 0,
    ):
        self.seed, self.ranks, self.device = seed, ranks, device
        self._most = tokens_per_device
        # A process that makes the update alone draws its dropout in one stream, and has 0.
        self.multiple = micro_batches or (ranks.world if ranks.world > 1 else 0)
        self.sampler = self._read(tensors, spec)
        self.validation = held_out(tensors, "valid", spec)
        self.training_sample = held_out(tensors, "train", spec, as_many_as="valid")
        self.updates = self.sampler.updates_until(spec.training.updates)

    def micro_batches(self, update: int) -> MicroBatches:
        """Return an update's batch as this process sees it; `update` counts from 1."""
        rank, world = self.ranks.rank, self.ranks.world
        members = self.sampler.update(update)
        length = sum(map(self.sampler.length, members))
        multiple = self.multiple or 1
        count = multiple * -(-length // (self._most * multiple))
        # Some may be empty: the last ones.
        parts = [part for part in self.sampler.split(members, count)[rank::world] if part]
        tokens, batches = self._collated(update, members, parts)
        numbers = range(rank, count, world) if self.multiple else ()
        present = torch.tensor(sorted({task for task, _ in members}))
        there = [batch.to(self.device) for batch in batches]
        return MicroBatches(there, tokens, to_device(present, self.device), numbers)

    @abstractmethod
    def _read(self, tensors: Tensors, spec: Spec) -> Sampler | BlockSampler:
        """Read all text, and return the order of the training text."""

    @abstractmethod
    def _collated(
        self, update: int, members: list[Member], parts: list[list[Member]]
    ) -> tuple[int, list[Batch]]:
        """Return the target tokens of an update's texts, and the batches of this process's."""


class UpdateBatches(RunBatches):
    """The batches of a translation: pairs of sentences."""

    def _read(self, tensors: Tensors, spec: Spec) -> Sampler:
        training = spec.training
        self.pairs = tensors.splits("train")
        self.unigram_nll = tensors.unigram_nll
        return Sampler(
            [pairs.target_lengths for pairs in self.pairs],
            [pairs.source_lengths for pairs in self.pairs],
            training.batch,
            training.shares,
            self.seed,
            training.tasks_per_update,
        )

    def _collated(
        self, update: int, members: list[Member], parts: list[list[Member]]
    ) -> tuple[int, list[Batch]]:
        tokens = sum(map(self.sampler.length, members))
        return tokens, [collate(self.pairs, part) for part in parts]


class MaskedUpdateBatches(RunBatches):
    """The same for a masked language model: blocks of the source with hidden pieces."""

    def _read(self, tensors: Tensors, spec: Spec) -> BlockSampler:
        training, masking, block_tokens = spec.training, spec.masking, spec.model.block
        if masking is None or block_tokens is None:
            raise RuntimeError("the run predicts no hidden pieces")
        self.masking, self.entries = masking, len(tensors.source_dictionary)
        self.texts = texts(tensors, "train", block_tokens)
        lines = [text.lines for text in self.texts]
        number = training.tasks_per_update
        tasks = tasks_of_updates(lines, training.batch, training.shares, self.seed, number)
        return BlockSampler([text.lengths for text in self.texts], tasks, self.seed)

    def _collated(
        self, update: int, members: list[Member], parts: list[list[Member]]
    ) -> tuple[int, list[Batch]]:
        rows = {member: self._masked(update, member) for part in parts for member in part}
        # Losses are divided by the predicted tokens of the update, those of other processes too.
        tokens = sum(
            predicted(rows[member]) if member in rows else self._predicted(update, member)
            for member in members
        )
        if not tokens:
            what = f"nothing is predicted in update {update}"
            raise FathomError(what, "training.batch.tokens", "raise it")
        return tokens, [collate_masked([rows[member] for member in part], part) for part in parts]

    def _masked(self, update: int, member: Member) -> Masked:
        where = (self.seed, _TRAINING, update, *member)
        return mask(self._block(member), self.entries, self.masking, *where)

    def _predicted(self, update: int, member: Member) -> int:
        where = (self.seed, _TRAINING, update, *member)
        return count_predicted(self._block(member), self.masking, *where)

    def _block(self, member: Member) -> np.ndarray:
        task, block = member
        return self.texts[task].block(block)

    @cached_property
    def unigram_nll(self) -> float:
        """NLL of the unigram baseline on the predicted validation pieces, in nats per piece."""
        training = (pieces(text, block) for text in self.texts for block in range(len(text)))
        distribution = vocabulary.unigram(training, self.entries)
        targets = (batch.target[batch.target != PAD].numpy() for batch in self.validation)
        nats, tokens = vocabulary.unigram_nll(distribution, targets)
        return nats / tokens


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
