"""What each update is fed with: its batch, cut for the processes and for a device's memory."""

import torch

from fathom.batches.fused import collate
from fathom.batches.held_out import held_out_pairs
from fathom.batches.sampler import Sampler
from fathom.batches.tensors import Tensors
from fathom.runs.spec import Batches
from fathom.training.ranks import Ranks
from fathom.training.two_level import Parts


class Feed:
    """The training batches of a run as a function of the update, and its validation batches."""

    def __init__(
        self,
        tensors: Tensors,
        batches: Batches,
        seed: int,
        ranks: Ranks,
        device: torch.device,
        tokens_per_device: int,
    ):
        """Measure the text.

        Args:
            tensors: the encoded text.
            batches: how an update is drawn.
            seed: of the order of data.
            ranks: the processes that share an update.
            device: where batches are put.
            tokens_per_device: target tokens of a micro-batch, at most, padding not counted.
        """
        self.ranks, self.device, self.tokens_per_device = ranks, device, tokens_per_device
        self.pairs = tensors.splits("train")
        self.sampler = Sampler(
            [pairs.target_lengths for pairs in self.pairs],
            [pairs.source_lengths for pairs in self.pairs],
            batches,
            seed,
        )
        self.unigram_nll = tensors.unigram_nll
        self.validation = held_out_pairs(tensors, "valid")

    def parts(self, update: int) -> Parts:
        """Return an update's batch as this process sees it; `update` counts from 1."""
        whole = self.sampler.update(update)[0]
        tokens = sum(int(self.pairs[task].target_lengths[sentence]) for task, sentence in whole)
        world = self.ranks.world
        micro = world * -(-tokens // (self.tokens_per_device * world))
        mine = self.sampler.update(update, micro)[self.ranks.rank :: world]
        batches = [collate(self.pairs, part).to(self.device) for part in mine if part]
        return Parts(batches, tokens, torch.tensor(sorted({task for task, _ in whole})))

    def epoch(self, update: int) -> float:
        """Return the passes over the largest task after an update."""
        return self.sampler.passes(update)
