import pytest
import torch

from fathom.models.network import tasks_of
from tests.reference.small_networks import method, network


def test_what_is_asked_of_a_network_reaches_the_method_of_each_side():
    model = network(method("latent_layers"))
    assert list(model.methods) == ["encoder", "decoder"]
    model.use_gates("hard").start_update(1, 2)
    assert {each.inference for each in model.methods.values()} == {"hard"}
    noises = [each.noise for each in model.methods.values()]
    assert not torch.equal(*noises)


def test_the_task_of_a_sentence_is_the_callers_or_the_one_that_was_chosen():
    tokens = torch.zeros(3, 2, dtype=torch.long)
    given = torch.tensor([1, 0, 1])
    assert tasks_of(tokens, given, 5) is given
    assert tasks_of(tokens, None, 5).tolist() == [5, 5, 5]
    with pytest.raises(RuntimeError, match="for_task"):
        tasks_of(tokens, None, None)
    model = network(method("static", ())).for_task(1)
    assert (model.encoder.task, model.decoder.task) == (1, 1)
