"""fairseq's own generator, with a cap on length for each sentence: the reference of `Beam`.

fairseq's generator caps a batch by its longest source, so that a hypothesis depends on the other
sentences of its batch. Here a sentence ends at its own cap, in any batch. The generator passes no
tasks, so sentences of different tasks are searched apart. The penalty on length orders the
hypotheses that have ended and changes nothing else, so the generator's are put in another order
for the form that it lacks.
"""

import math
from collections.abc import Sequence

import torch
from fairseq.data import Dictionary
from fairseq.search import BeamSearch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor, nn

from fathom.config.schema.run import Decoding
from fathom.decode.beam import cap
from fathom.nn.network import Network
from tests.reference.padded.networks import padded


class CappedSearch(BeamSearch):
    """fairseq's beam search; a sentence at its cap can only choose the end symbol."""

    def __init__(self, dictionary: Dictionary):
        super().__init__(dictionary)
        # (B,) the most pieces of each sentence, without the end symbol; set for each batch.
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


class FairseqBeam:
    """The beam search of one network, for one batch after another."""

    sentences = 128  # that are searched together, at most

    def __init__(
        self,
        network: nn.Module,
        dictionary: Dictionary,
        settings: Decoding,
        starts: Sequence[int] | None = None,
    ):
        """Prepare the search of a network with a decoder, whose gates are set, or of fairseq's.

        `starts` are what the decoder of each task reads first; None is the end symbol for all.
        """
        self.network, self.settings, self.starts = network, settings, starts
        self.model = padded(network) if isinstance(network, Network) else network
        self.search = CappedSearch(dictionary)
        self.generator = SequenceGenerator(
            [self.model],
            dictionary,
            beam_size=settings.beam,
            len_penalty=settings.length_penalty,
            search_strategy=self.search,
        )
        self.pad, self.eos = dictionary.pad(), dictionary.eos()

    @torch.no_grad()
    def best(self, source: Tensor, tasks: Tensor) -> list[list[int] | None]:
        """Return the best hypothesis of each sentence, without the end symbol.

        Args:
            source: (B, S) right-padded, each sentence with its end symbol.
            tasks: (B,) the task of each sentence; a network of fairseq's own has no tasks.
        """
        if not isinstance(self.network, Network):
            return self.of_one_task(source)
        results: list[list[int] | None] = [None] * len(source)
        for task in tasks.unique().tolist():
            self.model.encoder.task = self.model.decoder.task = task
            rows = (tasks == task).nonzero().squeeze(1)
            start = None if self.starts is None else self.starts[task]
            best = self.of_one_task(source[rows], start)
            for row, pieces in zip(rows.tolist(), best, strict=True):
                results[row] = pieces
        return results

    def of_one_task(self, source: Tensor, start: int | None = None) -> list[list[int] | None]:
        """Return the best hypothesis of each sentence of a batch of one task.

        Args:
            source: (B, S) right-padded, each sentence with its end symbol.
            start: what the decoder reads first; None for the end symbol.
        """
        lengths = source.ne(self.pad).sum(dim=1)
        positions = self.generator.max_len
        caps = [cap(self.settings, length - 1, positions) for length in lengths.tolist()]
        self.search.caps = torch.tensor(caps, device=source.device)
        # The bound of the batch: no sentence reaches it before its own cap.
        self.generator.max_len_b = max(caps)
        batch = {"net_input": {"src_tokens": source, "src_lengths": lengths}}
        sentences = self.generator.generate([], batch, bos_token=start)
        if self.settings.length_penalty_form == "gnmt":
            for sentence in sentences:
                sentence.sort(key=self.gnmt_score, reverse=True)
        hypotheses = [sentence[0]["tokens"].tolist() for sentence in sentences]
        return [[piece for piece in pieces if piece != self.eos] for pieces in hypotheses]

    def gnmt_score(self, hypothesis: dict[str, Tensor]) -> float:
        """Return s(Y, X) = log P(Y|X) / lp(Y) of Wu et al. (2016), eq. 14, without coverage."""
        terms = hypothesis["positional_scores"].double()
        logarithm = math.log(5 + len(terms)) - math.log(5 + 1)
        return terms.sum().item() / math.exp(self.settings.length_penalty * logarithm)
