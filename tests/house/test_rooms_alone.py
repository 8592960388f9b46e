"""A fresh interpreter that imports a room has not loaded what the room must do without."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.house.tree import LEVELS, ROOT, library, listed

NETWORKS = {"torch", "fairseq"}
DRAWING = {"pandas", "matplotlib"}
TEXT = {"sentencepiece", "sacrebleu", "polib", "pooch"}
FORBIDDEN = {
    "io": NETWORKS | DRAWING | TEXT | {"numpy", "yaml", "jsonschema", "typer"},
    "provenance": NETWORKS | DRAWING | TEXT | {"numpy", "jsonschema", "typer"},
    "config": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "runs": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "claims": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "papers": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "project": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "workflow": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "data": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "subwords": NETWORKS | DRAWING | {"sacrebleu", "polib", "pooch", "typer"},
    "methods": {"fairseq"} | DRAWING | TEXT | {"typer"},
    "evaluation": NETWORKS | DRAWING | {"typer"},
    "tables": NETWORKS | DRAWING | TEXT | {"numpy", "typer", "jinja2"},
    "figures": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "report": NETWORKS | DRAWING | TEXT | {"numpy", "typer"},
    "cli": NETWORKS | DRAWING | TEXT | {"numpy"},
}
# What builds a complete network from a method; the methods themselves import no network.
WITH_A_NETWORK = {"fathom.methods.loader"}
# Imports the modules one by one, so that the answer names the one that brought a package.
PROBE = """
import importlib, sys
forbidden = set(sys.argv[1].split(","))
for name in sys.argv[2:]:
    importlib.import_module(name)
    for package in sorted(forbidden & set(sys.modules)):
        forbidden.discard(package)
        print(name, package)
"""


def brought(room: str) -> list[str]:
    """Return what the modules of a room bring and must not."""
    modules = sorted(
        source.module
        for source in library(ROOT)
        if source.room == room and source.module not in WITH_A_NETWORK
    )
    command = [sys.executable, "-c", PROBE, ",".join(FORBIDDEN[room]), *modules]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "lib")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"{room} cannot be imported alone: {done.stderr.strip().split(chr(10))[-1]}"]
    return [
        "lib/{}.py:1: importing it loads {}; import that inside the function that needs it".format(
            module.replace(".", "/"), package
        )
        for module, package in (line.split() for line in done.stdout.split("\n") if line)
    ]


def test_rooms_load_nothing_that_they_must_do_without():
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = [each for part in pool.map(brought, FORBIDDEN) for each in part]
    assert not found, listed(found)


def test_every_room_without_a_network_library_is_probed():
    assert set(LEVELS) - set(FORBIDDEN) == {
        "errors",
        "batches",
        "models",
        "checkpoints",
        "training",
        "inference",
    }
