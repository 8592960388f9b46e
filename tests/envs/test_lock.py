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
from packaging.requirements import Requirement

from envs.lock import (
    CUDA,
    FAIRSEQ,
    LOCKS,
    SOURCE,
    TORCH,
    USABLE,
    canonical,
    conda_file,
    hashes,
    header,
    list_of,
    lists,
    locked,
    pins,
    post_deploy,
)

ROOT = Path(__file__).resolve().parents[2]
ENVS = ROOT / "envs"
# Listed though nothing imports them: builders, commands, plugins, and what pandas writes with.
COMMANDS = {"setuptools", "wheel", "pyright", "pytest-xdist", "ruff", "snakefmt"}
# Locks of CUDA alone, and of environments beside .venv.
ELSEWHERE = ("cuda.lock", "docs.lock", "slurm_official.lock")
DERIVED = {"fathom.yaml": conda_file, "fathom.post-deploy.sh": post_deploy}
LISTS = lists()


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


@pytest.mark.parametrize("name", [*LISTS, *DERIVED])
def test_each_generated_file_follows_from_its_list_and_names_no_index(versions, locks, name):
    first = header(LISTS.get(name, versions), list_of(name) if name in LISTS else "versions.txt")
    assert first in text(name), f"envs/{name} is older than its list; run make lock"
    assert "//" not in text(name).replace("#!/", ""), "an index is the user's choice"
    if name in DERIVED:
        assert text(name) == DERIVED[name](versions, locks), f"envs/{name} is stale; run make lock"


def test_every_listed_version_stands_in_exactly_one_lock(versions, locks):
    for name, line in pins(versions).items():
        found = [pins(lock)[name] for lock in locks.values() if name in pins(lock)]
        assert found == [exact(line)]


def test_an_optional_lock_adds_its_list_to_the_environment(locks):
    for name, listed in LISTS.items():
        if name not in LOCKS:
            added = pins(text(name))
            assert {exact(line) for line in pins(listed).values()} <= set(added.values())
            assert not set(added) & {package for lock in locks.values() for package in pins(lock)}


def test_locks_hold_exact_versions_and_share_no_package(locks):
    names = [name for lock in locks.values() for name in pins(lock)]
    assert len(names) == len(set(names))
    for lock in locks.values():
        for line in pins(lock).values():
            assert re.fullmatch(r"[\w.-]+==[\w.]+", line)


@pytest.mark.parametrize("name", LISTS)
def test_every_requirement_has_the_hashes_of_its_files(name):
    """Without them pip installs what an index has under a name."""
    lock = text(name)
    found = hashes(lock)
    assert list(found) == list(pins(lock))
    for package, digests in found.items():
        assert digests, package
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert lock == header(LISTS[name], list_of(name)) + locked(pins(lock).values(), found)


def test_pip_is_asked_for_hashes_wherever_a_lock_is_installed():
    """Also by the script for conda, which has the locks' own source of fairseq."""
    commands = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ").split("\n")
    commands = [line.replace("$(LOCKED)", "--require-hashes") for line in commands]
    commands += text("fathom.post-deploy.sh").split("\n")
    installing = [line for line in commands if re.search(r"-r (envs|\.venv)/\w+\.lock", line)]
    named = {Path(lock).name for line in installing for lock in re.findall(r"-r (\S+)", line)}
    assert named == {lock.name for lock in (ROOT / "envs").glob("*.lock")}
    assert not [line for line in installing if "--require-hashes" not in line]


WHEELS = {
    "numpy-2.4.6-cp311-cp311-win32.whl": True,
    "a-1-py2.py3-none-any.whl": True,
    "a-1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl": True,
    "a-1-cp39-abi3-macosx_11_0_arm64.whl": True,
    "a-1-cp310-abi3-macosx_11_0_arm64.whl": True,
    "a-1-cp310.cp311-none-any.whl": True,
    "a-1.tar.gz": True,
    "numpy-2.4.6-cp312-cp312-win32.whl": False,
    "a-1-cp312-abi3-win32.whl": False,
    "a-1-cp314-cp314t-win32.whl": False,
    "a-1-pp311-pypy311_pp73-win_amd64.whl": False,
}


