"""What pruned inference saves: the ratio of decoding times and the ratio of layers.

One network decodes the same sentences in three ways for each number of kept layers: all layers
computed and the others multiplied by zero, the others skipped, and the others removed, in fairseq's
own Transformer. The three take turns, so that a busy machine slows all of them; times are CPU
seconds on one thread, and ratios the medians over rounds of those to the first way's time.

    python -m benchmarks.pruned_inference
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerModel
from torch import Tensor

from fathom.config.load import load
from fathom.config.schema.run import Decoding, Model
from fathom.decode.export.fairseq_checkpoint import fairseq_settings
from fathom.decode.export.plain import Active, active_layers, plain_state
from fathom.decode.translate import hypotheses
from fathom.methods.build import build
from fathom.nn.network import Network
from tests.reference.padded.beam import FairseqBeam

METHOD, ROUNDS = "latent_layers", 5
LAYERS, KEPT = 12, (3, 6, 9, 12)
ENTRIES, SENTENCES, LENGTHS = 2000, 32, (12, 24)
CPU = torch.device("cpu")
MODEL = Model(
    architecture="transformer",
    encoder_layers=LAYERS,
    decoder_layers=LAYERS,
    width=256,
    ffn=1024,
    heads=4,
    norm="pre",
    dropout=0.0,
    tie_embeddings="decoder",
)
SEARCH = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=1.0, cap_constant=4)
HEADS = ("layers kept", "ratio of layers", "zeros", "skipped", "removed", "same hypotheses")


@dataclass(frozen=True)
class Way:
    """One way to decode.

    Attributes:
        name: its column.
        decode: returns the hypotheses.
        seconds: of each round.
        found: the hypotheses.
    """

    name: str
    decode: Callable[[], list[list[int]]]
    seconds: list[float]
    found: list[list[list[int]]]

    def run(self) -> None:
        """Decode once and keep time and hypotheses."""
        start = time.process_time()
        hypotheses = self.decode()
        self.seconds.append(time.process_time() - start)
        self.found.append(hypotheses)


def gated(kept: int, dictionary: Dictionary) -> Network:
    """Return a network whose hard gates select `kept` layers of each stack, evenly spread."""
    card = load(Path(__file__).parents[1], check=False).methods[METHOD]
    method = card.method.model_validate({"name": METHOD, "stacks": ("encoder", "decoder")})
    torch.manual_seed(1)
    network = build(MODEL, method, 1, dictionary, dictionary)
    chosen = [place * LAYERS // kept for place in range(kept)]
    with torch.no_grad():
        for each in network.methods.values():
            each.alpha.fill_(-1.0)
            each.alpha[:, chosen] = 1.0
    return network.use_gates("hard").eval()


def removed(network: Network, kept: Active, dictionary: Dictionary) -> TransformerModel:
    """Return fairseq's own Transformer with the kept layers of a network."""
    settings = SimpleNamespace(**fairseq_settings(MODEL, kept, 1024))
    dictionaries = SimpleNamespace(source_dictionary=dictionary, target_dictionary=dictionary)
    model = TransformerModel.build_model(settings, dictionaries)
    model.load_state_dict(plain_state(network.state_dict(), kept))
    return model.eval()


def ways(kept: int, dictionary: Dictionary, sources: Sequence[Tensor]) -> list[Way]:
    """Return the three ways to decode with `kept` layers."""
    skipping, multiplying = gated(kept, dictionary), gated(kept, dictionary)
    layers = {side: active_layers(each, 0) for side, each in skipping.methods.items()}
    for each in multiplying.methods.values():
        each.keep = lambda layer: True
    models = {
        "zeros": multiplying,
        "skipped": skipping,
        "removed": removed(skipping, layers, dictionary),
    }

    def decoder(model: torch.nn.Module) -> Callable[[], list[list[int]]]:
        # fairseq's generator searches with all three, since the third is fairseq's own network.
        beam = FairseqBeam(model, dictionary, SEARCH)
        return lambda: hypotheses(beam, sources, [0] * len(sources), CPU)

    return [Way(name, decoder(model), [], []) for name, model in models.items()]


def line(kept: int, dictionary: Dictionary, sources: Sequence[Tensor]) -> list[str]:
    """Time the three ways in turns and return their line of the table."""
    compared = ways(kept, dictionary, sources)
    for way in compared:
        way.decode()  # What is made once, as torch's own buffers are.
    for _ in range(ROUNDS):
        for way in compared:
            way.run()
    first = compared[0].seconds
    ratios = [
        statistics.median(own / zeros for own, zeros in zip(way.seconds, first, strict=True))
        for way in compared[1:]
    ]
    same = all(found == compared[0].found[0] for way in compared for found in way.found)
    return [
        f"{kept} + {kept} of {LAYERS} + {LAYERS}",
        f"{kept / LAYERS:.2f}",
        f"1 ({statistics.median(first):.2f} s)",
        *(f"{ratio:.2f}" for ratio in ratios),
        "yes" if same else "NO",
    ]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    dictionary = Dictionary()
    for number in range(len(dictionary), ENTRIES):
        dictionary.add_symbol(f"p{number}")
    stream = torch.Generator().manual_seed(2)
    lengths = torch.randint(*LENGTHS, (SENTENCES,), generator=stream).tolist()
    sources = [
        torch.cat([torch.randint(4, ENTRIES, (length,), generator=stream), torch.tensor([2])])
        for length in lengths
    ]
    rows = [HEADS, *(line(kept, dictionary, sources) for kept in KEPT)]
    for row in rows:
        sys.stdout.write("  ".join(f"{cell:>18}" for cell in row) + "\n")


if __name__ == "__main__":
    main()
