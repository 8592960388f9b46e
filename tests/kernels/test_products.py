"""Linear layers by oneDNN, and when they are used."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F

from fathom.nn import cpu
from fathom.nn.cpu import MatmulPrecision, choose_matmul_precision, linear

CPU = torch.device("cpu")


def inputs(*shape, bias=True, dtype=torch.float32):
    torch.manual_seed(1)
    width = shape[-1]
    drawn = [torch.randn(shape), torch.randn(6, width), torch.randn(6) if bias else None]
    return [None if x is None else x.to(dtype).requires_grad_() for x in drawn]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 128, 8), (2, 3, 8), (5, 8), (1, 1, 8), (1, 0, 8)])
def test_value_and_gradients_are_those_of_torchs_own_layer(shape, bias, monkeypatch):
    # Whether oneDNN rounds depends on the machine.
    monkeypatch.setattr(cpu, "_product", torch.mm)
    given = inputs(*shape, bias=bias)
    ours, theirs = linear(*given, precision="medium"), F.linear(*given)
    assert ours.shape == theirs.shape
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
    present = [x for x in given if x is not None]
    upstream = torch.randn_like(theirs)
    torch.testing.assert_close(
        torch.autograd.grad(ours, present, upstream),
        torch.autograd.grad(theirs, present, upstream),
        rtol=0,
        atol=1e-4,
    )


def test_frozen_weights_get_no_gradient():
    x, weight, bias = inputs(4, 8)
    weight.requires_grad_(False)
    linear(x, weight, bias, "medium").sum().backward()
    assert weight.grad is None
    assert x.grad is not None
    assert bias.grad is not None


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_torchs_own_layer_to_the_bit(dtype):
    given = inputs(5, 8, dtype=dtype)
    assert torch.equal(linear(*given, precision="medium"), F.linear(*given))


def test_autocast_rounds_as_it_does_torchs_own_layer():
    results = []
    for layer in (partial(linear, precision="medium"), F.linear):
        given = inputs(5, 8)
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(*given)
        y.float().sum().backward()
        results.append([y, *(x.grad for x in given)])
    assert results[0][0].dtype == torch.bfloat16
    assert all(torch.equal(*pair) for pair in zip(*results, strict=True))


def test_the_highest_precision_is_torchs_own_layer_to_the_bit():
    given = inputs(5, 8)
    assert torch.equal(linear(*given), F.linear(*given))


def test_the_medium_precision_computes_the_same_as_far_as_the_machine_rounds():
    given = inputs(5, 8)
    torch.testing.assert_close(
        linear(*given, precision="medium"), F.linear(*given), rtol=0, atol=0.1
    )


def test_the_setting_is_afterwards_as_it_was_before_also_after_an_error():
    setting, whole = torch.backends.mkldnn.matmul, torch.get_float32_matmul_precision()
    before = setting.fp32_precision
    x, weight, bias = inputs(5, 8)
    linear(x, weight, bias, "medium").sum().backward()
    assert (setting.fp32_precision, torch.get_float32_matmul_precision()) == (before, whole)
    with pytest.raises(RuntimeError):
        linear(x[:, :3], weight, bias, "medium")
    assert (setting.fp32_precision, torch.get_float32_matmul_precision()) == (before, whole)


def test_the_chosen_precision_is_as_exact_as_the_highest():
    state = torch.get_rng_state()
    chosen = choose_matmul_precision(CPU)
    assert torch.equal(torch.get_rng_state(), state)
    assert set(chosen.errors) == {"highest", "medium"}
    assert chosen.errors["highest"] < 1e-5
    assert chosen.errors[chosen.precision] <= 2 * chosen.errors["highest"]
    assert choose_matmul_precision(CPU) == chosen


def test_a_machine_that_rounds_is_refused(monkeypatch):
    """As on machines with AMX, where oneDNN may round float32 to bfloat16."""

    def rounded(left, right):
        return (left.bfloat16() @ right.bfloat16()).float()

    monkeypatch.setattr(cpu, "_product", rounded)
    chosen = choose_matmul_precision(CPU)
    assert chosen.precision == "highest"
    assert chosen.errors["medium"] > 100 * chosen.errors["highest"]


def test_another_device_keeps_the_highest_precision_without_a_measurement():
    assert choose_matmul_precision(torch.device("cuda")) == MatmulPrecision("highest", {})


def test_rows_are_rounded_up_for_onednn_alone():
    assert [MatmulPrecision(name, {}).multiple for name in ("highest", "medium")] == [1, 128]
