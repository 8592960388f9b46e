import sys

import pytest

from fathom.data.answers import Limits
from fathom.data.clients import Client
from tests.support.refused import refused

CLIENT = Client("tool", "*.txt", "tool get {package}", "install tool", ())


def run(script, folder, limits=None):
    """Run a script of Python as the client."""
    command = [sys.executable, "-c", script]
    return CLIENT.download(command, "texts 1", 10, folder, folder / "put", limits or Limits())


def test_the_file_is_the_one_that_the_client_leaves_in_its_folder(tmp_path):
    assert run("open('a.txt', 'w').close()", tmp_path) == tmp_path / "a.txt"


def test_a_client_speaks_english(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    path = run("import os; open('a.txt', 'w').write(os.environ['LC_ALL'])", tmp_path)
    assert path.read_text() == "C"


@pytest.mark.parametrize("script", ["pass", "for n in 'ab': open(n + '.txt', 'w').close()"])
def test_a_client_that_leaves_no_file_or_two_has_failed(tmp_path, script):
    with refused("client ended", "tool", 0, where="texts 1", remedy="tool get texts 1"):
        run(script, tmp_path)


def test_a_client_has_a_time_limit(tmp_path):
    with refused("client is slow", "tool", where="texts 1"):
        run("import time; time.sleep(60)", tmp_path, Limits(rate_over=0.01, rate=1e6))
