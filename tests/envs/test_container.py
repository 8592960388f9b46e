"""The container's definition is compared with what it is built from; no test can build it."""

import re
import shutil
import subprocess

import pytest
import yaml

from tests.support.locks import ROOT, pythons

# Apptainer's own, of a definition with one stage.
SECTIONS = {"labels", "files", "post", "environment", "test", "runscript", "startscript", "help"}
MAKE = re.compile(r"^make (.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def text():
    return (ROOT / "envs" / "fathom.def").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def header(text):
    """The keywords before the first section."""
    lines = [line for line in text.partition("\n%")[0].split("\n") if line[:1] not in ("", "#")]
    return dict(re.fullmatch(r"(\w+): (\S+)", line).groups() for line in lines)


@pytest.fixture(scope="module")
def sections(text):
    """The lines of each section, without what indents them."""
    parts = re.split(r"^%(\w+)\n", text, flags=re.MULTILINE)[1:]
    assert len({*parts[::2]}) == len(parts[::2])
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: [line.strip() for line in body.strip().split("\n")] for name, body in pairs}


@pytest.fixture(scope="module")
def copied(sections):
    """What is copied from the project: place here, place in the image."""
    return dict(line.split() for line in sections["files"])


@pytest.mark.parametrize("section", ["post", "environment", "test", "runscript"])
def test_every_script_is_right_shell(sections, section):
    script = "\n".join(sections[section])
    checked = subprocess.run(["sh", "-n"], input=script, capture_output=True, text=True)
    assert checked.stderr == ""


def test_it_has_a_python_that_the_locks_are_for(header):
    """As the environment of conda has."""
    conda = yaml.safe_load((ROOT / "envs" / "fathom.yaml").read_text(encoding="utf-8"))
    [python] = [item for item in conda["dependencies"] if str(item).startswith("python=")]
    assert python.removeprefix("python=") in pythons()
    assert header["From"].removeprefix("python:").partition("-")[0] in pythons()


def test_make_finds_all_that_it_needs_among_what_is_copied(copied, sections, tmp_path):
    """So the image's packages are those of the locks, installed as in a clone."""
    for source, target in copied.items():
        assert target == f"/opt/fathom/{source}"
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, tmp_path / source)
    [words] = MAKE.findall("\n".join(sections["post"]))
    assert words.split()[:2] == ["environment", "ctranslate2"]
    command = ["make", "--dry-run", *words.split()]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert printed.returncode == 0, printed.stderr
    for lock in ("requirements", "fairseq", "ctranslate2"):
        assert f"-r envs/{lock}.lock" in printed.stdout, lock
