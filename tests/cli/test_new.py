"""`fathom new`: a study to begin with, and what is refused."""

import pytest

from fathom.cli.verbs import PROJECT_VARIABLE
from fathom.config.load import load
from fathom.config.yaml_values import from_plain
from tests.config.conftest import PROJECT
from tests.support.refused import says


@pytest.fixture
def new(call, tmp_path, monkeypatch):
    """A function that begins a study in an empty folder, with the project of tests/fixtures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PROJECT_VARIABLE, str(PROJECT))
    return lambda *words: call("new", *words)


def test_a_new_study_is_valid_and_compares_the_runs_that_are_named(new, tmp_path):
    answer = new("mine", "--like", "uneven", "--like", "deep/gated", "--data", "pair")
    assert answer.code == 0, answer
    assert "snakemake mine --config papers=mine" in answer.err
    layer = from_plain({"papers": [str(tmp_path / "mine")]}, "--config")
    project = load(PROJECT, layers=[layer])
    table = project.papers["mine"].tables["table1"]
    rows = {cell.row: cell.source for cell in project.cells(table)}
    assert rows == {"uneven": "mine/uneven", "gated": "mine/gated"}
    assert (table.settings.against, project.run("mine/gated").data.dataset) == ("uneven", "pair")


def test_without_a_run_it_has_the_one_that_the_scale_watches(new, tmp_path):
    assert new("mine").code == 0
    assert "static: {like: deep/static}" in (tmp_path / "mine" / "study.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("there",), says("the folder is there already", where="there")),
        (("deep",), says("the name 'deep' is taken by config/papers/deep")),
        (("My-Study",), says("a name has at most 64 small letters")),
        (("mine", "--like", "unevn"), says("no run 'unevn'", nearest="uneven")),
        (("mine", "--data", "piar"), says("no data set 'piar'", where="--data", nearest="pair")),
    ],
)
def test_nothing_is_overwritten_and_a_wrong_name_is_one_line(new, tmp_path, words, message):
    (tmp_path / "there").mkdir()
    message.check(new(*words).one_line)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
