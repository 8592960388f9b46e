"""Checkpoints: what is read, and what is refused in one sentence."""

import pickle
import random
import zipfile

import pytest
import torch

from fathom.io.errors import FathomError
from fathom.io.files import sha256
from fathom.io.seals import sealed
from fathom.nn.weights import load_weights, read_checkpoint, write_checkpoint
from tests.support.refused import refused
from tests.support.small_networks import method, network, shape


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "runs/paper/small-12345678/2/checkpoints/last.pt"
    model = network(method("latent_layers"))
    model.decoder.method.alpha.data.fill_(0.25)
    content = {"model": model.state_dict(), "update": 3, "names": ["a"], "rate": 0.5}
    write_checkpoint(path, content)
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


def test_other_programs_read_it_as_they_read_any_checkpoint(saved):
    assert torch.load(saved, weights_only=True)["update"] == 3
    assert zipfile.ZipFile(saved).testzip() is None


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -64, -65, -100])
def test_a_file_that_is_cut_off_is_refused(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with refused("no seal", where="last.pt", remedy="fathom train paper/small-12345678 --seed 2"):
        read_checkpoint(saved)


def test_sixty_flipped_bits_of_sixty_are_refused(saved):
    content = saved.read_bytes()
    dice = random.Random(1)
    for bit in dice.sample(range(8 * len(content)), 60):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        saved.write_bytes(flipped)
        with pytest.raises(FathomError, check=lambda error: error.where == str(saved)):
            read_checkpoint(saved)
    saved.write_bytes(content)
    assert read_checkpoint(saved)["update"] == 3


def test_a_flipped_weight_is_named_as_damage(saved):
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 64
    saved.write_bytes(content)
    with refused("damaged checkpoint", where="last.pt", remedy="fathom train"):
        read_checkpoint(saved)


def test_another_file_than_the_recorded_one_is_refused(saved):
    right = sha256(saved)
    assert read_checkpoint(saved, right)["update"] == 3
    write_checkpoint(saved, {"update": 4})
    with refused("changed file", where="last.pt"):
        read_checkpoint(saved, right)


@pytest.mark.parametrize("content", [b"<html>not found</html>", b"PK" * 100])
def test_bytes_that_are_no_checkpoint_are_refused(saved, content):
    saved.write_bytes(content)
    with refused("no seal"):
        read_checkpoint(saved)


class Harmful:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return print, ("this must not run",)


@pytest.mark.parametrize(
    "write",
    [
        lambda value, stream: torch.save(value, stream),
        lambda value, stream: stream.write(pickle.dumps(value, protocol=2)),
    ],
)
@pytest.mark.parametrize("seals", [True, False])
def test_code_in_a_checkpoint_is_refused_in_our_own_words_and_not_run(saved, write, seals, capsys):
    with sealed(saved) if seals else open(saved, "wb") as stream:
        write({"model": Harmful()}, stream)
    with refused("code" if seals else "no seal", remedy="fathom train") as caught:
        read_checkpoint(saved)
    assert "weights_only" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "this must not run" not in capsys.readouterr().out


def test_a_checkpoint_without_weights_is_told(saved):
    write_checkpoint(saved, {"update": 3})
    with refused("no weights"):
        load_weights(network(method("static", ())), saved)
    with sealed(saved) as stream:
        torch.save([1, 2], stream)
    with refused("not a checkpoint"):
        read_checkpoint(saved)


def test_another_networks_weights_are_told(saved):
    for other in (network(method("static", ())), network(method("latent_layers"), shape(width=32))):
        with refused("other network"):
            load_weights(other, saved)
