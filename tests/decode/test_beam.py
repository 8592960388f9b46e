"""The search finds fairseq's hypotheses, each from its own sentence alone."""

import copy
import random

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import nn

from fathom.config.schema.run import Decoding
from fathom.decode.beam import CHUNK, Beam, Output, cap, likeliest
from fathom.decode.translate import hypotheses
from fathom.nn.network import ENTRIES_MULTIPLE
from tests.decode.conftest import CONSTANT_CAP, SEARCH, SHORT_CAP, sentences
from tests.reference.padded import networks
from tests.reference.padded.beam import FairseqBeam
from tests.support.small_networks import ENTRIES, EOS, Dictionary
from tests.support.taught import padded
from tests.support.trained import CPU

# Hypotheses that must differ before their agreement says anything.
DISTINCT = 12


@pytest.mark.slow
@pytest.mark.parametrize("settings", [SEARCH, SHORT_CAP, CONSTANT_CAP])
@pytest.mark.parametrize("name", ["learnt", "babbling"])
def test_hypotheses_do_not_depend_on_batch_size_or_order(request, search, settings, name):
    model, sources = request.getfixturevalue(name), sentences(20, 7, seed=99)
    alone = search(model, sources, 1, settings)
    assert len({tuple(each) for each in alone}) >= DISTINCT
    for size in (4, 64):
        assert search(model, sources, size, settings) == alone
    order = random.Random(5).sample(range(len(sources)), len(sources))
    shuffled = search(model, [sources[number] for number in order], 4, settings)
    assert shuffled == [alone[number] for number in order]


@pytest.mark.parametrize("name", ["learnt", "babbling"])
def test_entries_that_fill_logits_up_as_on_cuda_change_no_hypothesis(
    request, search, name, monkeypatch
):
    model, sources = request.getfixturevalue(name), sentences(20, 7, seed=99)
    expected = search(model, sources)
    monkeypatch.setitem(ENTRIES_MULTIPLE, "cpu", 2 * CHUNK)
    assert Output(model.decoder.output_projection).weight.size(0) == 2 * CHUNK
    assert search(model, sources) == expected


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


@pytest.mark.parametrize(
    ("beam", "penalty", "form"),
    [(1, 1.0, "power"), (2, 0.6, "power"), (5, 1.0, "power"), (2, 0.6, "gnmt"), (8, 0.5, "gnmt")],
)
@pytest.mark.parametrize(("ratio", "constant"), [(1.5, 4), (0.5, 1), (0.0, 8)])
def test_every_hypothesis_is_that_of_fairseqs_generator(
    learnt, babbling, beam, penalty, form, ratio, constant
):
    settings = Decoding(
        beam=beam,
        length_penalty=penalty,
        length_penalty_form=form,
        cap_ratio=ratio,
        cap_constant=constant,
    )
    sources = sentences(40, 9, seed=97)
    tasks = [0] * len(sources)
    for model in (learnt, babbling):
        own, stock = (kind(model, Dictionary(ENTRIES), settings) for kind in (Beam, FairseqBeam))
        expected = hypotheses(stock, sources, tasks, CPU)
        assert hypotheses(own, sources, tasks, CPU, sentences=16) == expected
        assert len({tuple(each) for each in expected}) >= DISTINCT


def test_the_form_of_the_length_penalty_decides_between_short_and_long(babbling, search):
    """From one length to the next `gnmt` has a factor nearer to 1, and so likes less text."""
    sources, lengths = sentences(40, 9, seed=97), {}
    for form in ("power", "gnmt"):
        settings = SEARCH.model_copy(update={"length_penalty": 0.6, "length_penalty_form": form})
        lengths[form] = [len(each) for each in search(babbling, sources, settings=settings)]
    pairs = [*zip(lengths["gnmt"], lengths["power"], strict=True)]
    assert all(short <= long for short, long in pairs)
    assert sum(short < long for short, long in pairs) >= 5


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


END = 2
NEVER = [1]
GOING = torch.zeros(3, dtype=torch.bool)


def numbers(*size: int) -> torch.Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("bias", [True, False])
def test_the_output_is_the_projection_with_entries_that_have_no_probability(bias):
    projection, rows = nn.Linear(5, 45, bias=bias), numbers(6, 5)
    logits = Output(projection)(rows)
    assert logits.shape == (6, 2 * CHUNK)
    assert torch.allclose(logits[:, :45], projection(rows), atol=1e-6)
    assert logits[:, 45:].eq(-torch.inf).all()


@pytest.mark.parametrize("entries", [32, 64, 992, 2016, 10080])
@pytest.mark.parametrize("count", [1, 4, 10])
def test_the_likeliest_are_those_of_a_sort(entries, count):
    total = numbers(5, entries)
    total[:, ::3] = -torch.inf
    values, places = likeliest(total, count)
    order = total.sort(dim=1, descending=True, stable=True)
    finite = order.values[:, :count] > -torch.inf
    assert torch.equal(values, order.values[:, :count])
    assert torch.equal(places[finite], order.indices[:, :count][finite])


def stock(model, sources, ratio, constant):
    """Return what fairseq's own generator gives for one batch."""
    generator = SequenceGenerator(
        [networks.padded(model, task=0)],
        Dictionary(ENTRIES),
        beam_size=5,
        max_len_a=ratio,
        max_len_b=constant,
    )
    source = padded(sources)
    lengths = torch.tensor([len(row) for row in sources])
    batch = {"net_input": {"src_tokens": source, "src_lengths": lengths}}
    return [found[0]["tokens"][:-1].tolist() for found in generator.generate([], batch)]


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