@pytest.mark.parametrize(("name", "usable"), WHEELS.items())
def test_a_file_is_kept_if_this_python_can_use_it(name, usable):
    assert bool(USABLE.search(f"x/{name}")) is usable
    assert bool(SOURCE.search(name)) is name.endswith(".gz")


def test_torch_its_packages_and_fairseq_have_locks_of_their_own(locks):
    """A build of torch without CUDA gets none of its packages; fairseq comes as Python alone."""
    others = set(pins(locks["requirements.lock"]))
    assert not {name for name in others if re.match(r"torch|nvidia|cuda|triton", name)}
    assert TORCH in pins(locks["torch.lock"])
    assert "nvidia-nccl-cu13" in pins(locks["cuda.lock"])
    assert all(CUDA.match(name) for name in pins(locks["cuda.lock"]))
    assert set(pins(locks["fairseq.lock"])) == {FAIRSEQ}
    [folder] = find_spec("fairseq").submodule_search_locations
    assert not list(Path(folder).rglob("*.so"))


def test_the_environment_is_what_the_locks_say():
    wanted = {
        name: line.split("==")[1]
        for lock in (text(name) for name in LISTS if name not in ELSEWHERE)
        for name, line in pins(lock).items()
    }
    found = {name: version(name).split("+")[0] for name in wanted}
    assert found == wanted, "run make environment ctranslate2 transformers"


@pytest.mark.slow
def test_pip_misses_torchaudio_and_nothing_else():
    command = [sys.executable, "-m", "pip", "check", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fairseq = pins(text("fairseq.lock"))[FAIRSEQ].replace("==", " ")
    assert done.stdout.strip() == f"{fairseq} requires torchaudio, which is not installed."


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
def test_every_package_that_the_library_imports_is_listed():
    listed = {package for name in LISTS.values() for package in pins(name)}
    unlisted = {
        place for place, packages in imported("lib").items() if packages and not packages & listed
    }
    assert not unlisted, "add them to envs/versions.txt and run make lock"


@pytest.mark.slow
def test_every_listed_package_is_imported_or_a_command(versions):
    used = set().union(*imported("lib", "tests").values())
    assert set(pins(versions)) - used == COMMANDS, "delete the others, and run make lock"


def ranges(lines: list[str]) -> dict[str, Requirement]:
    """Return requirements by their package's canonical name."""
    return {canonical(one.name): one for one in map(Requirement, lines)}


def test_the_locked_versions_are_within_the_ranges_of_the_package():
    """`pip install .` takes ranges, and what is tested is one version of each."""
    extras = project()["optional-dependencies"]
    optional = [line for lines in extras.values() for line in lines]
    listed = {name: line for one in LISTS.values() for name, line in pins(one).items()}
    asked = ranges([*project()["dependencies"], *optional])
    assert {*asked} == {*listed} - {"setuptools", "wheel"}
    for name, requirement in asked.items():
        assert requirement.specifier.contains(listed[name].split("==")[1]), name
        assert "==" not in str(requirement.specifier), f"{name}: a pin belongs to envs/"


@pytest.mark.slow
def test_the_package_asks_for_what_it_imports_and_leaves_tools_to_those_who_develop():
    optional = project()["optional-dependencies"]
    used = set().union(*imported("lib/fathom").values())
    names = ("ctranslate2", "transformers")
    extras = {package for name in names for package in ranges(optional[name])}
    assert used - {*ranges(project()["dependencies"])} == extras
    assert not used & {*ranges(optional["dev"]), *ranges(optional["workflow"])}


def test_the_project_has_one_version_everywhere():
    own = project()["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == own
    assert f"## [{own}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
