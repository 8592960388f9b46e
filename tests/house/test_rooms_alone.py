"""A fresh interpreter that imports a room has not loaded what the room must do without."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import LEVELS, ROOT, library, listed

NETWORKS = {"torch", "fairseq"}
DRAWING = {"pandas", "matplotlib"}
TEXT = {"sentencepiece", "sacrebleu", "polib", "pooch"}
FORBIDDEN = {
    "io": NETWORKS | DRAWING | TEXT | {"numpy", "yaml", "jsonschema", "typer"},
    "config": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "results": NETWORKS | DRAWING | TEXT | {"numpy", "jsonschema", "typer"},
    "cluster": NETWORKS | DRAWING | TEXT | {"numpy", "typer", "yaml", "pydantic"},
    "data": NETWORKS | DRAWING | {"sacrebleu", "polib", "pooch", "typer"},
    "nn": {"fairseq"} | DRAWING | TEXT | {"typer"},
    "methods": {"fairseq"} | DRAWING | TEXT | {"typer"},
    "scoring": NETWORKS | DRAWING | {"sentencepiece", "polib", "pooch", "typer"},
    "artefacts": NETWORKS | DRAWING | TEXT | {"numpy", "typer", "jinja2"},
    "workflow": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "cli": NETWORKS | DRAWING | TEXT | {"numpy"},
}
# A network derives from a class of fairseq; its parts and the methods do not.
WITH_A_NETWORK = (
    "fathom.methods.build",
    "fathom.nn.masked_lm",
    "fathom.nn.rnmt_plus",
    "fathom.nn.transformer",
)
# Imports the modules one by one, so that the answer names the one that brought a package.
PROBE = """
import importlib, json, sys
for forbidden, modules in json.loads(sys.argv[1]):
    forbidden = set(forbidden)
    for name in modules:
        importlib.import_module(name)
        for package in sorted(forbidden & set(sys.modules)):
            forbidden.discard(package)
            print(name, package)
"""


def chains(forbidden: dict[str, set[str]]) -> list[list[str]]:
    """Return groups of rooms that one interpreter can import in turn: each forbids less."""
    chains: list[list[str]] = []
    for room in sorted(forbidden, key=lambda room: -len(forbidden[room])):
        fitting = [chain for chain in chains if forbidden[room] <= forbidden[chain[-1]]]
        if fitting:
            fitting[0].append(room)
        else:
            chains.append([room])
    return chains


def brought(rooms: list[str], forbidden: dict[str, set[str]], root: Path) -> list[str]:
    """Return what the modules of some rooms bring and must not."""
    steps = []
    for room in rooms:
        modules = {source.module for source in library(root) if source.room == room}
        alone = sorted(module for module in modules if not module.startswith(WITH_A_NETWORK))
        steps.append([sorted(forbidden[room]), alone])
    environment = {**os.environ, "PYTHONPATH": str(root / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(steps)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        problem = done.stderr.strip().rpartition("\n")[2]
        return [f"{', '.join(rooms)} cannot be imported alone: {problem}"]
    return [
        "lib/{}.py:1: importing it loads {}; import that inside the function that needs it".format(
            module.replace(".", "/"), package
        )
        for module, package in (line.split() for line in done.stdout.split("\n") if line)
    ]


@pytest.mark.slow
def test_rooms_load_nothing_that_they_must_do_without():
    findings = [line for chain in chains(FORBIDDEN) for line in brought(chain, FORBIDDEN, ROOT)]
    assert not findings, listed(findings)


def test_a_package_that_a_room_must_do_without_is_found_with_its_module(small):
    packages = dict.fromkeys([f"lib/fathom/{room}__init__.py" for room in ("", "io/", "runs/")], "")
    root = small(packages | {"lib/fathom/io/a.py": "", "lib/fathom/runs/b.py": "import wave\n"})
    forbidden = {"runs": {"wave"}, "io": {"wave", "this"}}
    (rooms,) = chains(forbidden)
    assert rooms == ["io", "runs"]
    assert brought(rooms, forbidden, root) == [
        "lib/fathom/runs/b.py:1: importing it loads wave; import that inside the function that "
        "needs it"
    ]


def test_every_room_without_a_network_library_is_probed():
    assert set(LEVELS) - set(FORBIDDEN) == {"train", "decode"}
