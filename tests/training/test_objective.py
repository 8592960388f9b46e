import pytest
import torch

from fathom.nn.hooks import Loss
from fathom.train.two_level import total, weighted


def test_the_methods_losses_are_weighted_and_added_once():
    losses = {"a": Loss(torch.tensor(2.0), 0.5), "b": Loss(torch.tensor(4.0), 0.25)}
    extra = weighted(losses)
    assert float(extra) == 2.0
    parts = [total(torch.tensor(6.0), 10, extra), total(torch.tensor(4.0), 10, None)]
    assert float(sum(parts)) == pytest.approx(3.0)


def test_a_weight_of_zero_leaves_a_loss_out_even_where_it_is_not_finite():
    assert weighted({"a": Loss(torch.tensor(float("inf")), 0.0)}) is None
