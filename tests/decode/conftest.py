"""Networks for the search: one that has learnt to turn sentences round, and one that babbles."""

import random
import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from fathom.config.paths import Paths
from fathom.config.schema.run import Decoding
from fathom.decode.beam import Beam
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import hypotheses
from fathom.nn.transformer.network import Transformer
from tests.support.small_corpus import LANGUAGES, small_data
from tests.support.small_networks import ENTRIES, EOS, Dictionary, method, network, shape
from tests.support.taught import TURNED, learn, write_sentences
from tests.support.trained import CPU, built, gated, write_run, write_tensors, write_text

FIRST = 4  # The first index of the dictionary that is no symbol of its own.
SEARCH = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=1.5, cap_constant=4)
SHORT_CAP = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=0.5, cap_constant=1)
CONSTANT_CAP = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=0.0, cap_constant=8)


def sentences(amount: int, longest: int, seed: int) -> list[Tensor]:
    """Return random source sentences with end symbols; the first is empty."""
    dice = random.Random(seed)
    lengths = [0, *(dice.randint(1, longest) for _ in range(amount - 1))]
    return [
        torch.tensor([*(dice.randrange(FIRST, ENTRIES) for _ in range(length)), EOS])
        for length in lengths
    ]


@pytest.fixture(scope="session")
def babbling() -> Transformer:
    """Return a network that has learnt nothing, so that most of its hypotheses end at their cap."""
    model = network(method("static", ()), shape(encoder_layers=1, decoder_layers=1))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)  # As initialised, it says much the same to every source.
    return model.eval()


@pytest.fixture
def search() -> Callable[..., list[list[int]]]:
    """Return hypotheses of a network for sources of task 0, in batches of a size."""

    def run(
        model: Transformer, sources: list[Tensor], size: int = 64, settings: Decoding = SEARCH
    ) -> list[list[int]]:
        beam = Beam(model, Dictionary(ENTRIES), settings)
        return hypotheses(beam, sources, [0] * len(sources), CPU, sentences=size)

    return run


@pytest.fixture(scope="session")
def taught(tmp_path_factory) -> TrainedRun:
    """Return a static run of two tasks that has learnt to turn sentences round."""
    model = {"encoder_layers": 2, "decoder_layers": 1, "width": 32, "ffn": 64, "dropout": 0.0}
    definition = {"tasks": [[task, LANGUAGES[task]] for task in ("bos", "kor")], "pivot": "eng"}
    spec = gated(model, (), "static")
    spec = replace(spec, data=small_data(definition), decoding=SEARCH)
    paths = Paths(tmp_path_factory.mktemp("taught"), "tiny")
    write_sentences(write_tensors(paths, spec.data), dict.fromkeys(spec.data.tasks, TURNED))
    return write_run(spec, paths, learn(built(spec, paths), (TURNED, TURNED), 150))


@pytest.fixture(scope="session")
def learnt(taught) -> Transformer:
    return taught.network("plain")


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Paths:
    """The places of the small corpus's text, which no test changes."""
    paths = Paths(tmp_path_factory.mktemp("text"), "tiny")
    write_text(paths)
    return paths


@pytest.fixture(scope="module")
def paths(text, tmp_path_factory) -> Paths:
    """A copy of it, for runs."""
    results = tmp_path_factory.mktemp("runs") / "results"
    shutil.copytree(text.results, results)
    return Paths(results, "tiny")
