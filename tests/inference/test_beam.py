"""The own search: a hypothesis belongs to its sentence, and is the one of fairseq's generator."""

import copy
import random

import pytest
import torch

from fathom.config.schema.run import Decoding
from fathom.decode.beam import Beam, cap
from fathom.decode.fairseq_beam import FairseqBeam
from fathom.decode.translate import hypotheses
from tests.inference.conftest import (
    CONSTANT_CAP,
    CPU,
    SEARCH,
    SHORT_CAP,
    padded,
    sentences,
    turned,
)
from tests.support.small_networks import ENTRIES, EOS, Dictionary

# Hypotheses that must differ before their agreement says anything.
DISTINCT = 12


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SEARCH, SHORT_CAP, CONSTANT_CAP])
@pytest.mark.parametrize("taught", [True, False])
def test_hypotheses_do_not_depend_on_batch_size_or_order(
    learnt, babbling, search, settings, taught
):
    model, sources = learnt if taught else babbling, sentences(20, 7, seed=99)
    alone = search(model, sources, 1, settings)
    assert len({tuple(each) for each in alone}) >= DISTINCT
    for size in (4, 64):
        assert search(model, sources, size, settings) == alone
    order = random.Random(5).sample(range(len(sources)), len(sources))
    shuffled = search(model, [sources[number] for number in order], 4, settings)
    assert shuffled == [alone[number] for number in order]


def test_padding_does_not_change_a_hypothesis(learnt):
    beam, sources = Beam(learnt, Dictionary(ENTRIES), SEARCH), sentences(30, 5, seed=98)
    long = torch.tensor([*range(4, 19), *range(4, 19), EOS])
    tasks = torch.zeros(len(sources) + 1, dtype=torch.long)
    alone = [beam.best(row[None], tasks[:1])[0] for row in sources]
    assert beam.best(padded([*sources, long]), tasks)[:-1] == alone
    assert len({tuple(each) for each in alone}) >= DISTINCT


def test_the_network_that_proves_it_has_learnt_its_task(learnt, search):
    sources = sentences(45, 5, seed=99)
    found = search(learnt, sources)
    assert sum(each == turned(row) for each, row in zip(found, sources, strict=True)) > 15


def test_the_cap_counts_the_sentences_own_pieces(babbling, search):
    sources = sentences(45, 7, seed=99)
    found = search(babbling, sources)
    caps = [int(1.5 * (len(row) - 1)) + 4 for row in sources]
    lengths = [len(each) for each in found]
    assert all(length <= cap for length, cap in zip(lengths, caps, strict=True))
    assert sum(length == cap for length, cap in zip(lengths, caps, strict=True)) >= 20


def test_the_cap_stays_below_the_positions_that_the_decoder_has():
    assert cap(SEARCH, 4, 25) == 10
    assert cap(SEARCH, 1000, 25) == 24


@pytest.mark.parametrize("penalty", [0.6, 1.0])
@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize(("ratio", "constant"), [(1.5, 4), (0.5, 1), (0.0, 8)])
def test_every_hypothesis_is_that_of_fairseqs_generator(
    learnt, babbling, beam, penalty, ratio, constant
):
    settings = Decoding(beam=beam, length_penalty=penalty, cap_ratio=ratio, cap_constant=constant)
    sources = sentences(40, 9, seed=97)
    tasks = [0] * len(sources)
    for model in (learnt, babbling):
        own, stock = (kind(model, Dictionary(ENTRIES), settings) for kind in (Beam, FairseqBeam))
        expected = hypotheses(stock, sources, tasks, CPU)
        assert hypotheses(own, sources, tasks, CPU, sentences=16) == expected
        assert len({tuple(each) for each in expected}) >= DISTINCT


def test_a_beam_as_wide_as_the_vocabulary_is_that_of_fairseqs_generator(babbling):
    settings = Decoding(beam=50, length_penalty=1.0, cap_ratio=0.5, cap_constant=2)
    sources = sentences(12, 5, seed=96)
    own, stock = (kind(babbling, Dictionary(ENTRIES), settings) for kind in (Beam, FairseqBeam))
    tasks = [0] * len(sources)
    assert hypotheses(own, sources, tasks, CPU) == hypotheses(stock, sources, tasks, CPU)


def test_a_network_whose_numbers_are_no_numbers_has_no_hypothesis(babbling):
    broken = copy.deepcopy(babbling)
    with torch.no_grad():
        broken.decoder.layers[0].fc1.weight.fill_(torch.nan)
    for beam in (1, 3):
        settings = Decoding(beam=beam, cap_constant=3)
        search = Beam(broken, Dictionary(ENTRIES), settings)
        assert search.best(torch.tensor([[5, EOS]]), torch.tensor([0])) == [None]


def test_repeated_searches_give_the_same(learnt, search):
    learnt.train()
    sources = sentences(45, 7, seed=99)
    assert search(learnt, sources) == search(learnt, sources)
    assert not learnt.training
