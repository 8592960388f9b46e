"""Linear layers by oneDNN and in half precision, dropout from random words, padded logits."""

from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from fathom.nn import cpu
from fathom.nn.cpu import MatmulPrecision, choose_matmul_precision, dropout, linear
from fathom.nn.loss import smoothed_loss, token_nll
from fathom.nn.network import ENTRIES_MULTIPLE, LowPrecision, count_parameters
from tests.support.small_networks import gradients, method, network, recurrent, sentences, shape

CPU = torch.device("cpu")
with_switch = pytest.mark.skipif(
    not hasattr(torch.backends.mkldnn, "matmul"), reason="torch before 2.9 has no switch for oneDNN"
)


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


def test_frozen_weights_get_no_gradient(monkeypatch):
    monkeypatch.setattr(cpu, "_product", torch.mm)
    x, weight, bias = inputs(4, 8)
    weight.requires_grad_(False)
    linear(x, weight, bias, "medium").sum().backward()
    assert weight.grad is None
    assert x.grad is not None
    assert bias.grad is not None


@pytest.mark.parametrize(
    ("dtype", "precision"),
    [(torch.float64, "medium"), (torch.bfloat16, "medium"), (torch.float32, "highest")],
)
def test_other_types_and_the_highest_precision_are_torchs_own_layer_to_the_bit(dtype, precision):
    given = inputs(5, 8, dtype=dtype)
    assert torch.equal(linear(*given, precision=precision), F.linear(*given))


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


@with_switch
def test_the_setting_is_afterwards_as_it_was_before_also_after_an_error():
    setting, whole = torch.backends.mkldnn.matmul, torch.get_float32_matmul_precision()
    before = setting.fp32_precision
    x, weight, bias = inputs(5, 8)
    linear(x, weight, bias, "medium").sum().backward()
    assert (setting.fp32_precision, torch.get_float32_matmul_precision()) == (before, whole)
    with pytest.raises(RuntimeError):
        linear(x[:, :3], weight, bias, "medium")
    assert (setting.fp32_precision, torch.get_float32_matmul_precision()) == (before, whole)


@with_switch
def test_the_chosen_precision_is_as_exact_as_the_highest():
    state = torch.get_rng_state()
    chosen = choose_matmul_precision(CPU)
    assert torch.equal(torch.get_rng_state(), state)
    assert set(chosen.errors) == {"highest", "medium"}
    assert chosen.errors["highest"] < 1e-5
    assert chosen.errors[chosen.precision] <= 2 * chosen.errors["highest"]
    assert choose_matmul_precision(CPU) == chosen


@with_switch
def test_a_machine_that_rounds_is_refused(monkeypatch):
    """As on machines with AMX, where oneDNN may round float32 to bfloat16."""

    def rounded(left, right):
        return (left.bfloat16() @ right.bfloat16()).float()

    monkeypatch.setattr(cpu, "_product", rounded)
    chosen = choose_matmul_precision(CPU)
    assert chosen.precision == "highest"
    assert chosen.errors["medium"] > 100 * chosen.errors["highest"]


def test_where_nothing_can_be_chosen_nothing_is_measured(monkeypatch):
    cuda = torch.device("cuda")
    assert choose_matmul_precision(cuda) == MatmulPrecision("highest", {})
    assert choose_matmul_precision(cuda, tf32=True) == MatmulPrecision("high", {})
    assert choose_matmul_precision(CPU, tf32=True) == choose_matmul_precision(CPU)
    # torch before 2.9.
    monkeypatch.setattr(torch.backends, "mkldnn", SimpleNamespace(is_available=lambda: True))
    assert choose_matmul_precision(CPU) == MatmulPrecision("highest", {})


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("precision", ["highest", "high", "medium"])
def test_cudas_products_are_in_tf32_at_high_alone_and_afterwards_as_before(precision, before):
    cublas = torch.backends.cuda.matmul
    try:
        cublas.allow_tf32 = before
        with suppress(KeyError), MatmulPrecision(precision, {}).applied():
            assert cublas.allow_tf32 == (precision == "high")
            # The compiler reads this one.
            expected = "high" if precision == "high" else "highest"
            assert torch.get_float32_matmul_precision() == expected
            raise KeyError
        assert cublas.allow_tf32 == before
    finally:
        cublas.allow_tf32 = False


def test_rows_are_rounded_up_for_onednn_alone():
    assert [MatmulPrecision(name, {}).multiple for name in ("highest", "medium")] == [1, 128]


SHARES = [0.1, 0.25, 0.5, 0.9]


def test_the_expectation_and_the_share_of_zeros_are_those_of_the_probability():
    torch.manual_seed(1)
    draws = 400_000
    for p in SHARES:
        y = dropout(torch.ones(draws), p)
        assert y.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=2e-5 / (1 - p))
        # Five standard deviations of a mean of these draws.
        assert abs((y == 0).double().mean() - p) < 5 * (p * (1 - p) / draws) ** 0.5
        assert abs(y.double().mean() - 1) < 5 * (p / (1 - p) / draws) ** 0.5


def test_the_probability_is_a_multiple_of_one_over_65536_and_the_scale_is_exact():
    kept = dropout(torch.ones(64, dtype=torch.float64), 0.1).max().item()
    assert 1 - 1 / kept == pytest.approx(round(0.1 * 65536) / 65536, abs=1e-15)
    assert abs(1 - 1 / kept - 0.1) <= 1 / 131072


