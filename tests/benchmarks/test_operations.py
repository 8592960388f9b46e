"""Operations and matrix products are counted as torch dispatches them, on a CPU as on CUDA."""

from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import relu

from benchmarks.peer.operations import Operations, counted, of_layers
from benchmarks.peer.products import Products, bare, large_rate, setting
from benchmarks.peer.products import operations as operations_of
from benchmarks.peer.training import Rounds
from benchmarks.peer.workload import Workload


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


CPU = torch.device("cpu")
HIGHEST = setting(CPU).fp32_precision
KEY = ((2, 3), (3, 4), False, False, torch.float32, HIGHEST)


def test_the_shapes_of_all_products_are_recorded():
    a, b, c = torch.ones(2, 3), torch.ones(3, 4), torch.ones(4)
    with Products() as counted:
        a @ b
        torch.addmm(c, a, b)
        torch.bmm(a[None], b.t().contiguous().t()[None])
    turned = ((1, 2, 3), (1, 3, 4), False, True, torch.float32, HIGHEST)
    assert dict(counted.products) == {KEY: 2, turned: 1}


def test_a_product_of_m_by_k_and_k_by_n_is_two_mkn_operations():
    batched = ((5, 2, 3), (5, 3, 4), False, False, torch.float32, HIGHEST)
    assert operations_of({KEY: 10, batched: 1}) == 10 * 48 + 5 * 48


def test_bare_products_are_those_that_were_recorded_in_the_same_precision_and_layout():
    turned = ((2, 3), (3, 4), False, True, torch.float32, "bf16")
    recorded = {KEY: 2, turned: 1}
    work = bare(recorded, CPU)
    with Products() as counted:
        work(1)
    assert dict(counted.products) == recorded
    assert setting(CPU).fp32_precision == HIGHEST


def test_the_rate_of_one_large_product_is_a_number_of_this_machine():
    workload = Workload(Path("results"), CPU)
    assert large_rate(workload, Rounds(1, 0)) > 0
