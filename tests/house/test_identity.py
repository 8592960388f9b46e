"""What changes no result changes no identity: switches of a start, how a run is decoded."""

import re
import shutil
from pathlib import Path

import pytest

from fathom.project.load import load
from tests.house.tree import ROOT

SWITCHES = {"device": "cpu", "tokens_per_device": "7", "log_every": "3", "results": "elsewhere"}


def identities(root: Path) -> dict[tuple[str, str], str]:
    """Return the identity of every run at every scale."""
    project = load(root, check=False)
    return {
        (run, scale): project.spec(run, scale).identity
        for run in project.entries
        for scale in project.scales
    }


@pytest.fixture(scope="module")
def before() -> dict[tuple[str, str], str]:
    return identities(ROOT)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


def replaced(path: Path, key: str, value: str) -> None:
    """Give the first line of a YAML file that has the key another value."""
    text = path.read_text(encoding="utf-8")
    pattern = rf"^(\s*(?:.*[{{ ])?){key}: [^,}}\n]*"
    text, times = re.subn(pattern, rf"\g<1>{key}: {value}", text, count=1, flags=re.MULTILINE)
    assert times, f"{path}: no key '{key}'"
    path.write_text(text, encoding="utf-8")


def test_switches_are_outside_the_identity(config, before):
    for key, value in SWITCHES.items():
        replaced(config / "config" / "config.yaml", key, value)
    assert identities(config) == before


def test_a_decoding_setting_is_outside_the_identity(config, before):
    for path in config.glob("config/papers/*/runs.yaml"):
        replaced(path, "beam", "7")
    assert identities(config) == before


def test_a_training_setting_is_inside_the_identity(config, before):
    for path in config.glob("config/papers/*/runs.yaml"):
        replaced(path, "label_smoothing", "0.123")
    after = identities(config)
    assert all(after[run] != before[run] for run in before)
