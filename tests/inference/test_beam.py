"""A hypothesis belongs to its sentence: no batch, order or padding moves it."""

import random

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator

from fathom.inference.beam import Beam
from fathom.runs.settings import Decoding
from tests.inference.conftest import SEARCH, padded, sentences, turned
from tests.support.small_networks import ENTRIES, EOS, Dictionary

# Hypotheses that must differ before their agreement says anything.
DISTINCT = 12
SHORT_CAP = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=0.5, cap_constant=1)
CONSTANT_CAP = Decoding(average_of=1, beam=5, length_penalty=1.0, cap_ratio=0.0, cap_constant=8)


def stock(model, sources, ratio, constant):
    """Return what fairseq's own generator gives for one batch."""
    generator = SequenceGenerator(
        [model], Dictionary(ENTRIES), beam_size=5, max_len_a=ratio, max_len_b=constant
    )
    source = padded(sources)
    lengths = torch.tensor([len(row) for row in sources])
    batch = {"net_input": {"src_tokens": source, "src_lengths": lengths}}
    return [found[0]["tokens"][:-1].tolist() for found in generator.generate([], batch)]


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
    alone = [beam.best(row[None])[0] for row in sources]
    assert beam.best(padded([*sources, long]))[:-1] == alone
    assert len({tuple(each) for each in alone}) >= DISTINCT


def test_the_network_that_proves_it_has_learnt_its_task(learnt, search):
    sources = sentences(45, 5, seed=99)
    found = search(learnt, sources)
    assert sum(each == turned(row) for each, row in zip(found, sources, strict=True)) > 15


@pytest.mark.slow
def test_the_stock_generator_would_fail_here(babbling):
    """Without a cap of its own, a sentence's hypothesis is as long as its neighbours allow."""
    sources = sentences(45, 7, seed=99)
    alone = [stock(babbling, [row], 1.5, 4)[0] for row in sources]
    assert stock(babbling, sources, 1.5, 4) != alone


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SEARCH, SHORT_CAP, CONSTANT_CAP])
def test_each_hypothesis_is_the_stock_generators_at_the_sentences_own_cap(
    babbling, learnt, search, settings
):
    sources = sentences(15, 7, seed=99)
    for model in (babbling, learnt):
        beam = Beam(model, Dictionary(ENTRIES), settings)
        expected = [stock(model, [row], 0, beam.cap(len(row) - 1))[0] for row in sources]
        assert search(model, sources, 64, settings) == expected


def test_the_cap_counts_the_sentences_own_pieces(babbling, search):
    sources = sentences(45, 7, seed=99)
    found = search(babbling, sources)
    caps = [int(1.5 * (len(row) - 1)) + 4 for row in sources]
    lengths = [len(each) for each in found]
    assert all(length <= cap for length, cap in zip(lengths, caps, strict=True))
    assert sum(length == cap for length, cap in zip(lengths, caps, strict=True)) >= 20


def test_the_cap_stays_below_the_positions_that_the_decoder_has(babbling):
    beam = Beam(babbling, Dictionary(ENTRIES), SEARCH)
    beam.generator.max_len = 25
    assert beam.cap(4) == 10
    assert beam.cap(1000) == 24


def test_the_search_is_as_wide_and_as_fond_of_length_as_the_settings_say(babbling):
    settings = Decoding(average_of=1, beam=3, length_penalty=0.5, cap_ratio=1.5, cap_constant=4)
    generator = Beam(babbling, Dictionary(ENTRIES), settings).generator
    assert (generator.beam_size, generator.len_penalty) == (3, 0.5)


def test_repeated_searches_give_the_same(learnt, search):
    learnt.train()
    sources = sentences(45, 7, seed=99)
    assert search(learnt, sources) == search(learnt, sources)
    assert not learnt.training
