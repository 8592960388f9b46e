"""The smoothed loss, compared with fairseq's criterion, and the NLL of texts by task."""

from dataclasses import dataclass

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss

from fathom.nn import loss
from fathom.nn.loss import smoothed_loss
from fathom.nn.network import Predicted
from tests.reference.padded.networks import padded_logits
from tests.support import small_networks
from tests.support.small_networks import PAD, batch, method, network, shape

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


def test_rows_without_a_target_add_nothing_and_get_no_gradient():
    logits, target = drawn()
    some, every = smoothed_loss(logits, target[:5], 0.1), smoothed_loss(logits[:5], target[:5], 0.1)
    assert torch.equal(torch.stack(some), torch.stack(every))
    (gradient,) = torch.autograd.grad(some[0], logits)
    assert torch.equal(gradient[:5], torch.autograd.grad(every[0], logits)[0][:5])
    assert not gradient[5:].any()


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


LENGTHS = [(5, 4), (9, 6), (2, 8), (3, 3)]
TASKS = [1, 0, 2, 1]
N = 4  # One task more than there are texts of.


@dataclass
class Some:
    """Texts with their tasks, on the CPU."""

    source: torch.Tensor
    previous_target: torch.Tensor
    target: torch.Tensor
    tasks: torch.Tensor
    source_lengths: None = None
    target_lengths: None = None
    task_of_each: None = None

    def to(self, device):
        """Return the texts."""
        return self


def texts(rows=(0, 1, 2, 3)):
    rows = list(rows)
    source, previous, target = batch(LENGTHS)
    return Some(source[rows], previous[rows], target[rows], torch.tensor(TASKS)[rows])


def test_the_sum_is_torchs_own_cross_entropy():
    torch.manual_seed(1)
    logits, target = torch.randn(9, 7), torch.tensor([3, 4, 2, 5, 2, 6, 3, 4, 2])
    found = loss.token_nll(Predicted(logits, target, torch.zeros(9)))
    assert found.shape == (9,)
    torch.testing.assert_close(found.sum(), small_networks.nll(logits[None], target[None]))
    surplus = torch.cat([logits, torch.randn(3, 7)])
    assert torch.equal(found, loss.token_nll(Predicted(surplus, target, torch.zeros(9))))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_the_nll_leaves_half_precision_before_the_sum_over_the_vocabulary(given, kept):
    predicted = Predicted(torch.randn(2, 7).to(given), torch.tensor([3, 4]), torch.zeros(2))
    assert loss.token_nll(predicted).dtype == kept


def test_each_task_has_the_sum_of_its_texts_read_alone():
    model = network(method("static", ()), shape(dropout=0.3), N).eval()
    found = loss.nll_by_task(model, [texts()], N)
    expected = torch.zeros(N, dtype=torch.float64)
    for row, task in enumerate(TASKS):
        alone, (source, target) = texts([row]), LENGTHS[row]
        logits = padded_logits(
            model, alone.source[:, :source], alone.previous_target[:, :target], alone.tasks
        )
        expected[task] += small_networks.nll(logits, alone.target[:, :target]).item()
    torch.testing.assert_close(found.nats, expected, atol=1e-5, rtol=0)
    assert found.tokens.tolist() == [6, 7, 8, 0]


def test_batches_are_added_up():
    model = network(method("static", ()), tasks=N)
    whole = loss.nll_by_task(model, [texts()], N)
    parted = loss.nll_by_task(model, [texts([0, 1]), texts([2]), texts([3])], N)
    torch.testing.assert_close(parted.nats, whole.nats, atol=1e-5, rtol=0)
    assert torch.equal(parted.tokens, whole.tokens)


@pytest.mark.parametrize("training", [True, False])
def test_dropout_rests_nothing_is_drawn_and_the_network_is_left_as_it_was(training):
    model = network(method("static", ()), shape(dropout=0.3), N).train(training)
    state = torch.get_rng_state()
    first, second = (loss.nll_by_task(model, [texts()], N) for _ in range(2))
    assert torch.equal(first.nats, second.nats)
    assert torch.equal(state, torch.get_rng_state())
    assert model.training == training
    assert not first.nats.requires_grad
