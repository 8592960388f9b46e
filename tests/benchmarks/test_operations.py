"""Operations are counted as torch dispatches them, on a CPU as on CUDA."""

import torch
from torch import nn
from torch.nn.functional import relu

from benchmarks.peer.operations import Operations, counted, of_layers


def test_a_linear_layer_with_its_backward_pass_is_three_products_a_sum_and_their_views():
    layer = nn.Linear(3, 4)
    x = torch.ones(5, 3, requires_grad=True)

    def work():
        layer.zero_grad(set_to_none=True)
        x.grad = None
        layer(x).backward(torch.ones(5, 4))

    with Operations() as operations:
        work()
    products = {name: operations.others[name] for name in ("addmm", "mm", "sum")}
    assert products == {"addmm": 1, "mm": 2, "sum": 1}
    assert counted(work)[0] == operations.others.total() - operations.others["ones_like"]


def test_a_layer_is_the_difference_between_networks_of_two_and_four():
    def network(layers):
        encoder, decoder = layers
        x = torch.ones(2, 2)

        def work():
            y = x + 1  # once in an update
            for _ in range(encoder):
                y = relu(y).t()
            for _ in range(decoder):
                y = relu(y * 2)

        return work

    assert of_layers(network) == [1, 1, 2, 0]
