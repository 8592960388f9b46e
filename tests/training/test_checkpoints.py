import pytest
import torch

from fathom.models.saved import read_checkpoint
from fathom.training import checkpoints
from fathom.training.checkpoints import BEFORE, NEWEST, load, save


def test_nothing_is_there_before_the_first(tmp_path):
    assert load(tmp_path, print) is None


def test_the_newest_and_the_one_before_it_are_kept(tmp_path):
    for update in (1, 2, 3):
        save(tmp_path, {"update": update, "model": {"a": torch.ones(2)}})
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([NEWEST, BEFORE])
    assert load(tmp_path, print)["update"] == 3


@pytest.mark.parametrize("damage", ["truncate", "empty", "flip"])
def test_a_damaged_newest_is_set_aside_and_the_one_before_it_taken(tmp_path, damage):
    for update in (1, 2):
        save(tmp_path, {"update": update, "model": {"a": torch.arange(100)}})
    newest = tmp_path / NEWEST
    content = newest.read_bytes()
    newest.write_bytes(
        {"truncate": content[:200], "empty": b"", "flip": b"x" * 50 + content[50:]}[damage]
    )
    said = []
    assert load(tmp_path, said.append)["update"] == 1
    assert "last.damaged" in said[0]
    assert "\n" not in said[0]


def test_another_process_of_the_run_may_have_set_the_damaged_file_aside(tmp_path, monkeypatch):
    for update in (1, 2):
        save(tmp_path, {"update": update})

    def read_late(path):
        if path.name == NEWEST:
            path.rename(path.with_suffix(".damaged"))
        return read_checkpoint(path)

    monkeypatch.setattr(checkpoints, "read_checkpoint", read_late)
    assert load(tmp_path, lambda line: None)["update"] == 1


def test_a_checkpoint_with_code_in_it_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("ran",)

    torch.save({"model": Evil()}, tmp_path / NEWEST)
    assert load(tmp_path, lambda line: None) is None
