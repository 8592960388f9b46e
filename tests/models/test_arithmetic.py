"""What a network computes with."""

import json

import pytest
import torch

from fathom.nn.cpu import choose_matmul_precision
from fathom.nn.network import FAIRSEQ, FAST, Backend, choose_backend
from tests.support.refused import prose, refused
from tests.support.small_networks import method, network, shape

CPU = torch.device("cpu")


def test_the_fast_kernels_take_the_products_that_the_device_computes_well():
    assert choose_backend(FAST, CPU) == Backend(FAST, choose_matmul_precision(CPU))
    assert choose_backend(FAIRSEQ, CPU) == Backend(FAIRSEQ)


def test_the_record_names_kernels_and_products_with_their_errors():
    record = choose_backend(FAST, CPU).record()
    assert record["kernels"] == "fast"
    assert record["products"]["precision"] in ("highest", "medium")
    assert record == json.loads(json.dumps(record))
    assert Backend(FAIRSEQ).record() == {"kernels": "fairseq"}


def test_a_network_is_fast_unless_it_is_set_otherwise():
    model = network(method("static", ()))
    assert model.backend.kernels == "fast"
    assert model.set_backend(Backend(FAIRSEQ)).backend.kernels == "fairseq"


@pytest.mark.parametrize(
    ("changes", "kernels", "remedy"),
    [
        ({}, FAIRSEQ, prose("write fast")),
        ({"architecture": "rnmt_plus", "tie_embeddings": "none"}, FAST, prose("write uncompiled")),
    ],
)
def test_layers_that_are_not_packed_cannot_be_compiled(changes, kernels, remedy):
    model = network(method("static", ()), shape(**changes)).set_backend(Backend(kernels))
    with refused("uncompiled", remedy=remedy):
        model.compile_layers()
