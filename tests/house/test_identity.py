"""What changes no result changes no identity: wishes of a launch, comments, other methods."""

import re
import shutil
from pathlib import Path

import pytest

from fathom.project.load import load
from fathom.provenance.code_hash import METHODS, STARTS, closure
from tests.house.tree import ROOT

LAUNCH = {"device": "cpu", "tokens_per_device": "7", "log_every": "3", "results": "elsewhere"}


def identities(root: Path) -> dict[tuple[str, str], str]:
    """Return the identity of every run at every scale."""
    catalog = load(root, check=False)
    return {
        (run, scale): catalog.spec(run, scale).identity
        for run in catalog.paper_of
        for scale in catalog.scales
    }


@pytest.fixture(scope="module")
def before() -> dict[tuple[str, str], str]:
    return identities(ROOT)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "workflow" / "schemas", tmp_path / "workflow" / "schemas")
    return tmp_path


def replaced(path: Path, key: str, value: str) -> None:
    """Give the first line of a YAML file that has the key another value."""
    text = path.read_text(encoding="utf-8")
    pattern = rf"^(\s*(?:.*[{{ ])?){key}: [^,}}\n]*"
    text, times = re.subn(pattern, rf"\g<1>{key}: {value}", text, count=1, flags=re.MULTILINE)
    assert times, f"{path}: no key '{key}'"
    path.write_text(text, encoding="utf-8")


def test_wishes_of_a_launch_are_outside_the_identity(config, before):
    for key, value in LAUNCH.items():
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


@pytest.fixture
def package(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "lib" / "fathom", tmp_path / "fathom")
    return tmp_path / "fathom"


def code(package: Path, method: str) -> dict[str, str]:
    """Return the code hash of each stage of a run with a method."""
    return {
        stage: closure((*starts, f"{METHODS}.{method}"), package).hash
        for stage, starts in STARTS.items()
    }


def methods() -> list[str]:
    """Return the names of all methods."""
    return sorted(path.stem for path in (ROOT / "config" / "methods").glob("*.yaml"))


def test_a_comment_in_any_file_changes_no_code_hash(package):
    before = code(package, methods()[0])
    for path in package.rglob("*.py"):
        path.write_text(f"{path.read_text(encoding='utf-8')}\n# A comment.\n", encoding="utf-8")
    assert code(package, methods()[0]) == before


def test_a_method_changes_the_code_hash_of_its_own_runs_only(package):
    one, other = methods()[:2]
    before = {name: code(package, name) for name in (one, other)}
    path = package / "methods" / f"{other}.py"
    path.write_text(f"{path.read_text(encoding='utf-8')}\nADDED = 1\n", encoding="utf-8")
    assert code(package, one) == before[one]
    assert code(package, other)["training"] != before[other]["training"]
