"""Operations of CUDA are counted on a CPU: by the ways that layers take there."""

import pytest
import torch

from benchmarks.peer.as_on_cuda import as_on_cuda
from benchmarks.peer.operations import Operations
from fathom.nn.packing import Packing
from fathom.nn.transformer.layers import EncoderLayer, PackedPass
from tests.support.small_networks import shape

PADDING = torch.tensor([[False, False, True], [False, False, False]])


def plain(part, x, fx):
    return x + fx


def operations(**settings):
    """Count forward and backward pass of an encoder layer."""
    layer = EncoderLayer(shape(dropout=0.1, **settings), plain)
    x = torch.randn(2, 3, 16, requires_grad=True)
    with Operations() as found:
        packing = Packing.of(PADDING)
        layer.packed(packing.pack(x), PackedPass(packing, "highest")).sum().backward()
    return found.others


def test_dropout_is_one_operation_in_each_direction_and_attention_has_no_products_of_its_own():
    with as_on_cuda():
        found = operations()
    assert found["native_dropout"] == found["native_dropout_backward"] == 2
    assert not {"baddbmm", "bmm", "_softmax", "random_", "select_backward"} & set(found)


def test_afterwards_layers_take_the_ways_of_a_cpu():
    with as_on_cuda():
        operations()
    found = operations()
    assert found["random_"] == 2
    assert found["bmm"]
    assert "native_dropout" not in found


def test_attention_with_dropout_is_refused_since_it_has_another_kernel():
    with as_on_cuda(), pytest.raises(ValueError, match="dropout"):
        operations(attention_dropout=0.1)
