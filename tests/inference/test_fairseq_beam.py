"""fairseq's generator with our caps: the reference of our own search."""

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator

from fathom.config.schema.run import Decoding
from fathom.decode.beam import cap
from fathom.decode.fairseq_beam import FairseqBeam
from fathom.decode.translate import hypotheses
from tests.inference.conftest import CONSTANT_CAP, CPU, SEARCH, SHORT_CAP, padded, sentences
from tests.support.small_networks import ENTRIES, EOS, Dictionary


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
def test_the_stock_generator_would_fail_here(babbling):
    """Without a cap of its own, a sentence's hypothesis is as long as its neighbours allow."""
    sources = sentences(45, 7, seed=99)
    alone = [stock(babbling, [row], 1.5, 4)[0] for row in sources]
    assert stock(babbling, sources, 1.5, 4) != alone


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SEARCH, SHORT_CAP, CONSTANT_CAP])
def test_each_hypothesis_is_the_stock_generators_at_the_sentences_own_cap(
    babbling, learnt, settings
):
    sources = sentences(15, 7, seed=99)
    for model in (babbling, learnt):
        beam = FairseqBeam(model, Dictionary(ENTRIES), settings)
        caps = [cap(settings, len(row) - 1, 1024) for row in sources]
        expected = [stock(model, [row], 0, own)[0] for row, own in zip(sources, caps, strict=True)]
        assert hypotheses(beam, sources, [0] * len(sources), CPU) == expected


def test_the_cap_stays_below_the_positions_that_the_decoder_has(babbling):
    beam = FairseqBeam(babbling, Dictionary(ENTRIES), CONSTANT_CAP)
    beam.generator.max_len = 4
    (pieces,) = beam.best(torch.tensor([[5, 6, EOS]]), torch.tensor([0]))
    assert len(pieces) == 3


def test_the_search_is_as_wide_and_as_fond_of_length_as_the_settings_say(babbling):
    settings = Decoding(average_of=1, beam=3, length_penalty=0.5, cap_ratio=1.5, cap_constant=4)
    generator = FairseqBeam(babbling, Dictionary(ENTRIES), settings).generator
    assert (generator.beam_size, generator.len_penalty) == (3, 0.5)
