"""One list of versions: the locks, the conda file and the environment itself follow from it."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from envs.lock import FAIRSEQ, TORCH, canonical, conda_file, header, pins, post_deploy

ROOT = Path(__file__).resolve().parents[2]
ENVS = ROOT / "envs"
LOCKS = ("torch.lock", "requirements.lock", "fairseq.lock")
# Listed though nothing imports them: builders, commands, plugins, and what pandas writes with.
COMMANDS = {"setuptools", "wheel", "snakemake", "pyright", "pytest-xdist", "ruff", "snakefmt"}
COMMANDS |= {"snakemake-executor-plugin-cluster-generic", "snakemake-executor-plugin-slurm"}
COMMANDS |= {"tabulate"}
DERIVED = {"fathom.yaml": conda_file, "fathom.post-deploy.sh": post_deploy}


def text(name: str) -> str:
    """Return the content of a file of envs/."""
    return (ENVS / name).read_text(encoding="utf-8")


def project() -> dict:
    """Return what pyproject.toml says of the project."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def versions() -> str:
    return text("versions.txt")


@pytest.fixture
def locks() -> dict[str, str]:
    return {name: text(name) for name in LOCKS}


def exact(line: str) -> str:
    """Return a pin without extras, as locks have it."""
    return re.sub(r"\[.*\]", "", line)


@pytest.mark.parametrize("name", [*LOCKS, *DERIVED])
def test_each_generated_file_follows_from_the_list_as_it_is(versions, name):
    assert header(versions) in text(name), f"envs/{name} is older than the list; run make lock"


@pytest.mark.parametrize(("name", "made"), DERIVED.items())
def test_the_conda_files_follow_from_the_locks(versions, locks, name, made):
    assert text(name) == made(versions, locks), f"envs/{name} is stale; run make lock"


def test_every_listed_version_stands_in_exactly_one_lock(versions, locks):
    for name, line in pins(versions).items():
        found = [pins(lock)[name] for lock in locks.values() if name in pins(lock)]
        assert found == [exact(line)]


def test_locks_hold_exact_versions_and_share_no_package(locks):
    names = [name for lock in locks.values() for name in pins(lock)]
    assert len(names) == len(set(names))
    for lock in locks.values():
        for line in pins(lock).values():
            assert re.fullmatch(r"[\w.-]+==[\w.]+", line)


def test_the_other_packages_bring_neither_torch_nor_what_comes_with_it(locks):
    others = set(pins(locks["requirements.lock"]))
    assert not {name for name in others if re.match(r"torch|nvidia|cuda|triton", name)}
    assert set(pins(locks["fairseq.lock"])) == {FAIRSEQ}
    assert TORCH in pins(locks["torch.lock"])


def test_the_conda_file_holds_the_pins_and_the_tried_python(locks):
    conda = yaml.safe_load(text("fathom.yaml"))
    python, _, pip = conda["dependencies"]
    both = pins(locks["torch.lock"]) | pins(locks["requirements.lock"])
    assert set(pip["pip"]) == set(both.values())
    assert project()["requires-python"].startswith(f">={python.removeprefix('python=')},")


def test_the_environment_is_what_the_locks_say(locks):
    wanted = {
        name: line.split("==")[1] for lock in locks.values() for name, line in pins(lock).items()
    }
    found = {name: version(name).split("+")[0] for name in wanted}
    assert found == wanted, "run make environment"


@pytest.mark.slow
def test_pip_misses_torchaudio_and_nothing_else():
    command = [sys.executable, "-m", "pip", "check", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fairseq = pins(text("fairseq.lock"))[FAIRSEQ].replace("==", " ")
    assert done.stdout.strip() == f"{fairseq} requires torchaudio, which is not installed."


def test_fairseq_is_installed_without_compiled_parts():
    [folder] = find_spec("fairseq").submodule_search_locations
    assert not list(Path(folder).rglob("*.so"))


def imported(*folders: str) -> dict[str, set[str]]:
    """Return the packages that provide each imported module, by `file:line: module`."""
    providers, places = packages_distributions(), {}
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for module in {module.split(".")[0] for module in modules}:
                packages = {canonical(package) for package in providers.get(module, [])}
                places[f"{path.relative_to(ROOT)}:{node.lineno}: {module}"] = packages - {"fathom"}
    return places


@pytest.mark.slow
def test_every_package_that_the_library_imports_is_listed(versions):
    listed = set(pins(versions))
    unlisted = {
        place for place, packages in imported("lib").items() if packages and not packages & listed
    }
    assert not unlisted, "add them to envs/versions.txt and run make lock"


@pytest.mark.slow
def test_every_listed_package_is_imported_or_a_command(versions):
    used = set().union(*imported("lib", "tests").values())
    assert set(pins(versions)) - used == COMMANDS, "delete the others, and run make lock"


def test_the_project_says_one_version_everywhere():
    said = project()["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == said
    assert f"## [{said}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_list_reads_without_comments_extras_and_hashes():
    assert pins("# torch==1\nsacrebleu[ko]==2.6.0\nA_b==1 --hash=sha256:0\n") == {
        "sacrebleu": "sacrebleu[ko]==2.6.0",
        "a-b": "A_b==1",
    }


def test_another_pin_changes_the_header_and_a_comment_does_not(versions):
    assert header(versions) == header(f"# A comment.\n{versions}")
    assert header(versions) != header(versions.replace("numpy==", "numpy==9"))
