"""One thread a process, and a copy of the project's config that a test may break."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from fathom.io.signals import SIGNALS

# Threads of several small processes wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items):
    """Run the long tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture
def project(tmp_path):
    """A folder with config/ as it is."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


@pytest.fixture
def edit(project):
    """A function that replaces text in a file of the copy; the text must be there."""

    def replace(file, old, new):
        path = project / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace


@pytest.fixture(scope="session")
def own_project():
    """The project's own config."""
    from tests.support import own_project

    return own_project.own_project()


@pytest.fixture
def interruptible():
    """Take signals as Python does; what runs in the background ignores some."""
    hook, before = sys.unraisablehook, {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        own = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, own)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    sys.unraisablehook = hook
