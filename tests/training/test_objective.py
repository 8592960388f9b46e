import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss

from fathom.models.hooks import Loss
from fathom.training.objective import token_losses, total, weighted

PAD = 1


def example():
    torch.manual_seed(1)
    logits = torch.randn(3, 4, 7, dtype=torch.float64)
    target = torch.tensor([[3, 4, 2, PAD], [5, 2, PAD, PAD], [6, 3, 4, 2]])
    return logits, target


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_smoothed_loss_and_nll_are_fairseqs(smoothing):
    logits, target = example()
    expected, nll = label_smoothed_nll_loss(
        torch.log_softmax(logits, -1).view(-1, 7),
        target.view(-1, 1),
        smoothing,
        ignore_index=PAD,
    )
    got = token_losses(logits, target, PAD, smoothing)
    # token_losses works in float32 as fairseq's criterion does in training.
    torch.testing.assert_close(got[0].double(), expected.sum(), atol=1e-5, rtol=0)
    torch.testing.assert_close(got[1].double(), nll.sum(), atol=1e-5, rtol=0)


def test_padding_does_not_count():
    logits, target = example()
    changed = logits.clone()
    changed[target == PAD] += 100
    assert token_losses(logits, target, PAD, 0.1) == token_losses(changed, target, PAD, 0.1)


def test_the_methods_losses_are_weighted_and_added_once():
    losses = {"a": Loss(torch.tensor(2.0), 0.5), "b": Loss(torch.tensor(4.0), 0.25)}
    extra = weighted(losses)
    assert float(extra) == 2.0
    parts = [total(torch.tensor(6.0), 10, extra), total(torch.tensor(4.0), 10, None)]
    assert float(sum(parts)) == pytest.approx(3.0)


def test_a_weight_of_zero_leaves_a_loss_out_even_where_it_is_not_finite():
    assert weighted({"a": Loss(torch.tensor(float("inf")), 0.0)}) is None
