"""The hooks are called where the table says, and private random streams are independent."""

import torch

from fathom.nn.hooks import Method, generator, stream_seed
from fathom.nn.network import Entries
from fathom.nn.transformer.network import Transformer
from tests.support.small_networks import ENTRIES, batch, shape, stack


class Spy(Method):
    """Notes each call; leaves out layer 1."""

    def __init__(self, side):
        super().__init__(stack(side))
        self.calls = []

    def begin(self, tasks):
        self.calls.append(("begin", tasks.tolist()))

    def source(self, layer, outputs):
        self.calls.append(("source", layer, len(outputs)))
        return outputs[-1]

    def keep(self, layer):
        return layer != 1

    def residual(self, layer, part, x, fx):
        self.calls.append(("residual", layer, part))
        return x + fx

    def block(self, layer, x, y):
        self.calls.append(("block", layer))
        return y

    def after(self, layer, y):
        self.calls.append(("after", layer))
        return y


def test_each_hook_is_called_in_its_place():
    spies = {side: Spy(side) for side in ("encoder", "decoder")}
    model = Transformer(shape(), Entries(ENTRIES), Entries(ENTRIES), spies)
    source, previous, _ = batch([(5, 4), (3, 6)])
    model(source, previous, torch.tensor([1, 0]))
    parts = {"encoder": ("self_attention", "ffn")}
    parts["decoder"] = ("self_attention", "cross_attention", "ffn")
    for side, spy in spies.items():
        expected = [("begin", [1, 0])]
        for layer in range(3):
            expected.append(("source", layer, layer + 1))
            if layer != 1:
                expected += [("residual", layer, part) for part in parts[side]]
                expected += [("block", layer), ("after", layer)]
        assert spy.calls == [*expected, ("source", 3, 4)]


def test_methods_are_not_registered_in_each_layer():
    spies = {side: Spy(side) for side in ("encoder", "decoder")}
    model = Transformer(shape(), Entries(ENTRIES), Entries(ENTRIES), spies)
    assert sum(isinstance(module, Method) for module in model.modules()) == 2


def test_random_streams_repeat_and_differ_in_every_argument():
    def draw(*arguments):
        return tuple(torch.rand(4, generator=generator(*arguments)).tolist())

    keys = [
        (seed, update, side, task)
        for seed in (1, 2)
        for update in (1, 2, 11)
        for side in ("encoder", "decoder")
        for task in (None, 0, 1, 11)
    ]
    assert len({draw(*key) for key in keys}) == len(keys)
    assert draw(*keys[5]) == draw(*keys[5])


def test_the_seed_of_a_stream_is_the_same_in_every_process():
    # The first eight digits of: printf '1 2 encoder 3' | sha256sum
    assert stream_seed(1, 2, "encoder", 3) == 0xD660E3C3


def test_random_streams_leave_torchs_own_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    torch.rand(3, generator=generator(1, 1, "encoder", 0))
    assert torch.equal(torch.rand(3), expected)
