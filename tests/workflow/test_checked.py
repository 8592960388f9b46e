"""A start checks all of config/ once for each state of it."""

import shutil

import pytest

from fathom.config.yaml_files import YamlFile
from fathom.io.errors import Findings
from fathom.workflow import checked, setup
from tests.support.specs import ROOT


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


def switches(**values):
    return [YamlFile("--config", values, {})]


def test_a_state_is_known_after_it_was_remembered(project):
    state = checked.state(project, switches())
    assert not checked.is_checked(state, project)
    checked.remember(state, project)
    assert checked.is_checked(state, project)


@pytest.mark.parametrize("name", ["config/columns.yaml", "config/papers/lamgd/reported/table2.csv"])
def test_an_edited_file_is_another_state(project, name):
    before = checked.state(project, switches())
    path = project / name
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert checked.state(project, switches()) != before


def test_other_switches_are_another_state(project):
    states = {checked.state(project, switches(scale=scale)) for scale in ("tiny", "paper")}
    assert len(states) == 2


@pytest.mark.slow
def test_a_fault_is_found_after_a_start_that_found_none(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setattr(setup, "set_environment", lambda *_: None)
    setup.begin(project, {}, head=True)
    runs = project / "config/papers/latent_depth/runs.yaml"
    text = runs.read_text(encoding="utf-8")
    runs.write_text(
        text.replace(
            "layers: 12/48, seeds: 5, method: {target_depth: 24}",
            "layers: 12/48, seeds: 5, method: {target_depth: 99}",
        ),
        "utf-8",
    )
    for _ in range(2):
        with pytest.raises(Findings):
            setup.begin(project, {}, head=True)


def test_a_damaged_marker_counts_as_no_check(project):
    checked.remember("0" * 64, project)
    (project / checked.MARKER).write_bytes(b"\xff\xfe")
    assert not checked.is_checked("0" * 64, project)
