"""The lists of envs/ and their locks, the package's ranges and the environment itself agree."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires, version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.support.locks import ENVS, ROOT, locked, pythons, requirements, text

# Listed though nothing imports them: builders, commands, plugins, and what pandas writes with.
COMMANDS = {"setuptools", "wheel", "pyright", "pytest-xdist", "ruff", "snakefmt"}
LISTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(ENVS.glob("*.txt"))}
LOCKS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(ENVS.glob("*.lock"))}
# The lock of another build of torch, from the same list.
BUILD = "torch_build"
CUDA = re.compile(r"(nvidia|cuda)-|triton$")


def project() -> dict:
    """Return what pyproject.toml says of the project."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(lines: list[Requirement]) -> set[str]:
    """Return the packages' canonical names."""
    return {canonicalize_name(line.name) for line in lines}


def listed() -> dict[str, str]:
    """Return the version of each package in the lists."""
    lines = [line for content in LISTS.values() for line in requirements(content)]
    return {canonicalize_name(line.name): str(line.specifier)[2:] for line in lines}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_the_versions_of_its_list_and_names_no_index(name):
    own = requirements(LISTS[name.removesuffix("_build")])
    pinned = locked(LOCKS[name])
    for line in own:
        assert line.specifier.contains(pinned[canonicalize_name(line.name)]), "run make lock"
    # uv says below each package who asked for it.
    asked = re.findall(r"^([\w.-]+)==(?:.*\\\n)*.*\n    # via .*-r ", LOCKS[name], re.MULTILINE)
    assert set(asked) == names(own), "run make lock"
    assert "//" not in LOCKS[name], "an index is the user's choice"


def test_every_list_has_a_lock():
    assert {*LOCKS} - {BUILD} == {*LISTS}


def test_locks_agree_on_the_version_of_a_package():
    """In whichever order they are installed, the last one changes nothing."""
    found = {}
    for content in LOCKS.values():
        for name, pinned in locked(content).items():
            found.setdefault(name, set()).add(pinned.split("+")[0])
    assert not {name: versions for name, versions in found.items() if len(versions) > 1}


@pytest.mark.parametrize("name", LOCKS)
def test_every_python_gets_the_same_versions(name):
    """So that no number moves with Python."""
    first, *others = (locked(LOCKS[name], python) for python in pythons())
    assert first
    assert all(other == first for other in others)


def test_the_pythons_are_those_that_pip_takes():
    """The Makefile, its check of the machine and the locks have them of the classifiers."""
    supported = SpecifierSet(project()["requires-python"])
    minors = [f"3.{minor}" for minor in range(8, 20)]
    assert [minor for minor in minors if supported.contains(f"{minor}.9")] == pythons()


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_has_the_hashes_of_its_files(name):
    """Without them pip installs what an index has under a name."""
    entries = re.findall(r"^[\w.-]+==.*(?:\n +--hash.*)*", LOCKS[name], re.MULTILINE)
    assert len(entries) == len(requirements(LOCKS[name]))
    for entry in entries:
        pin, *digests = entry.split(" \\\n")
        assert re.match(r"[\w.-]+==[\w.+]+( ;|$)", pin)
        assert digests, pin
        assert all(re.fullmatch(" *--hash=sha256:[0-9a-f]{64}", digest) for digest in digests)


def test_pip_is_asked_for_hashes_wherever_a_lock_is_installed():
    """Also by the script for conda."""
    commands = text("Makefile").replace("\\\n", " ")
    [options] = re.findall("^LOCKED := (.*)$", commands, re.MULTILINE)
    commands = commands.replace("$(LOCKED)", options)
    script = text("envs/fathom.post-deploy.sh")
    [words] = re.findall('^locked="(.*)"$', script, re.MULTILINE)
    lines = (commands + script.replace("$locked", words)).split("\n")
    chosen = r"\$\$\(cat \.venv/torch\)|\$torch"
    installing = [line for line in lines if re.search(rf'-r (envs/\w+\.lock|"({chosen})")', line)]
    named = {name for line in installing for name in re.findall(r"-r envs/(\w+)\.lock", line)}
    assert named == {*LOCKS} - {"torch", BUILD}
    assert len([line for line in installing if re.search(chosen, line)]) == 2
    assert not [line for line in installing if "--require-hashes" not in line]


