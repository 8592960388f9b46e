"""One network translates into several languages, because a token says which one is asked for.

The languages have the same sources and the same alphabet: one leaves a sentence as it is, the other
moves each symbol by one. The method is static, so nothing but the token tells them apart.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fathom.config.paths import Paths
from fathom.config.schema.run import Decoding
from fathom.data.tensors import EOS, load
from fathom.decode.beam import Beam
from fathom.decode.likelihood import likelihood
from fathom.decode.ready import require_decoder
from fathom.decode.trained_run import TrainedRun
from fathom.decode.translate import hypotheses
from fathom.train.batches.collate import collate
from tests.reference.padded.beam import FairseqBeam
from tests.reference.padded.networks import padded_logits
from tests.support.small_corpus import LANGUAGES, small_data
from tests.support.taught import ENTRIES, MOVED, SAME, answer, learn, sentences, write_sentences
from tests.support.trained import CPU, built, gated, in_ctranslate2, write_run, write_tensors

pytestmark = pytest.mark.slow

WAYS = {"bos": SAME, "kor": MOVED}
DEFINITION = {"tasks": [[task, LANGUAGES[task]] for task in WAYS], "pivot": "eng"}
MODEL = {"encoder_layers": 1, "decoder_layers": 2, "width": 32, "ffn": 64, "dropout": 0.0}
SEARCH = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=1.5, cap_constant=4)
UPDATES, RIGHT = 240, 0.7
PLACES = ("source", "decoder")


def taught(folder: Path, place: str, updates: int = UPDATES) -> TrainedRun:
    """Return a run that has learnt both languages, as far as a token tells them apart."""
    data = small_data(DEFINITION, direction="one_to_many", target_token=place)
    spec = replace(gated(MODEL, (), "static"), data=data, decoding=SEARCH)
    paths = Paths(folder, "tiny")
    written = write_tensors(paths, data, ENTRIES)
    text = load(written)
    before = [[*map(text.source_dictionary.index, tokens)] for tokens in text.before]
    write_sentences(written, WAYS, before=dict(zip(WAYS, before, strict=True)))
    network = learn(built(spec, paths), list(WAYS.values()), updates, text.starts, before)
    return write_run(spec, paths, network)


@pytest.fixture(scope="module")
def run_with(tmp_path_factory) -> Callable[[str], TrainedRun]:
    """Return a function that gives the taught run of a place of the token."""
    made: dict[str, TrainedRun] = {}

    def run(place: str) -> TrainedRun:
        if place not in made:
            made[place] = taught(tmp_path_factory.mktemp(place), place)
        return made[place]

    return run


def asked(run: TrainedRun) -> tuple[list[torch.Tensor], list[int]]:
    """Return the test sources of all tasks, and the task of each."""
    pairs = run.tensors.splits("test")
    sources = [own.source(number) for own in pairs for number in range(len(own))]
    return sources, [own.task for own in pairs for _ in range(len(own))]


def searcher(run: TrainedRun) -> Beam:
    text = run.tensors
    network = run.network("plain")
    return Beam(network, text.target_dictionary, require_decoder(run.spec), text.starts)


def translated(run: TrainedRun, sentences: int | None = None) -> list[list[int]]:
    return hypotheses(searcher(run), *asked(run), CPU, sentences)


def right(run: TrainedRun, answers: list[list[int]]) -> list[float]:
    shares = []
    for own in run.tensors.splits("test"):
        targets = [own.target(number)[:-1].tolist() for number in range(len(own))]
        part = answers[own.task * len(own) : (own.task + 1) * len(own)]
        pairs = list(zip(part, targets, strict=True))
        shares.append(sum(one == other for one, other in pairs) / len(pairs))
    return shares


@pytest.mark.parametrize("place", PLACES)
def test_each_language_has_its_own_right_hypotheses(run_with, place):
    run = run_with(place)
    answers = translated(run)
    assert min(right(run, answers)) >= RIGHT
    half = len(answers) // 2
    assert sum(map(list.__eq__, answers[:half], answers[half:])) <= 2


def test_without_a_token_both_languages_have_the_same_hypotheses(tmp_path):
    answers = translated(taught(tmp_path, "none", updates=30))
    half = len(answers) // 2
    assert answers[:half] == answers[half:]


@pytest.mark.parametrize("place", PLACES)
def test_the_order_and_the_size_of_a_batch_do_not_matter(run_with, place):
    run = run_with(place)
    answers, (sources, tasks) = translated(run), asked(run)
    assert translated(run, sentences=7) == answers
    order = random.Random(5).sample(range(len(sources)), len(sources))
    mixed = hypotheses(
        searcher(run),
        [sources[number] for number in order],
        [tasks[number] for number in order],
        CPU,
        sentences=16,
    )
    assert mixed == [answers[number] for number in order]


@pytest.mark.parametrize("place", PLACES)
def test_fairseqs_generator_finds_the_same(run_with, place):
    run = run_with(place)
    text = run.tensors
    stock = FairseqBeam(run.network("plain"), text.target_dictionary, SEARCH, text.starts)
    assert hypotheses(stock, *asked(run), CPU) == translated(run)


@pytest.mark.parametrize("place", PLACES)
def test_ctranslate2_finds_the_same_after_the_same_log_probabilities(run_with, place):
    pytest.importorskip("ctranslate2", reason="run `make ctranslate2`")
    run = run_with(place)
    sources, tasks = asked(run)
    caps = [SEARCH.cap(len(source) - 1) for source in sources]
    searches = [in_ctranslate2(run, "plain", task) for task in run.tasks]
    starts = [run.tensors.starts[task] for task in tasks]
    best = searches[0].best(sources, SEARCH, starts)
    rows = zip(best, translated(run), caps, strict=True)
    below = [(one, other) for one, other, cap in rows if max(len(one), len(other)) < cap]
    assert len(below) > len(sources) // 2
    assert sum(one == other for one, other in below) >= 0.99 * len(below)


@pytest.mark.parametrize("place", PLACES)
def test_forced_scores_agree_with_generation(run_with, place):
    """Forced to its own greedy hypothesis, the network chooses each of its pieces."""
    run = run_with(place)
    sources, tasks = asked(run)
    spec = replace(run.spec, decoding=SEARCH.model_copy(update={"beam": 1}))
    greedy = TrainedRun(spec, run.seed, run.paths, CPU)
    network = greedy.network("plain")
    for source, task, pieces in zip(sources, tasks, translated(greedy), strict=True):
        previous = torch.tensor([[run.tensors.starts[task], *pieces]])
        with torch.no_grad():
            logits = padded_logits(network, source[None], previous, torch.tensor([task]))[0]
        chosen = logits.argmax(dim=1).tolist()
        if len(pieces) < SEARCH.cap(len(source) - 1):
            assert chosen == [*pieces, EOS]


@pytest.mark.parametrize("place", PLACES)
def test_likelihood_and_batches_read_the_same_token(run_with, place):
    run = run_with(place)
    pairs, nats = run.tensors.split("kor", "test"), 0.0
    network = run.network("plain")
    for number in range(len(pairs)):
        target = pairs.target(number).long()
        previous = torch.tensor([[run.tensors.starts[pairs.task], *target[:-1]]])
        with torch.no_grad():
            logits = padded_logits(
                network, pairs.source(number)[None], previous, torch.tensor([pairs.task])
            )[0]
        nats += torch.nn.functional.cross_entropy(logits, target, reduction="sum").item()
        assert (
            collate([pairs], [(pairs.task, number)]).previous_target.tolist() == previous.tolist()
        )
    measured = likelihood(run, "test", "plain")
    assert measured.nats["kor"] == pytest.approx(nats, rel=1e-4)
    assert measured.nats["kor"] / measured.tokens["kor"] < 1.0


def test_the_sources_of_both_languages_are_the_same_sentences(run_with):
    """Otherwise the sentences themselves could say which language is asked for."""
    run = run_with("decoder")
    one, other = run.tensors.splits("test")
    assert one.sources.ids.tolist() == other.sources.ids.tolist()
    row = sentences(60, -1)[3]
    assert one.source(3).tolist() == row.tolist()
    assert other.target(3).tolist() == answer(row, MOVED).tolist()
