"""What the stacks are built from besides their layers."""

import torch

from fathom.nn.masked_lm.network import learned_table
from fathom.nn.network import Entries
from fathom.nn.packing import Packing
from fathom.nn.transformer.stacks import (
    embedding_table,
    final_norm,
    packed_positions,
    position_table,
)
from tests.support.small_networks import PAD, batch, method, network, shape


def test_a_stack_ends_with_a_norm_where_its_layers_normalise_their_inputs_alone():
    x = torch.randn(4, 2, 16)
    for norm in ("pre", "post", "lingvo", "none"):
        y = final_norm(shape(norm=norm))(x)
        expected = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, unbiased=False)
        assert torch.allclose(y, expected if norm == "pre" else x, atol=1e-4), norm


def test_tables_are_one_where_they_are_shared():
    def tables(share, bias):
        model = network(method("static", ()), shape(tie_embeddings=share, output_bias=bias))
        ends = model.encoder.embed_tokens, model.decoder.embed_tokens
        return [each.weight for each in ends] + [model.decoder.output_projection]

    for share, distinct in (("none", 3), ("decoder", 2), ("all", 1)):
        for bias in (True, False):
            source, target, output = tables(share, bias)
            assert len({id(source), id(target), id(output.weight)}) == distinct
            assert (output.bias is not None) is bias
            assert not bias or not output.bias.any()


def test_embeddings_start_normal_with_deviation_of_one_over_the_root_of_the_width():
    torch.manual_seed(1)
    table = embedding_table(Entries(4000), 64).weight
    assert torch.equal(table[1], torch.zeros(64))
    # 256,000 draws: the deviation's own deviation is 0.14 %.
    assert abs(table.std().item() * 8 - 1) < 0.01


def test_positions_have_no_parameters_and_are_not_saved():
    table = position_table(Entries(10), 16)
    assert not list(table.parameters())
    assert not table.state_dict()


def test_positions_reach_beyond_those_made_at_once():
    table = position_table(Entries(10), 16)
    assert table(torch.full((1, 1500), 5)).shape == (1, 1500, 16)


def test_rows_have_the_positions_of_their_tokens():
    source, _, _ = batch([(5, 4), (3, 6)])
    packing = Packing.of(source.eq(PAD))
    for table in (position_table(Entries(10), 16), learned_table(Entries(10), 8, 16)):
        expected = packing.pack(table(source))[0]
        assert torch.equal(packed_positions(table, packing), expected)


def test_rows_have_positions_beyond_those_made_at_once():
    padding = torch.zeros(1, 1500, dtype=torch.bool)
    assert packed_positions(position_table(Entries(10), 16), Packing.of(padding)).shape == (
        1500,
        16,
    )
