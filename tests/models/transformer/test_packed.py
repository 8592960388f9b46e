"""The arithmetic of packed layers; tests/contracts/test_kernels.py compares complete networks."""

import pytest
import torch

from fathom.nn.packing import Packing
from fathom.nn.transformer.layers import DecoderLayer, EncoderLayer, PackedPass
from tests.support.small_networks import shape

PADDING = torch.tensor([[False, False, True], [False, False, False]])


def packed_pass(causal=False, memory=None):
    return PackedPass(Packing.of(PADDING), "highest", causal, memory)


def plain(part, x, fx):
    return x + fx


@pytest.mark.parametrize("norm", ["pre", "post", "lingvo", "none"])
def test_a_packed_layer_is_the_padded_one_at_real_tokens(norm):
    layer, this = EncoderLayer(shape(norm=norm), plain), packed_pass()
    x = torch.randn(2, 3, 16)
    expected = this.packing.pack(layer(x.transpose(0, 1), PADDING).transpose(0, 1))
    found = layer.packed(this.packing.pack(x), this)
    real = this.packing.places
    torch.testing.assert_close(found[:, real], expected[:, real], atol=1e-5, rtol=0)


def test_no_row_of_a_causal_pass_sees_a_later_one():
    layer, this = EncoderLayer(shape(), plain), packed_pass(causal=True)
    x = torch.randn(2, 3, 16)
    other = x.clone()
    other[:, 2] += 1
    before, after = (this.packing.pad(layer.packed(this.packing.pack(y), this)) for y in (x, other))
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.equal(before[1, 2], after[1, 2])


def test_a_pass_without_a_memory_attends_to_none():
    layer, this = DecoderLayer(shape(), plain), packed_pass()
    x = this.packing.pack(torch.randn(2, 3, 16))
    with pytest.raises(RuntimeError, match="memory"):
        layer.packed(x, x, this)
