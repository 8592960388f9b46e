import pytest
import torch

from fathom.train.environment import choose_device, device_facts, versions
from tests.support.refused import prose, refused


def test_auto_takes_cuda_where_there_is_one():
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert choose_device("auto").type == expected


def test_a_cpu_computes_with_one_thread_so_that_sums_repeat():
    assert device_facts(choose_device("cpu"), 2)["threads"] == 1


def test_a_device_beyond_the_last_is_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1").index == 1
    with refused("unknown", "device", "cuda:2", remedy="below 2"):
        choose_device("cuda:2")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_missing_device_is_said_with_a_remedy():
    with refused("no CUDA", remedy=prose("auto or cpu")):
        choose_device("cuda:1")


def test_an_unknown_device_is_said_with_the_known_ones():
    with refused("unknown", "device", "gpu", remedy=prose("devices")):
        choose_device("gpu")


def test_versions_name_what_a_result_depends_on():
    found = versions()
    assert found["python"].startswith("3.")
    assert found["torch"].split("+")[0] == torch.__version__.split("+")[0]
