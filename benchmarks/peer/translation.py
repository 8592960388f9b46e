"""Translation: sentences a second of all test sets, without start-up, each side at its best batch.

All ways have the same weights: those of our network after a short training. fairseq caps a batch
by its longest source, and ours caps each sentence by its own, so hypotheses at a cap may differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from benchmarks.peer.contenders import OURS
from benchmarks.peer.results import Cell, Table, cell
from benchmarks.peer.stock import POSITIONS, transformer
from benchmarks.peer.timing import alternate, clock, faster, timed
from benchmarks.peer.workload import Workload
from fathom.config.schema.run import Decoding
from fathom.config.spec import Spec
from fathom.data.tensors import EOS, PAD
from fathom.decode.beam import Beam
from fathom.decode.translate import hypotheses
from fathom.io.errors import FathomError
from fathom.nn.network import Network
from fathom.train.batches.collate import grouped

STOCK, CTRANSLATE2 = "fairseq's generator", "fathom by CTranslate2"
SIZES = (32, 64, 128, 256)
# Of the network that translates.
UPDATES = 340
COLUMNS = (
    "",
    "sentences a batch",
    "sentences/s",
    "as fathom, of all",
    "times fairseq",
    "quartiles",
)
Hypotheses = list[list[int]]


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

    def every(self, step: int) -> "Sources":
        """Return every second sentence, or third, and so on."""
        return Sources(self.sentences[::step], self.tasks[::step])


# Translates sentences, in batches of at most that many.
Way = Callable[[Sources, int], Hypotheses]


def trained(workload: Workload, spec: Spec) -> Network:
    """Return our network after the first updates of a run."""
    training = workload.training(spec)
    for number in range(1, UPDATES + 1):
        training.two_level.update(number, training.batches.micro_batches(number))
    return training.network.eval()


def ours(workload: Workload, network: Network, settings: Decoding) -> Way:
    """Return our search, as `fathom translate` runs it but for the size of a batch."""
    beam = Beam(network, workload.tensors.target_dictionary, settings)

    def way(sources: Sources, size: int) -> Hypotheses:
        given = sources.sentences, sources.tasks, workload.device
        return hypotheses(beam, *given, sentences=size)

    return way


def stock(workload: Workload, network: Network, spec: Spec, settings: Decoding) -> Way:
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

    @torch.no_grad()
    def way(sources: Sources, size: int) -> Hypotheses:
        every = sources.sentences
        done: dict[int, list[int]] = {}
        for numbers in grouped(dict(enumerate(map(len, every))), 10**9, size):
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


def by_ctranslate2(workload: Workload, network: Network, spec: Spec, settings: Decoding) -> Way:
    """Return CTranslate2's search with our network, in the batches of `fathom translate`.

    Raises:
        FathomError: the package is missing.
    """
    from fathom.decode.export import ctranslate2
    from fathom.decode.export.ctranslate2 import CTranslate2Search
    from fathom.decode.export.plain import plain

    text = workload.tensors
    with TemporaryDirectory() as name:
        folder, exported = Path(name), plain(network, spec.model, 0, spec.run)
        ctranslate2.write(folder, exported, text, POSITIONS)
        search = CTranslate2Search(folder, text)
    return lambda sources, _: search.best(sources.sentences, settings)


def best_size(way: Way, sources: Sources, now: Callable[[], float], sizes: Sequence[int]) -> int:
    """Return the size of batches that is fastest in one try of each."""
    seconds = {}
    for size in sizes:
        start = now()
        way(sources, size)
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
    sources, now = Sources.of(workload), clock(workload.device)
    given = workload, network, spec, settings
    ways = {OURS: ours(workload, network, settings), STOCK: stock(*given)}
    sizes: dict[str, Sequence[int]] = dict.fromkeys(ways, SIZES)
    missing: list[list[Cell]] = []
    if workload.device.type == "cpu":
        try:
            # The size of its batches is its own.
            ways[CTRANSLATE2], sizes[CTRANSLATE2] = by_ctranslate2(*given), (0,)
        except (FathomError, ImportError) as error:
            missing.append([f"{CTRANSLATE2}: {error}", *[None] * 5])
    half = sources.every(2)
    chosen = {name: best_size(way, half, now, sizes[name]) for name, way in ways.items()}
    made: dict[str, Hypotheses] = {}

    def translate(name: str) -> None:
        made[name] = ways[name](sources, chosen[name])

    taking_part = {name: timed(now, lambda _, name=name: translate(name)) for name in ways}
    seconds = alternate(taking_part, rounds, warm_up=0)
    rows = _rows(seconds, made, chosen)
    name, count = workload.static_shapes[0].name, len(sources.sentences)
    tasks = len(set(sources.tasks))
    title = f"Translation of {count:,} sentences of {tasks} test sets, {name}, beam {beam}"
    return Table(title, COLUMNS, rows + missing)


def _rows(
    seconds: Mapping[str, list[float]],
    made: Mapping[str, Hypotheses],
    sizes: Mapping[str, int],
) -> list[list[Cell]]:
    """Return a row for each way."""
    rows: list[list[Cell]] = []
    for name, own in seconds.items():
        count, gain = len(made[name]), faster(seconds[STOCK], own)
        speed = len(own) * count / sum(own)
        same = sum(a == b for a, b in zip(made[name], made[OURS], strict=True))
        quartiles = f"{cell(gain.low)} to {cell(gain.high)}"
        agreed = f"{same} of {count}"
        rows.append([name, sizes[name] or None, speed, agreed, gain.middle, quartiles])
    return rows
