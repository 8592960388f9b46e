"""CTranslate2's beam search, and the check that it computes what our network does.

It searches on the CPU, in single precision. At a sentence's cap it returns the hypothesis without
scoring an end symbol, which fathom does, and a source without pieces has an empty hypothesis; all
other hypotheses are equal but for rounding.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from fathom.config.plain import REMEDY
from fathom.config.schema.run import Decoding
from fathom.data.tensors import EOS, Pairs
from fathom.decode.export import ctranslate2_model
from fathom.io.errors import FathomError
from fathom.nn.network import Network

# Validation pairs of a task whose targets both score, and how far two scores may differ (nats).
CHECKED, TOLERANCE = 8, 1e-5
# Sentences of a batch.
SENTENCES = 64


class Search:
    """CTranslate2 with one model."""

    def __init__(self, folder: Path, source: Sequence[str], target: Sequence[str]):
        """Load a model; its files are not needed after that.

        Args:
            folder: what `ctranslate2_model.write` wrote.
            source: the source's vocabulary by id.
            target: the target's.
        """
        self.source, self.target = source, target
        self.ids = {piece: number for number, piece in enumerate(target)}
        self.translator = ctranslate2_model.installed().Translator(
            str(folder),
            device="cpu",
            compute_type="float32",
            inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )

    def best(
        self, sources: Sequence[Tensor], settings: Decoding, starts: Sequence[int] | None = None
    ) -> list[list[int]]:
        """Return the best hypothesis of each sentence, without the end symbol.

        Args:
            sources: (S,) each, with its end symbol.
            settings: beam, length penalty and cap.
            starts: what the decoder reads first for each; None is the end symbol for all.
        """
        prefixes = [self.prefix(start) for start in starts or [EOS] * len(sources)]
        by_cap: dict[int, list[int]] = defaultdict(list)
        for number, source in enumerate(sources):
            by_cap[settings.cap(len(source) - 1)].append(number)
        hypotheses: dict[int, list[int]] = {}
        # A call has one cap for all of its sentences.
        for cap, numbers in by_cap.items():
            results = self.translator.translate_batch(
                [_pieces(sources[number], self.source) for number in numbers],
                target_prefix=[prefixes[number] for number in numbers],
                max_batch_size=SENTENCES,
                beam_size=settings.beam,
                length_penalty=settings.length_penalty,
                max_decoding_length=cap,
                max_input_length=0,
            )
            for number, result in zip(numbers, results, strict=True):
                hypotheses[number] = [self.ids[piece] for piece in result.hypotheses[0]]
        return [hypotheses[number] for number in range(len(sources))]

    def log_probabilities(self, source: Tensor, target: Tensor, start: int = EOS) -> Tensor:
        """Return the log-probability of each piece of a target, (T,).

        Args:
            source: (S,) with its end symbol.
            target: (T,) with its end symbol.
            start: what the decoder reads first.
        """
        pieces = [*self.prefix(start), *_pieces(target, self.target)]
        sentences = [_pieces(source, self.source)], [pieces]
        (result,) = self.translator.score_batch(*sentences, max_input_length=0)
        return torch.tensor(result.log_probs)

    def prefix(self, start: int) -> list[str]:
        """Return what CTranslate2 is given to start with: a token; it has the end symbol itself."""
        return [] if start == EOS else [self.target[start]]


def _pieces(sentence: Tensor, vocabulary: Sequence[str]) -> list[str]:
    """Return a sentence's pieces without the end symbol, which CTranslate2 adds."""
    numbers: list[int] = sentence[:-1].tolist()
    return [vocabulary[number] for number in numbers]


def require_equal(search: Search, network: Network, task: int, pairs: Pairs, where: str) -> None:
    """Compare the log-probabilities of real targets, from the shortest to the longest.

    Args:
        search: CTranslate2 with the exported network.
        network: ours, with its gates in use.
        task: of the pairs.
        pairs: validation text.
        where: what the message names first.

    Raises:
        FathomError: one differs by more than TOLERANCE, or there is no pair of two full sentences.
    """
    complete = (pairs.source_lengths > 1) & (pairs.target_lengths > 1)
    order = sorted(complete.nonzero()[0].tolist(), key=pairs.target_lengths.__getitem__)
    if not order:
        raise FathomError("no validation text to check CTranslate2 with", where, REMEDY)
    chosen = {order[place * (len(order) - 1) // (CHECKED - 1)] for place in range(CHECKED)}
    worst = 0.0
    for number in sorted(chosen):
        source, target = pairs.source(number), pairs.target(number)
        own = _log_probabilities(network, task, source, target, pairs.start)
        other = search.log_probabilities(source, target, pairs.start)
        difference = (own - other).abs().max()
        worst = max(worst, float(difference.nan_to_num(torch.inf)))
    if not worst <= TOLERANCE:
        what = f"CTranslate2's log-probabilities differ by {worst:.1g} nats, more than {TOLERANCE}"
        raise FathomError(what, where, REMEDY)


@torch.no_grad()
def _log_probabilities(
    network: Network, task: int, source: Tensor, target: Tensor, start: int
) -> Tensor:
    """Return what our network gives each piece of a target, (T,)."""
    device = next(network.parameters()).device
    source, target = source.to(device), target.to(device)
    previous = target.roll(1)
    previous[0] = start
    logits = network(source[None], previous[None], torch.tensor([task], device=device))[0]
    chosen = logits.float().log_softmax(-1).gather(1, target[:, None].long())
    return chosen[:, 0].cpu()
