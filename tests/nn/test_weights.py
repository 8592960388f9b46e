"""Checkpoints: what is read and refused, and the mean of saved weights."""

import pickle
import shutil

import pytest
import torch

from fathom.io.files import sha256
from fathom.io.records import hashes
from fathom.io.seals import sealed
from fathom.nn.weights import (
    LAST,
    final_weights,
    load_weights,
    mean_of_last,
    read_checkpoint,
    saved_weights,
    weights_path,
    write_checkpoint,
)
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


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -64, -65, -100])
def test_a_file_that_is_cut_off_is_refused(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with refused(
        "without the checksum at its end",
        where="last.pt",
        remedy="fathom train paper/small-12345678 --seed 2",
    ):
        read_checkpoint(saved)


def test_another_file_than_the_recorded_one_is_refused(saved):
    right = sha256(saved)
    assert read_checkpoint(saved, right)["update"] == 3
    write_checkpoint(saved, {"update": 4})
    with refused("not the file that was recorded", where="last.pt"):
        read_checkpoint(saved, right)


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
    with refused(
        "it holds code" if seals else "without the checksum", remedy="fathom train"
    ) as caught:
        read_checkpoint(saved)
    assert "weights_only" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "this must not run" not in capsys.readouterr().out


def test_what_is_not_a_checkpoint_of_the_network_is_told(saved, tmp_path):
    for other in (network(method("static", ())), network(method("latent_layers"), shape(width=32))):
        with refused("the weights of another network ("):
            load_weights(other, saved)
    with refused("no such file"):
        read_checkpoint(tmp_path / "last.pt")
    write_checkpoint(saved, {"update": 3})
    with refused("the file has no weights"):
        load_weights(network(method("static", ())), saved)
    with sealed(saved) as stream:
        torch.save([1, 2], stream)
    with refused("not a checkpoint"):
        read_checkpoint(saved)


def write(folder, update, weights):
    write_checkpoint(weights_path(folder, update), {"update": update, "model": weights})


def mean(folder, count):
    """Return the mean of the last weights of a folder whose files are as they were recorded."""
    return mean_of_last(folder, hashes(folder, "*.pt"), count)


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_files_are_in_the_order_of_their_updates_and_others_are_none(tmp_path):
    for name in ("update_9.pt", "update_10.pt", "last.pt", "update_x.pt", ".update_11.pt.7.part"):
        (tmp_path / name).touch()
    (tmp_path / "update_12.pt.damaged").touch()
    assert saved_weights(tmp_path) == {9: tmp_path / "update_9.pt", 10: tmp_path / "update_10.pt"}
    assert list(saved_weights(tmp_path)) == [9, 10]
    assert saved_weights(tmp_path / "absent") == {}


def test_the_mean_is_of_the_last_by_number_and_not_by_name(tmp_path):
    for update, value in ((2, 100.0), (9, 1.0), (10, 2.0), (11, 6.0)):
        write(tmp_path, update, {"a": torch.tensor([value, -value])})
    weights, updates = mean(tmp_path, 3)
    assert updates == (9, 10, 11)
    assert torch.equal(weights["a"], torch.tensor([3.0, -3.0]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_mean_of_one_is_that_one_to_the_bit(tmp_path, dtype):
    weights = {
        "a": torch.randn(50, 7).to(dtype),
        "tiny": torch.tensor([1e-40, -0.0, 3e38]).to(dtype),
    }
    write(tmp_path, 1, {"a": torch.zeros(50, 7, dtype=dtype), "tiny": torch.zeros(3, dtype=dtype)})
    write(tmp_path, 2, weights)
    found, updates = mean(tmp_path, 1)
    assert updates == (2,)
    assert equal(found, weights)
    assert {each.dtype for each in found.values()} == {dtype}
    assert torch.signbit(found["tiny"][1])


def test_sums_are_taken_in_float64(tmp_path):
    # In float32 the sum would be 2^24 three times, and infinite in the second place.
    for update, value in enumerate((2.0**24, 1.0, 1.0), 1):
        write(tmp_path, update, {"a": torch.tensor([value, 3e38])})
    averaged = mean(tmp_path, 3)[0]["a"]
    expected = torch.tensor([(2.0**24 + 2) / 3, 3e38], dtype=torch.float64).float()
    assert torch.equal(averaged, expected)


def test_tensors_that_are_no_floating_point_are_the_last_ones(tmp_path):
    for update in (1, 2):
        weights = {"count": 7 * update, "kept": [update == 1, True], "a": float(update)}
        write(tmp_path, update, {name: torch.tensor(value) for name, value in weights.items()})
    weights, _ = mean(tmp_path, 2)
    assert torch.equal(weights["count"], torch.tensor(14))
    assert torch.equal(weights["kept"], torch.tensor([False, True]))
    assert weights["a"].item() == 1.5


def test_fewer_than_asked_for_are_told_with_how_many_and_where(tmp_path):
    with refused("only 0 saved weights, average_of needs 3"):
        mean(tmp_path, 3)
    for update in (40, 80):
        write(tmp_path, update, {"a": torch.zeros(1)})
    with refused("only 2 saved weights (updates 40, 80), average_of needs") as caught:
        mean(tmp_path, 3)
    assert caught.value.where == str(tmp_path)
    with refused("the mean of 0 checkpoints"):
        mean(tmp_path, 0)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"a": torch.zeros(3)}, "'a' is (3,) float32, before it was (2,) float32"),
        ({"a": torch.zeros(2).double()}, "'a' is (2,) float64, before it was (2,) float32"),
        ({"b": torch.zeros(2)}, "'a' is missing"),
        ({"a": torch.zeros(2), "b": torch.zeros(2)}, "'b' is new"),
    ],
)
def test_weights_of_another_network_are_refused_with_the_tensor(tmp_path, other, said):
    write(tmp_path, 1, {"a": torch.zeros(2)})
    write(tmp_path, 2, other)
    with refused(f"the weights of another network ({said})", where="update_2.pt"):
        mean(tmp_path, 2)


