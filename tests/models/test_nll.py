"""Summed NLL of texts, by task."""

from dataclasses import dataclass

import pytest
import torch

from fathom.nn import loss
from fathom.nn.network import Predicted
from tests.support import small_networks
from tests.support.small_networks import batch, method, network, shape

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
def test_half_precision_is_left_before_the_sum_over_the_vocabulary(given, kept):
    predicted = Predicted(torch.randn(2, 7).to(given), torch.tensor([3, 4]), torch.zeros(2))
    assert loss.token_nll(predicted).dtype == kept


def test_each_task_has_the_sum_of_its_texts_read_alone():
    model = network(method("static", ()), shape(dropout=0.3), N).eval()
    found = loss.nll_by_task(model, [texts()], N)
    expected = torch.zeros(N, dtype=torch.float64)
    for row, task in enumerate(TASKS):
        alone, (source, target) = texts([row]), LENGTHS[row]
        logits = model(alone.source[:, :source], alone.previous_target[:, :target], alone.tasks)
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
