"""The smoothed loss, compared with fairseq's criterion."""

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss

from fathom.nn.loss import smoothed_loss
from tests.support.small_networks import PAD

V = 11


def drawn(tokens=7, dtype=torch.float64, scale=4.0):
    torch.manual_seed(1)
    logits = (scale * torch.randn(tokens, V, dtype=torch.float64)).to(dtype).requires_grad_()
    return logits, torch.randint(PAD + 1, V, (tokens,))


def reference(logits, target, smoothing):
    return label_smoothed_nll_loss(logits.log_softmax(-1), target.unsqueeze(1), smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_both_sums_are_those_of_the_reference(smoothing, dtype, rtol):
    for tokens in (1, 7):
        logits, target = drawn(tokens, dtype)
        sums, expected = (f(logits, target, smoothing) for f in (smoothed_loss, reference))
        torch.testing.assert_close(sums, expected, rtol=rtol, atol=0)
        assert not sums[1].requires_grad


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-15), (torch.float32, 1e-7)])
def test_the_gradient_is_that_of_the_reference(smoothing, dtype, atol):
    logits, target = drawn(dtype=dtype)
    ours, theirs = (
        torch.autograd.grad(function(logits, target, smoothing)[0] / 3, logits)[0]
        for function in (smoothed_loss, reference)
    )
    torch.testing.assert_close(ours, theirs, rtol=0, atol=atol)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_gradient_is_that_of_finite_differences(smoothing):
    logits, target = drawn()
    gradient = torch.autograd.grad(smoothed_loss(logits, target[:5], smoothing)[0], logits)[0]
    # gradcheck takes a gradient several times, and this one is taken once.
    for place in range(0, logits.numel(), 3):
        step = torch.zeros(logits.numel(), dtype=torch.float64)
        step[place] = 1e-5
        up, down = (
            smoothed_loss(logits.detach() + sign * step.view_as(logits), target[:5], smoothing)[0]
            for sign in (1, -1)
        )
        assert (up - down).item() / 2e-5 == pytest.approx(
            gradient.flatten()[place].item(), abs=1e-8
        )


def test_rows_without_a_target_add_nothing_and_get_no_gradient():
    logits, target = drawn()
    some, every = smoothed_loss(logits, target[:5], 0.1), smoothed_loss(logits[:5], target[:5], 0.1)
    assert torch.equal(torch.stack(some), torch.stack(every))
    (gradient,) = torch.autograd.grad(some[0], logits)
    assert torch.equal(gradient[:5], torch.autograd.grad(every[0], logits)[0][:5])
    assert not gradient[5:].any()


def test_logits_stay_as_they_are():
    logits, target = drawn()
    before = logits.detach().clone()
    smoothed_loss(logits, target, 0.1)[0].backward()
    assert torch.equal(logits, before)


def test_half_precision_is_left_before_the_sum_over_the_vocabulary():
    logits, target = drawn(dtype=torch.bfloat16)
    ours, theirs = smoothed_loss(logits, target, 0.1), reference(logits.float(), target, 0.1)
    assert ours[0].dtype == torch.float32
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=0)
    mine, other = (torch.autograd.grad(sums[0], logits)[0] for sums in (ours, theirs))
    assert mine.dtype == torch.bfloat16
    torch.testing.assert_close(mine, other, rtol=2**-7, atol=1e-6)


def test_the_gradient_is_taken_once():
    logits, target = drawn()
    loss, _ = smoothed_loss(logits, target, 0.1)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError):
        loss.backward()