def test_the_last_state_is_taken_where_no_mean_is_asked_for(tmp_path):
    for update in (1, 2):
        write(tmp_path, update, {"a": torch.tensor(float(update))})
    write_checkpoint(tmp_path / LAST, {"model": {"a": torch.tensor(9.0)}, "update": 3})
    for average_of, expected in ((1, 9.0), (2, 1.5)):
        assert final_weights(tmp_path, hashes(tmp_path, "*.pt"), average_of)["a"] == expected


@pytest.mark.parametrize("name", [LAST, "update_2.pt"])
def test_other_weights_than_were_recorded_are_refused(tmp_path, name):
    for path in (tmp_path / LAST, *(weights_path(tmp_path, update) for update in (1, 2))):
        write_checkpoint(path, {"model": {"a": torch.tensor(float(len(path.name)))}})
    recorded = hashes(tmp_path, "*.pt")
    shutil.copy(tmp_path / ("update_1.pt" if name == LAST else LAST), tmp_path / name)
    average_of = 1 if name == LAST else 2
    with refused("not the file that was recorded", where=name):
        final_weights(tmp_path, recorded, average_of)
    del recorded[name]
    with refused("not the file that was recorded" if name == LAST else "only 1 saved weights"):
        final_weights(tmp_path, recorded, average_of)


def test_weights_that_were_not_recorded_are_not_in_the_mean(tmp_path):
    for update in (1, 2):
        write(tmp_path, update, {"a": torch.tensor(float(update))})
    recorded = hashes(tmp_path, "*.pt")
    write(tmp_path, 3, {"a": torch.tensor(99.0)})
    assert mean_of_last(tmp_path, recorded, 2)[0]["a"] == 1.5
