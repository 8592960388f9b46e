import pytest

from fathom.io.files import write_json
from fathom.results.recipe import RECIPE
from fathom.train.state import delete_stale


@pytest.fixture
def folder(tmp_path):
    """A finished run's folder."""
    for name in ("checkpoints/last.pt", "decodings/a/fra.txt", "training.json", "train.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("older", "left"), [(1, {"train.log"}), (0, None)])
def test_a_training_of_an_older_recipe_leaves_only_its_log(folder, older, left):
    recipe = RECIPE["training"]
    attempts = [{"recipe": recipe}, {"recipe": recipe - older}]
    write_json(folder / "attempts.json", {"attempts": attempts})
    before = names(folder)
    lines = []
    delete_stale(folder, lines.append)
    assert {name for name in names(folder) if not name.startswith("lock")} == (left or before)
    assert len(lines) == older


def test_a_run_that_never_began_is_left_alone(tmp_path):
    delete_stale(tmp_path / "run", print)
    assert not (tmp_path / "run").exists()


def test_a_damaged_list_of_attempts_makes_no_training_stale(folder):
    (folder / "attempts.json").write_text("{}", encoding="utf-8")
    before = names(folder)
    delete_stale(folder, print)
    assert names(folder) == before
