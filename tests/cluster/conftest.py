"""Stand-ins for a scheduler's commands, and a job's script as Snakemake writes it."""

import json
import os

import pytest

from fathom.cluster import jobs

RUN = "latent_depth/m2o_diverse_6_6-106be524"


@pytest.fixture(autouse=True)
def above(tmp_path, monkeypatch):
    """The folder of jobs."""
    folder = tmp_path / "results" / "cluster"
    folder.mkdir(parents=True)
    monkeypatch.setenv(jobs.VARIABLE, str(folder))
    monkeypatch.delenv("FATHOM_CONFIG", raising=False)
    return folder


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """A function that makes a command answer: by text and exit code, or by a shell script.

    Each call is a line of the list that the function `calls` returns.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))

    def answer(command, text="", code=0, message="", script=None):
        body = script or f"cat <<'X'\n{text}\nX\n" * bool(text)
        body += f"\necho '{message}' >&2\n" * bool(message) + ("" if script else f"exit {code}\n")
        path = folder / command
        path.write_text(f'#!/bin/bash\necho "{command} $*" >> "$CALLS"\n{body}', encoding="utf-8")
        path.chmod(0o755)

    return answer


@pytest.fixture
def calls(tmp_path):
    """A function that returns the calls of stand-ins so far."""

    def lines(command=""):
        path = tmp_path / "calls"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        return [line for line in text.split("\n") if line.startswith(command) and line]

    return lines


@pytest.fixture
def script(tmp_path):
    """A function that writes a job's script."""

    def write(seed="1", **changed):
        output = f"{tmp_path}/results/runs/{RUN}/{seed}/training.json"
        said = {
            "type": "single",
            "rule": "train_run",
            "output": [output],
            "wildcards": {"run": RUN, "seed": seed},
            "threads": 2,
            "resources": {"mem_mb": 3000, "runtime": 90, "gres": "gpu:2", "gpu": 0},
        }
        path = tmp_path / f"job{len(os.listdir(tmp_path))}.sh"
        path.write_text(f"#!/bin/sh\n# properties = {json.dumps(said | changed)}\ntrue\n")
        return path

    return write
