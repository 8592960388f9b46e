"""The executor by itself: a package that other workflows install, without this project."""

import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from dataclasses import fields
from pathlib import Path

import pytest

from snakemake_executor_plugin_slurm_attach.request import ExecutorSettings
from tests.house.tree import imported, sources

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "snakemake_executor_plugin_slurm_attach"
HOME = ROOT / "lib" / PACKAGE
README = (HOME / "README.md").read_text(encoding="utf-8")
SAID = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-deps", "--no-index")


def run(*words, folder):
    """Run a command in an isolated Python; return what it printed."""
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the folder, built without a network from a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    skipped = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    shutil.copytree(HOME, folder / "copy", ignore=skipped)
    words = ("wheel", *OFFLINE, "--no-build-isolation", "./copy")
    run(*PIP, *words, folder=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_has_the_modules_the_licence_and_nothing_else(wheel):
    names = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert sorted(names) == sorted(f"{PACKAGE}/{path.name}" for path in HOME.glob("*.py"))
    with zipfile.ZipFile(wheel) as built:
        (licence,) = [name for name in built.namelist() if name.endswith("LICENSE")]
        assert built.read(licence) == (ROOT / "LICENSE").read_bytes()


@pytest.mark.slow
def test_snakemake_lists_it_where_it_is_installed_without_this_project(wheel, tmp_path):
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    # Snakemake is that of the environment of this test, and nothing else of this clone is there.
    (packages,) = environment.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "others.pth").write_text("\n".join(others), encoding="utf-8")
    words = ("--python", str(python), "install", *OFFLINE, "--ignore-installed", str(wheel))
    run(*PIP, *words, folder=tmp_path)
    isolated = (str(python), "-I", "-m")
    printed = run(*isolated, "snakemake", "--help", folder=tmp_path)
    assert "slurm-attach" in re.findall(r"--executor.*?\{(.*?)\}", printed, re.DOTALL)[0]
    assert "--slurm-attach-gpu-partition VALUE" in printed
    loaded = "import sys, snakemake_executor_plugin_slurm_attach as it; print(it.__file__)"
    place = run(*isolated[:2], "-c", f"{loaded}; assert 'fathom' not in sys.modules", folder="/")
    assert Path(place.strip()).is_relative_to(environment)


def test_it_asks_for_the_packages_that_it_imports_and_no_others():
    taken = {name.split(".")[0] for each in sources(ROOT, HOME) for _, name in imported(each)}
    others = taken - sys.stdlib_module_names - {PACKAGE}
    asked = {re.match(r"[\w-]+", line)[0].replace("-", "_") for line in SAID["dependencies"]}
    assert others == asked


def test_the_page_about_it_names_each_setting_with_its_default():
    table = README.partition("## Settings\n")[2].partition("\n## ")[0]
    defaults = {}
    for names, default in re.findall(r"^\| (`.*?) \|.*\| (.*?) \|$", table, re.MULTILINE):
        of_each = default.split(", ") if re.fullmatch(r"[\d, ]+", default) else [default] * 9
        defaults |= dict(zip(re.findall("`(.*?)`", names), of_each, strict=False))
    settings = {each.name.replace("_", "-"): each.default for each in fields(ExecutorSettings)}
    assert defaults.keys() == settings.keys()
    wrong = [name for name, value in settings.items() if value and str(value) not in defaults[name]]
    assert wrong == []
