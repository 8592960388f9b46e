"""What a network computes with."""

import json

import pytest
import torch

from fathom.nn.arithmetic import FAIRSEQ, FAST, Arithmetic, choose
from fathom.nn.products import choose_products
from tests.support.refused import prose, refused
from tests.support.small_networks import method, network, shape

CPU = torch.device("cpu")


def test_the_fast_kernels_take_the_products_that_the_device_computes_well():
    assert choose(FAST, CPU) == Arithmetic(FAST, choose_products(CPU))
    assert choose(FAIRSEQ, CPU) == Arithmetic(FAIRSEQ)


def test_the_record_names_kernels_and_products_with_their_errors():
    record = choose(FAST, CPU).record()
    assert record["kernels"] == "fast"
    assert record["products"]["precision"] in ("highest", "medium")
    assert record == json.loads(json.dumps(record))
    assert Arithmetic(FAIRSEQ).record() == {"kernels": "fairseq"}


def test_a_network_is_fast_unless_it_is_set_otherwise():
    model = network(method("static", ()))
    assert model.arithmetic.kernels == "fast"
    assert model.use_arithmetic(Arithmetic(FAIRSEQ)).arithmetic.kernels == "fairseq"


@pytest.mark.parametrize(
    ("changes", "kernels", "remedy"),
    [
        ({}, FAIRSEQ, prose("write fast")),
        ({"architecture": "rnmt_plus", "tie_embeddings": "none"}, FAST, prose("write uncompiled")),
    ],
)
def test_layers_that_are_not_packed_cannot_be_compiled(changes, kernels, remedy):
    model = network(method("static", ()), shape(**changes)).use_arithmetic(Arithmetic(kernels))
    with refused("uncompiled", remedy=remedy):
        model.compile_layers()
