"""Matrix products are recorded with their shapes, and multiplied again bare."""

from pathlib import Path

import torch

from benchmarks.peer.products import Products, bare, large_rate, operations
from benchmarks.peer.training import Rounds
from benchmarks.peer.workload import Workload

HIGHEST = torch.get_float32_matmul_precision()
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
    assert operations({KEY: 10, batched: 1}) == 10 * 48 + 5 * 48


def test_bare_products_are_those_that_were_recorded_in_the_same_precision_and_layout():
    turned = ((2, 3), (3, 4), False, True, torch.float32, "medium")
    recorded = {KEY: 2, turned: 1}
    work = bare(recorded, torch.device("cpu"))
    with Products() as counted:
        work(1)
    assert dict(counted.products) == recorded
    assert torch.get_float32_matmul_precision() == HIGHEST


def test_the_rate_of_one_large_product_is_a_number_of_this_machine():
    workload = Workload(Path("results"), torch.device("cpu"))
    assert large_rate(workload, Rounds(1, 0)) > 0
