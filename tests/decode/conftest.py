"""Networks for the search: one that has learnt to turn sentences round, and one that babbles."""

import random
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
from tests.decode.pruned_runs import built, gated, write_run, write_tensors
from tests.support.small_corpus import LANGUAGES, small_data
from tests.support.small_networks import (
    ENTRIES,
    EOS,
    PAD,
    Dictionary,
    method,
    network,
    nll,
    shape,
)
from tests.support.taught import TURNED, write_sentences
from tests.support.taught import learn as learn_ids

CPU = torch.device("cpu")
FIRST = 4  # The first index of the dictionary that is no symbol of its own.
UPDATES, LESSONS = 100, 150
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


def turned(source: Tensor) -> list[int]:
    """Return a source's pieces in the other direction, without the end symbol."""
    return source[:-1].flip(0).tolist()


def padded(rows: list[Tensor]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def learn(model: Transformer, updates: int) -> Transformer:
    """Teach a network to turn sentences of up to five pieces round."""
    optimiser = torch.optim.Adam(model.parameters(), lr=4e-3)
    model.train()
    for update in range(updates):
        rows = sentences(64, 5, seed=update)[1:]
        targets = [torch.tensor([*turned(row), EOS]) for row in rows]
        previous = [row.roll(1) for row in targets]
        tasks = torch.zeros(len(rows), dtype=torch.long)
        loss = nll(model(padded(rows), padded(previous), tasks), padded(targets)) / len(rows)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval()


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Threads gain nothing at this size, and lose much where other processes compute."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def learnt() -> Transformer:
    model = shape(encoder_layers=2, decoder_layers=1, width=32, ffn=64)
    return learn(network(method("static", ()), model), UPDATES).for_task(0)


@pytest.fixture(scope="session")
def babbling() -> Transformer:
    """Return a network that has learnt nothing, so that most of its hypotheses end at their cap."""
    model = network(method("static", ()), shape(encoder_layers=1, decoder_layers=1))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)  # As initialised, it says much the same to every source.
    return model.eval().for_task(0)


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
    spec = gated(
        {"encoder_layers": 2, "decoder_layers": 1, "width": 32, "ffn": 64, "dropout": 0.0},
        stacks=(),
        name="static",
    )
    definition = {"tasks": [[task, LANGUAGES[task]] for task in ("bos", "kor")], "pivot": "eng"}
    spec = replace(spec, data=small_data(definition), decoding=SEARCH)
    paths = Paths(tmp_path_factory.mktemp("taught"), "tiny")
    folder = write_tensors(paths, spec.data)
    write_sentences(folder, dict.fromkeys(spec.data.tasks, TURNED))
    return write_run(spec, paths, learn_ids(built(spec, paths), (TURNED, TURNED), LESSONS))
