"""Numbers of benchmarks: rounds, ratios, operations as torch counts them, how all are printed."""

import pytest
import torch
from torch import nn
from torch.nn.functional import relu

from benchmarks.peer import operations, training, translation
from benchmarks.peer.operations import Operations, counted, of_layers
from benchmarks.peer.results import Table, cell, markdown
from benchmarks.peer.timing import alternate, faster, turns
from benchmarks.peer.workload import ROOT


def test_the_order_of_the_contenders_is_reversed_in_every_second_round():
    assert list(turns(["a", "b"], 3)) == [
        (1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a"), (3, "b"),
    ]  # fmt: skip


def test_rounds_that_warm_up_do_not_count_and_every_contender_makes_the_same_rounds():
    made = {"a": [], "b": []}
    contenders = {
        name: lambda number, own=own: own.append(number) or number for name, own in made.items()
    }
    assert alternate(contenders, rounds=2, warm_up=1) == {"a": [2, 3], "b": [2, 3]}
    assert made == {"a": [1, 2, 3], "b": [1, 2, 3]}


def test_how_much_faster_is_the_median_of_the_ratios_of_equally_many_rounds():
    assert faster([2.0, 30.0, 8.0], [1.0, 10.0, 8.0]).middle == 2.0
    with pytest.raises(ValueError, match="argument"):
        faster([1.0, 2.0], [1.0])


def test_a_number_has_three_significant_digits_and_nothing_is_a_dash():
    numbers = {1.847: "1.85", 61.24: "61.2", 0.834: "0.83", 107.2: "107"}
    numbers |= {16504.0: "16,504", 0.0: "0", 14: "14"}
    assert {value: cell(value) for value in numbers} == numbers
    assert (cell(None), cell("as it is")) == ("–", "as it is")


def test_a_table_is_printed_below_its_title():
    table = Table("A title", ("", "a"), [["x", 1.5]])
    assert markdown(table) == "A title\n\n|  | a |\n| --- | --: |\n| x | 1.50 |\n"


@pytest.mark.parametrize("part", [training, translation, operations])
def test_the_page_of_performance_has_the_columns_that_the_benchmark_prints(part):
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert markdown(Table("", part.COLUMNS, [])).lstrip() in page


# Operations


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
