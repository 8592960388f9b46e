"""Beam search in which every sentence has a cap on length of its own.

fairseq's generator caps a batch by its longest source, so that a hypothesis depends on the other
sentences of its batch. Here a sentence ends at its own cap, in any batch.
"""

import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fathom.models.network import Network
from fathom.runs.settings import Decoding


class CappedSearch(BeamSearch):
    """fairseq's beam search; a sentence at its cap can only choose the end symbol.

    Attributes:
        caps: (B,) the most pieces of each sentence of the batch, without the end symbol.
    """

    def __init__(self, dictionary: Dictionary):
        """Start without caps; they are set for each batch.

        Args:
            dictionary: the target side's.
        """
        super().__init__(dictionary)
        self.caps = torch.zeros(0, dtype=torch.long)

    def step(
        self,
        step: int,
        lprobs: Tensor,
        scores: Tensor | None,
        prev_output_tokens: Tensor | None = None,
        original_batch_idxs: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Choose the candidates of one position.

        At the cap of a sentence all of its beams end, which completes its hypotheses.

        Args:
            step: the position, from 0.
            lprobs: (B, beam, V) log-probabilities of the sentences that are still searched.
            scores: (B, beam, step) sums of log-probabilities up to each earlier position.
            prev_output_tokens: (B · beam, step + 1) the pieces so far.
            original_batch_idxs: (B,) each sentence's index in the batch.

        Returns:
            Scores, pieces and beams of the candidates, (B, 2 · beam) each.
        """
        at_cap = self.caps[original_batch_idxs] <= step
        if at_cap.any():
            others = torch.arange(self.vocab_size, device=lprobs.device) != self.eos
            lprobs = lprobs.masked_fill(at_cap[:, None, None] & others, -torch.inf)
        return super().step(step, lprobs, scores, prev_output_tokens, original_batch_idxs)


class Beam:
    """The beam search of one network, for one batch after another."""

    def __init__(self, network: Network, dictionary: Dictionary, settings: Decoding):
        """Prepare the search.

        Args:
            network: one with a decoder, whose task and gates are set.
            dictionary: the target side's.
            settings: beam, length penalty and cap.
        """
        self.settings = settings
        self.search = CappedSearch(dictionary)
        self.generator = SequenceGenerator(
            [network],
            dictionary,
            beam_size=settings.beam,
            len_penalty=settings.length_penalty,
            search_strategy=self.search,
        )
        self.pad, self.eos = dictionary.pad(), dictionary.eos()

    def cap(self, source_pieces: int) -> int:
        """Return the cap for a number of source pieces; neither counts the end symbol."""
        settings = self.settings
        own = int(settings.cap_ratio * source_pieces) + settings.cap_constant
        return min(own, self.generator.max_len - 1)

    @torch.no_grad()
    def best(self, source: Tensor) -> list[list[int]]:
        """Return the best hypothesis of each sentence, without the end symbol.

        Args:
            source: (B, S) right-padded, each sentence with its end symbol.
        """
        lengths = source.ne(self.pad).sum(dim=1)
        caps = [self.cap(length - 1) for length in lengths.tolist()]
        self.search.caps = torch.tensor(caps, device=source.device)
        # The bound of the batch: no sentence reaches it before its own cap.
        self.generator.max_len_b = max(caps)
        batch = {"net_input": {"src_tokens": source, "src_lengths": lengths}}
        sentences = self.generator.generate([], batch)
        hypotheses = [sentence[0]["tokens"].tolist() for sentence in sentences]
        return [[piece for piece in pieces if piece != self.eos] for pieces in hypotheses]
