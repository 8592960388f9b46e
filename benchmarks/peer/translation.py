"""Translation: sentences a second of all test sets, without start-up, each side at its best batch.

All ways have the same weights: those of the network that `learning` trained. fairseq caps a batch
by its longest source, and ours caps each sentence by its own, so hypotheses at a cap may differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from benchmarks.peer.contenders import OURS
from benchmarks.peer.results import Cell, Table, cell
from benchmarks.peer.stock import transformer
from benchmarks.peer.timing import alternate, clock, faster, timed
from benchmarks.peer.workload import Workload
from fathom.batches.tensors import EOS, PAD
from fathom.inference.beam import Beam
from fathom.inference.translate import batches, hypotheses
from fathom.models.network import Network
from fathom.runs.settings import Decoding
from fathom.runs.spec import Spec

STOCK, CTRANSLATE2 = "fairseq's generator", "fathom by CTranslate2"
SIZES = (32, 64, 128, 256)
COLUMNS = (
    "",
    "sentences a batch",
    "sentences/s",
    "as fathom, of all",
    "times fairseq",
    "quartiles",
)
Hypotheses = list[list[int]]
# Translates all sentences, in batches of at most that many.
Way = Callable[[int], Hypotheses]


@dataclass(frozen=True)
class Sources:
    """The test sentences of all languages.

    Attributes:
        sentences: (S,) ids of each, with the end symbol.
        tasks: the task of each.
    """

    sentences: Sequence[Tensor]
    tasks: Sequence[int]

    @classmethod
    def of(cls, workload: Workload) -> "Sources":
        """Return the test sentences of a text."""
        splits = workload.tensors.splits("test")
        return cls(
            [pairs.source(number) for pairs in splits for number in range(len(pairs))],
            [pairs.task for pairs in splits for _ in range(len(pairs))],
        )


def ours(workload: Workload, network: Network, settings: Decoding, sources: Sources) -> Way:
    """Return our search, as `fathom translate` runs it but for the size of a batch."""
    beam = Beam(network, workload.tensors.target_dictionary, settings)
    given = beam, sources.sentences, sources.tasks, workload.device
    return lambda size: hypotheses(*given, sentences=size)


def stock(
    workload: Workload, network: Network, spec: Spec, settings: Decoding, sources: Sources
) -> Way:
    """Return fairseq's generator and network, all languages in one list sorted by length."""
    text, device = workload.tensors, workload.device
    model = transformer(spec.model, text, network.state_dict()).to(device).eval()
    generator = SequenceGenerator(
        [model],
        text.target_dictionary,
        beam_size=settings.beam,
        max_len_a=settings.cap_ratio,
        max_len_b=settings.cap_constant,
        len_penalty=settings.length_penalty,
    )
    every = sources.sentences

    @torch.no_grad()
    def way(size: int) -> Hypotheses:
        done: dict[int, list[int]] = {}
        for numbers in batches([len(source) for source in every], 10**9, size):
            chosen = [every[number] for number in numbers]
            padded = torch.nn.utils.rnn.pad_sequence(chosen, batch_first=True, padding_value=PAD)
            padded = padded.to(device)
            inputs = {"src_tokens": padded, "src_lengths": padded.ne(PAD).sum(dim=1)}
            for number, found in zip(
                numbers, generator.generate([], {"net_input": inputs}), strict=True
            ):
                pieces = found[0]["tokens"].tolist()
                done[number] = [piece for piece in pieces if piece != EOS]
        return [done[number] for number in range(len(every))]

    return way


def best_size(way: Way, now: Callable[[], float]) -> int:
    """Return the size of batches that is fastest in one try of each."""
    seconds = {}
    for size in SIZES:
        start = now()
        way(size)
        seconds[size] = now() - start
    return min(seconds, key=seconds.__getitem__)


def table(workload: Workload, network: Network, spec: Spec, beam: int, rounds: int) -> Table:
    """Return the speed of all ways at one width of the beam.

    Args:
        workload: text and device.
        network: ours, trained.
        spec: its run.
        beam: hypotheses at each position.
        rounds: whose medians are taken.
    """
    if spec.decoding is None:
        raise ValueError("a run without a decoder translates nothing")
    settings = spec.decoding.model_copy(update={"beam": beam})
    network.eval()
    sources, now = Sources.of(workload), clock(workload.device)
    ways: Mapping[str, Way] = {
        OURS: ours(workload, network, settings, sources),
        STOCK: stock(workload, network, spec, settings, sources),
    }
    sizes = {name: best_size(way, now) for name, way in ways.items()}
    made: dict[str, Hypotheses] = {}
    taking_part = {
        name: timed(now, lambda _, name=name: made.__setitem__(name, ways[name](sizes[name])))
        for name in ways
    }
    seconds = alternate(taking_part, rounds, warm_up=0)
    count = len(sources.sentences)
    rows: list[list[Cell]] = []
    numbers: dict[str, float] = {}
    for name, own in seconds.items():
        gain = faster(seconds[STOCK], own)
        rate = count * len(own) / sum(own)
        same = sum(a == b for a, b in zip(made[name], made[OURS], strict=True))
        quartiles = f"{cell(gain.low)} to {cell(gain.high)}"
        agreed = f"{same} of {count}"
        rows.append([name, str(sizes[name]), rate, agreed, gain.middle, quartiles])
        numbers[f"translation.beam_{beam}.{name}"] = gain.middle
        numbers[f"translation.beam_{beam}.{name}.sentences_per_second"] = rate
        if name == OURS and beam == spec.decoding.beam:
            numbers["translation.sets_per_second"] = len(own) / sum(own)
    name, tasks = workload.static_shapes[0].name, len(set(sources.tasks))
    title = f"Translation of {count:,} sentences of {tasks} test sets, {name}, beam {beam}"
    return Table(f"translation.beam_{beam}", title, COLUMNS, rows, numbers)
