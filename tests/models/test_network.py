"""What every kind of network offers to training and decoding."""

import torch

from tests.support.small_networks import method, network


def test_gates_and_updates_reach_the_method_of_each_stack():
    model = network(method("latent_layers"))
    assert list(model.methods) == list(model.stacks) == ["encoder", "decoder"]
    model.use_gates("hard").start_update(1, 2)
    assert {gates.inference for gates in model.methods.values()} == {"hard"}
    noises = [gates.noise for gates in model.methods.values()]
    assert not torch.equal(*noises)


def test_a_task_is_set_on_both_stacks():
    model = network(method("static", ())).for_task(1)
    assert (model.encoder.task, model.decoder.task) == (1, 1)
