"""A script of Python in a process of its own, with this clone's code."""

import os
import subprocess
import sys

from tests.support.specs import ROOT

LIBRARY = {"PYTHONPATH": str(ROOT / "lib")}


def python(code, *words, folder=None):
    """Run a script with some words; return how it ended, and what it printed."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=folder,
        env=os.environ | LIBRARY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
