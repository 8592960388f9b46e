"""Checkpoints: what is read, and what is refused in one sentence."""

import pickle

import pytest
import torch

from fathom.checkpoints.read import load_weights, read_checkpoint
from tests.support.refused import refused
from tests.support.small_networks import method, network, shape


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "last.pt"
    model = network(method("latent_layers"))
    model.decoder.method.alpha.data.fill_(0.25)
    torch.save({"model": model.state_dict(), "update": 3, "names": ["a"], "rate": 0.5}, path)
    return path


def test_weights_come_back_to_the_bit(saved):
    model = network(method("latent_layers"))
    load_weights(model, saved)
    assert torch.equal(model.decoder.method.alpha, torch.full((2, 3), 0.25))
    assert model.decoder.output_projection.weight is model.decoder.embed_tokens.weight
    assert read_checkpoint(saved)["update"] == 3


def test_a_missing_file_is_told(tmp_path):
    with refused("no checkpoint"):
        read_checkpoint(tmp_path / "last.pt")


@pytest.mark.parametrize("keep", [0, 1, 100, -100])
def test_a_damaged_file_is_told(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with refused("cannot be read", where="last.pt"):
        read_checkpoint(saved)


def test_bytes_that_are_no_checkpoint_are_told(saved):
    saved.write_bytes(b"<html>not found</html>")
    with refused("cannot be read"):
        read_checkpoint(saved)


class Harmful:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return print, ("this must not run",)


@pytest.mark.parametrize(
    "write", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value, protocol=2))]
)
def test_code_in_a_checkpoint_is_refused_and_not_run(saved, write, capsys):
    write({"model": Harmful()}, saved)
    with refused("cannot be read"):
        read_checkpoint(saved)
    assert "this must not run" not in capsys.readouterr().out


def test_a_checkpoint_without_weights_is_told(saved):
    torch.save({"update": 3}, saved)
    with refused("no weights"):
        load_weights(network(method("static", ())), saved)
    torch.save([1, 2], saved)
    with refused("not a checkpoint"):
        read_checkpoint(saved)


def test_another_networks_weights_are_told(saved):
    for other in (network(method("static", ())), network(method("latent_layers"), shape(width=32))):
        with refused("other network"):
            load_weights(other, saved)
