"""The public checks run what .ci/run runs, with the tried Python and actions that cannot change."""

import os
import re
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
CHECK, VERSIONS = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))[
    "jobs"
].values()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_job_runs_the_checks_of_any_machine_with_the_tried_python_and_actions_of_one_commit():
    steps = CHECK["steps"]
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    # A tag can be moved to other code.
    used = [step["uses"] for step in [*steps, *VERSIONS["steps"]] if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []
    (version,) = [step["with"]["python-version"] for step in steps if "setup-python" in str(step)]
    assert PROJECT["requires-python"].startswith(f">={version},")


def test_a_second_job_tries_the_newest_torch_and_the_oldest_with_the_newest_python():
    newest, oldest = VERSIONS["strategy"]["matrix"]["include"]
    assert newest["torch"] == "torch"
    assert oldest["torch"].replace("==", ">=").removesuffix(".0") in PROJECT["dependencies"]
    python = Requirement(f"python{PROJECT['requires-python']}").specifier
    pythons = ["3.11", newest["python"], oldest["python"]]
    assert [*python.filter(f"3.{minor}" for minor in range(20))] == pythons