@pytest.mark.parametrize("p", SHARES)
def test_neighbouring_values_and_calls_are_independent(p):
    torch.manual_seed(1)
    n = 2**18
    first, second = (
        torch.fft.rfft((dropout(torch.ones(n), p) - 1).double() * ((1 - p) / p) ** 0.5)
        for _ in range(2)
    )
    # The correlations of each value with those at all distances, in the same and the next call.
    same, next_call = (torch.fft.irfft(first * other.conj()) / n for other in (first, second))
    assert same[0].item() == pytest.approx(1, abs=0.05)
    # Seven standard deviations: the largest of 2**18 is below it but once in a million times.
    assert same[1:].abs().max() < 7 / n**0.5
    assert next_call.abs().max() < 7 / n**0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_gradient_has_the_same_mask(dtype):
    x = torch.randn(5, 7).to(dtype).requires_grad_()
    y = dropout(x, 0.3)
    (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert y.dtype == gradient.dtype == dtype
    assert torch.equal(y, x * gradient)
    assert 0 < (gradient == 0).sum() < gradient.numel()


def test_without_training_or_probability_nothing_is_drawn_and_at_one_all_is_dropped():
    x, state = torch.ones(1000), torch.get_rng_state()
    assert dropout(x, 0.0) is x
    assert dropout(x, 0.3, training=False) is x
    assert torch.equal(torch.get_rng_state(), state)
    y = dropout(x, 1 - 1e-9)
    assert torch.isfinite(y).all()
    assert (y == 0).sum() > 900
    assert not dropout(x, 1.0).any()


SHAPES = {
    "transformer": shape(width=64, ffn=96, dropout=0.1),
    "rnmt_plus": recurrent(),
    "masked_lm": shape(architecture="masked_lm", decoder_layers=0, block=16, activation="gelu"),
}
METHODS = {"group_dropout": {"groups": 4, "active": 2}, "adapters": {"bottleneck": 4}}


def updated(predictor, of_network):
    """Return a batch's loss, its sum of NLL and all gradients, with the same gates and dropout."""
    of_network.start_update(1, 1)
    torch.manual_seed(1)
    predicted = predictor(sentences([(length, length) for length in (5, 9, 7, 3)]))
    loss, _ = smoothed_loss(predicted.logits, predicted.target, 0.1, of_network.entries)
    loss.backward()
    nll = token_nll(predicted).sum()
    return torch.stack([loss, nll]).detach(), gradients(of_network)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(
    ("kind", "name", "stacks"),
    [
        ("transformer", "static", ()),
        ("transformer", "latent_layers", ("encoder", "decoder")),
        ("transformer", "group_dropout", ("encoder", "decoder")),
        ("transformer", "transparent", ("encoder",)),
        ("transformer", "adapters", ("encoder", "decoder")),
        ("transformer", "layerdrop", ("encoder", "decoder")),
        ("rnmt_plus", "static", ()),
        ("masked_lm", "static", ()),
    ],
)
def test_loss_and_gradients_are_those_of_autocast_to_the_bit(kind, name, stacks, dtype):
    chosen = method(name, stacks, **METHODS.get(name, {}))
    ours, theirs = (network(chosen, SHAPES[kind]).train() for _ in range(2))
    low = LowPrecision(ours, dtype)
    low.start_update()
    with torch.autocast("cpu", dtype):
        loss, expected = updated(theirs.predict, theirs)
    found, given = updated(low.predict, ours)
    assert torch.equal(found, loss)
    for weight, gradient in expected.items():
        # A layer that is not used has no gradient, so that its weights do not move.
        assert (given[weight] is None) == (gradient is None), weight
        if gradient is not None:
            assert given[weight].dtype == torch.float32
            # float32 sums of float16 depend on where a tensor lies in memory.
            atol = 0.0 if dtype == torch.bfloat16 else 2**-8
            torch.testing.assert_close(given[weight], gradient, rtol=0.0, atol=atol, msg=weight)


def test_weights_are_copied_when_an_update_starts_and_stay_in_full():
    model = network(method("static", ())).train()
    names = list(model.state_dict())
    low = LowPrecision(model)
    low.start_update()
    before, _ = updated(low.predict, model)
    with torch.no_grad():
        model.decoder.layers[0].fc1.weight.add_(1)
    assert torch.equal(updated(low.predict, model)[0], before)
    low.start_update()
    assert not torch.equal(updated(low.predict, model)[0], before)
    assert list(model.state_dict()) == names
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("low", [False, True])
@pytest.mark.parametrize("kind", SHAPES)
def test_entries_that_fill_logits_up_as_on_cuda_change_neither_loss_nor_gradients(
    kind, low, monkeypatch
):
    def made():
        model = network(method("static", ()), SHAPES[kind]).train()
        in_bfloat16 = LowPrecision(model)
        in_bfloat16.start_update()
        return updated(in_bfloat16.predict if low else model.predict, model)

    losses, expected = made()
    counts = count_parameters(network(method("static", ()), SHAPES[kind]))
    monkeypatch.setitem(ENTRIES_MULTIPLE, "cpu", ENTRIES_MULTIPLE["cuda"])
    found, given = made()
    assert count_parameters(network(method("static", ()), SHAPES[kind])) == counts
    assert losses.isfinite().all()
    torch.testing.assert_close(found, losses, rtol=1e-6, atol=0)
    for weight, gradient in expected.items():
        difference, largest = (x.abs().max() for x in (given[weight] - gradient, gradient))
        assert difference <= 1e-6 * largest, weight
