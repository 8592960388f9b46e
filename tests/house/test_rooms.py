"""Imports go down, in no circle, and a room loads nothing that makes a start slow."""

import json
import os
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.house.tree import LEVELS, ROOT, Source, imported, library, listed, sources

# What a fresh interpreter that imports a module of the room must not have loaded: it starts fast.
HEAVY = {"torch", "fairseq", "pandas", "matplotlib", "sentencepiece", "sacrebleu", "polib"}
NOT_LOADED = {
    "io": HEAVY | {"numpy", "yaml", "pydantic", "typer"},
    "config": HEAVY | {"numpy", "typer"},
    "results": HEAVY | {"numpy", "typer"},
    "artefacts": HEAVY | {"numpy", "typer", "jinja2"},
    "workflow": HEAVY | {"numpy", "typer"},
    "api": HEAVY | {"numpy", "typer"},
    "cli": HEAVY | {"numpy"},
    "scoring": HEAVY - {"sacrebleu"},
    "methods": HEAVY - {"torch"} | {"typer"},
}
# What builds a complete network from a method; the methods themselves import no network.
WITH_A_NETWORK = {"fathom.methods.build"}
# Imports the modules one by one, so that the answer names the one that loads a package.
PROBE = """
import importlib, json, sys
forbidden, modules = json.loads(sys.argv[1])
for name in modules:
    importlib.import_module(name)
    for package in sorted({*forbidden} & {*sys.modules}):
        forbidden.remove(package)
        print(name, package)
"""


def upward(root: Path) -> list[str]:
    """Return imports of a room that is not below, and of another method."""
    found = []
    for source in library(root):
        if source.room and source.room not in LEVELS:
            found.append(f"{source.name}:1: room '{source.room}' has no level; add it to LEVELS")
            continue
        for node, name in imported(source):
            _, room, *inside = [*name.split("."), "", ""]
            if not name.startswith("fathom.") or room not in LEVELS:
                continue
            if room != source.room and LEVELS[room] >= LEVELS.get(source.room, 99):
                found.append(f"{source.at(node)}: {source.room} imports {name}, not below it")
            # A method may import its own folder and what all methods share.
            mine = source.module.split(".")[2:3]
            if room == source.room == "methods" and inside[:1] not in (mine, ["shared"]):
                found.append(f"{source.at(node)}: a method imports {name}; use methods/shared/")
    return found


def circles(root: Path) -> list[str]:
    """Return a circle of imports, if there is one."""
    by_name = {source.module: source for source in library(root)}
    try:
        TopologicalSorter({name: _targets(by_name[name], {*by_name}) for name in by_name}).prepare()
    except CycleError as error:
        return [" imports ".join(reversed(error.args[1]))]
    return []


def _targets(source: Source, modules: set[str]) -> set[str]:
    names = {name for _, name in imported(source)}
    names |= {name.rpartition(".")[0] for name in names}
    return names & modules - {source.module}


def loaded(room: str, packages: set[str], root: Path) -> list[str]:
    """Return the modules of a room that load a package that they must not."""
    modules = {source.module for source in library(root) if source.room == room} - WITH_A_NETWORK
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps([sorted(packages), sorted(modules)])],
        env={**os.environ, "PYTHONPATH": str(root / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return [f"{room} cannot be imported: {done.stderr.strip().rpartition(chr(10))[2]}"]
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("rule", [upward, circles])
def test_rooms_import_what_is_below_in_no_circle(rule):
    found = rule(ROOT)
    assert not found, listed(found)


@pytest.mark.slow
@pytest.mark.parametrize("room", NOT_LOADED)
def test_a_room_loads_nothing_that_makes_a_start_slow(room):
    found = loaded(room, NOT_LOADED[room], ROOT)
    assert not found, listed(found)


@pytest.mark.parametrize(
    ("rule", "files", "lines"),
    [
        (upward, {"workflow/plan.py": "def f():\n    from fathom.cli import options\n"}, 1),
        (upward, {"nn/network.py": "from fathom.data import fused\n"}, 1),
        (upward, {"nowhere/a.py": "x = 1\n"}, 1),
        (
            upward,
            {
                "methods/deep/method.py": "from fathom.methods.deep import equations\n"
                "from fathom.methods.shared.masks import mask\n"
                "from fathom.methods.wide import Wide\n"
            },
            1,
        ),
        (
            circles,
            {
                "data/one.py": "from fathom.data import two\n",
                "data/two.py": "from fathom.data.three import x\n",
                "data/three.py": "import fathom.data.one\n",
                "data/four.py": "import fathom.data.one\n",
            },
            1,
        ),
    ],
)
def test_what_a_room_must_not_import_is_found(small, rule, files, lines):
    root = small({f"lib/fathom/{name}": text for name, text in files.items()})
    assert len(rule(root)) == lines


def test_a_package_that_is_loaded_is_found_with_its_module(small):
    files = {"__init__.py": "", "io/__init__.py": "", "io/a.py": "", "io/b.py": "import wave\n"}
    root = small({f"lib/fathom/{name}": text for name, text in files.items()})
    assert loaded("io", {"wave", "this"}, root) == ["fathom.io.b wave"]


def test_the_executor_of_slurm_can_be_published_alone():
    """It knows Snakemake's interface and nothing of fathom; its batch script knows Python alone."""
    package, interface = "snakemake_executor_plugin_slurm_attach", "snakemake_interface"
    for source in sources(ROOT, f"lib/{package}"):
        taken = {name.split(".")[0] for _, name in imported(source)} - sys.stdlib_module_names
        others = {name for name in taken if not name.startswith(interface)}
        is_script = source.path.name == "runner.py"
        assert (taken if is_script else others - {package}) == set(), source.name
        assert "fathom" not in source.path.read_text(encoding="utf-8").lower(), source.name
