"""What is installed outside of a clone: the wheel, and one file for a machine without a network."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from envs import bundle
from tests.support.refused import says

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "lib", "config")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


def run(*words, **options):
    """Run a command without the clone's library on Python's path; return what it printed."""
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ended = subprocess.run(words, env=own, capture_output=True, text=True, check=False, **options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the clone, built without a network from a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        options = {"symlinks": True, "ignore": shutil.ignore_patterns("__pycache__", "*.egg-info")}
        copy(ROOT / name, folder / name, **(options if (ROOT / name).is_dir() else {}))
    run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", ".", cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def fathom(wheel, tmp_path_factory):
    """A function that calls the installed command in an empty folder, which it returns last."""
    environment, folder = tmp_path_factory.mktemp("venv"), tmp_path_factory.mktemp("empty")
    venv.create(environment, with_pip=False, symlinks=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(environment)})
    # The packages that fathom imports are those of the environment of this test.
    Path(packages, "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = environment / "bin" / "python"
    install = ("install", "--no-deps", "--no-index", "--ignore-installed", str(wheel))
    run(*PIP, "--python", str(python), *install)

    def call(*words):
        return run(str(environment / "bin" / "fathom"), *words, cwd=folder), folder

    return call


@pytest.mark.slow
def test_the_wheel_has_all_of_config_and_no_test(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {path.relative_to(ROOT) for path in (ROOT / "config").rglob("*") if path.is_file()}
    assert {f"fathom/packaged/{path.as_posix()}" for path in wanted} <= names
    assert "fathom/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "config/"))]


@pytest.mark.slow
def test_the_installed_command_reads_the_config_of_the_wheel(fathom):
    assert fathom("--version")[0].count(".") == 2
    says("config/ is valid").check(fathom("validate")[0])
    assert "latent_depth_table5" in fathom("list")[0]
    shown, _ = fathom("show", "m2o_diverse_12_12")
    assert "config/papers/latent_depth/runs.yaml:" in shown
    counts, _ = fathom("params", "--table", "latent_depth_table1")
    assert "latent_depth  table1  DLCL, 48/48, params" in counts
    assert "fathom/methods/" in fathom("where", "latent_depth", "5")[0]


@pytest.mark.slow
def test_the_installed_command_writes_into_the_working_folder(fathom):
    _, folder = fathom("table", "latent_depth_table5", "--partial")
    assert (folder / "results" / "tiny" / "latent_depth" / "table5.csv").is_file()


# One file for a machine without a network


def test_the_build_of_torch_is_that_of_the_index_that_was_named(tmp_path, monkeypatch):
    asked = tmp_path / "asked"
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" >{asked}\necho envs/torch_build.lock\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    torch, *others = bundle.locks(["--extra-index-url", "http://here"])
    assert torch == "envs/torch_build.lock"
    assert asked.read_text().endswith("doctor.py torch --extra-index-url http://here\n")
    assert all((ROOT / lock).is_file() for lock in (torch, *others))


def test_it_has_the_files_of_the_commit_packages_and_sources(tmp_path, monkeypatch):
    def source(results):
        path = results / "text.tar"
        path.parent.mkdir()
        path.write_text("text")
        yield path

    monkeypatch.setattr(bundle, "packages", lambda folder, options: (folder / "one.whl").touch())
    monkeypatch.setattr(bundle, "sources", source)
    out = tmp_path / "bundle.tar"
    monkeypatch.setattr(sys, "argv", ["bundle.py", "--out", str(out)])
    bundle.main()
    assert [path.name for path in tmp_path.iterdir()] == ["bundle.tar"]
    with tarfile.open(out) as written:
        names = {member.name for member in written}
        script = written.getmember("fathom/install-offline")
    assert {"fathom/wheels/one.whl", "fathom/results/sources/by_hand/text.tar"} < names
    assert "fathom/wheels/python" in names
    assert {f"fathom/{name}" for name in bundle.code()} < names
    assert script.mode & 0o100


def test_without_packages_there_is_nothing_to_install_from(tmp_path):
    shutil.copy(ROOT / "install-offline", tmp_path)
    done = subprocess.run(
        [tmp_path / "install-offline"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.strip().split("\n"))) == (1, "", 1)
    assert "make bundle" in done.stderr