def test_snakemake_makes_another_conda_environment_where_a_lock_changed():
    """It compares the yaml file and the script beside it, and reads nothing else."""
    [files] = re.findall("^LOCKS := (.*)$", text("Makefile"), re.MULTILINE)
    content = b"".join((ROOT / file).read_bytes() for file in files.split())
    summed = subprocess.run(["cksum"], input=content, capture_output=True, check=True)
    assert f"# Locks: {summed.stdout.decode().strip()}\n" in text("envs/fathom.post-deploy.sh")


def test_torch_its_packages_and_fairseq_have_locks_of_their_own():
    """A build of torch without CUDA gets none of its packages; fairseq comes as Python alone."""
    assert any(CUDA.match(name) for name in locked(LOCKS["torch"], system="linux"))
    for name in {*LOCKS} - {"torch"}:
        assert not [package for package in locked(LOCKS[name]) if CUDA.match(package)], name
    assert {name for name in LOCKS if "torch" in locked(LOCKS[name])} == {"torch", BUILD}
    assert set(locked(LOCKS["fairseq"])) == {"fairseq-fixed"}
    [folder] = find_spec("fairseq").submodule_search_locations
    assert not list(Path(folder).rglob("*.so"))


def test_the_environment_is_what_the_locks_say():
    torch = BUILD if "+" in version("torch") else "torch"
    for name in {*LOCKS} - {"torch", BUILD, "docs", "slurm_official"} | {torch}:
        wanted = locked(LOCKS[name])
        found = {package: version(package) for package in wanted}
        assert found == wanted, "run make environment ctranslate2 transformers"


@pytest.mark.slow
def test_pip_misses_torchaudio_and_nothing_else():
    command = [sys.executable, "-m", "pip", "check", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    fairseq = f"fairseq-fixed {listed()['fairseq-fixed']}"
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
                packages = {canonicalize_name(package) for package in providers.get(module, [])}
                places[f"{path.relative_to(ROOT)}:{node.lineno}: {module}"] = packages - {"fathom"}
    return places


@pytest.mark.slow
def test_every_package_that_the_library_imports_is_listed():
    known = {*listed()}
    unlisted = {
        place for place, packages in imported("lib").items() if packages and not packages & known
    }
    assert not unlisted, "add them to envs/requirements.txt and run make lock"


@pytest.mark.slow
def test_every_listed_package_is_imported_or_a_command_or_one_that_fairseq_asks_for():
    environment = {name for lock in ("torch", "requirements") for name in locked(LOCKS[lock])}
    used = set().union(*imported("lib", "tests").values()) | fairseq_asks_for()
    assert ({*listed()} & environment) - used == COMMANDS, "delete the others, and run make lock"


def fairseq_asks_for() -> set[str]:
    """Return the packages that fairseq names, without those of its extras."""
    lines = [Requirement(line) for line in requires("fairseq-fixed")]
    return names([line for line in lines if not line.marker])


def ranges(lines: list[str]) -> dict[str, Requirement]:
    """Return requirements by their package's canonical name."""
    return {canonicalize_name(one.name): one for one in map(Requirement, lines)}


def test_the_locked_versions_are_within_the_ranges_of_the_package():
    """`pip install .` takes ranges, and what is tested is one version of each."""
    extras = project()["optional-dependencies"]
    optional = [line for lines in extras.values() for line in lines]
    asked = ranges([*project()["dependencies"], *optional])
    assert {*asked} <= {*listed()}
    assert {*listed()} - {*asked} <= {"setuptools", "wheel"} | fairseq_asks_for()
    for name, requirement in asked.items():
        assert requirement.specifier.contains(listed()[name]), name
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
