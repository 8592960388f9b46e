import pytest
import torch

from fathom.data.tensors import EOS
from fathom.train.batches.collate import ordered
from fathom.train.outcomes import validate
from tests.support.small_runs import latent
from tests.training.test_two_level import Run


def test_validation_is_a_mean_over_tokens_and_does_not_depend_on_batches(tensors):
    run = Run(latent(), tensors)
    run.network.use_gates("soft")
    valid = run.tensors.splits("valid")
    small, large = (validate(run.network, list(ordered(valid, tokens)), 3) for tokens in (50, 5000))
    # float32 sums in another order.
    assert small.nll == pytest.approx(large.nll, abs=1e-5)
    assert small.by_task == pytest.approx(large.by_task, abs=1e-5)
    tokens = [int(each.target_lengths.sum()) for each in valid]
    mean = sum(n * nll for n, nll in zip(tokens, small.by_task, strict=True)) / sum(tokens)
    assert small.nll == pytest.approx(mean)


def test_validation_is_the_plain_nll_of_each_sentence_alone(tensors):
    run = Run(latent(), tensors)
    run.network.use_gates("soft")
    valid = run.tensors.splits("valid")
    found = validate(run.network, list(ordered(valid, 500)), 3)
    run.network.eval()
    pairs = valid[1]
    nats = 0.0
    for number in range(len(pairs)):
        target = pairs.target(number).long()
        previous = torch.tensor([[EOS, *target[:-1]]])
        task = torch.tensor([pairs.task])
        logits = run.network(pairs.source(number)[None].long(), previous, task)[0]
        nats += torch.nn.functional.cross_entropy(logits, target, reduction="sum").item()
    # float32 sums in another order.
    assert found.by_task[1] == pytest.approx(nats / pairs.target_lengths.sum(), abs=1e-5)


def test_validation_draws_nothing_and_leaves_the_network_in_training(tensors):
    run = Run(latent(), tensors)
    run.network.use_gates("soft")
    batches = list(ordered(run.tensors.splits("valid"), 500))
    state = torch.get_rng_state()
    assert validate(run.network, batches, 3) == validate(run.network, batches, 3)
    assert torch.equal(state, torch.get_rng_state())
    assert run.network.training
