"""`make freeze`: what is added is frozen, and what moves is named and needs to be asked for."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from benchmarks.mutants import copy_project
from fathom.io.files import write_json
from fathom.results.recipe import RECIPE
from tests.contracts import freeze, frozen_config, recipe
from tests.contracts.test_plugins import CARD, CODE
from tests.support.own_project import ROOT

RUN = dict.fromkeys(frozen_config.NAMES, "same") | {"identity": "0123456789", "seeds": [1]}
OTHER = RUN | {"identity": "9876543210"}
NOTHING = {"show": {}, "cells": {}, "reported": {}}
NAME = "stochastic_depth"  # the method of docs/adding_a_method.md


@pytest.fixture
def frozen(tmp_path, monkeypatch):
    """A function that freezes runs in place of others; returns whether it refused to."""
    monkeypatch.setattr(frozen_config, "FROZEN", tmp_path / "frozen_config.json.gz")

    def config(before, now, may_move=False):
        frozen_config.written(NOTHING | {"runs": before})
        monkeypatch.setattr(frozen_config, "resolved", lambda: NOTHING | {"runs": now})
        refused = freeze.config(may_move)
        assert (frozen_config.frozen()["runs"] == now) is not refused
        return refused

    return config


def test_new_runs_and_changes_that_move_no_folder_are_frozen_and_named(frozen, capsys):
    before = {"-:deep/flat": RUN}
    assert not frozen(before, {"-:deep/flat": RUN | {"seeds": [1, 2]}, "-:new/a": RUN})
    assert capsys.readouterr().out == "runs added: new/a\nruns changed: deep/flat\n"
    assert not frozen(before, before)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ({"-:deep/flat": RUN, "tiny:deep/flat": OTHER}, "deep/flat: tiny 01234567 → 98765432"),
        ({"-:deep/flat": RUN, "tiny:deep/flat": RUN | {"start": ""}}, "deep/flat: tiny start"),
        ({"-:deep/flat": RUN}, "deep/flat: tiny is gone"),
        ({"-:new/a": RUN}, "deep/flat: - is gone; tiny is gone"),
    ],
)
def test_runs_that_move_or_go_are_named_and_written_only_when_it_is_asked_for(
    frozen, capsys, now, words
):
    before = {"-:deep/flat": RUN, "tiny:deep/flat": RUN}
    assert frozen(before, now)
    out = capsys.readouterr().out
    assert f"moved: {words}\n" in out
    assert "not written" in out
    assert not frozen(before, now, may_move=True)
    assert f"moved: {words}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("raised", "processor", "written", "words"),
    [
        ((), "Intel", False, ""),
        (("scoring",), "Intel", False, "training moved"),
        (("training", "scoring"), "Intel", True, "recipe.json changed: recipe, scoring, training"),
        ((), "new", True, "recipe.json changed: training"),
    ],
)
def test_numbers_follow_a_raised_recipe_alone(
    tmp_path, monkeypatch, capsys, raised, processor, written, words
):
    made = {"training": {"Intel": {"a": 1.0}}, "decoding": ["x"], "scoring": {"13a": [1.0]}}
    before = {"recipe": {stage: RECIPE[stage] - (stage in raised) for stage in RECIPE}} | made
    now = made | {"training": {processor: {"a": 2.0}}, "scoring": {"13a": [2.0 if raised else 1.0]}}
    monkeypatch.setattr(recipe, "FILE", tmp_path / "recipe.json")
    monkeypatch.setattr(recipe, "LOCKED", recipe.versions())
    monkeypatch.setattr(recipe, "processor", lambda: processor)
    monkeypatch.setattr(recipe, "numbers", lambda _: now)
    write_json(recipe.FILE, before)
    assert freeze.numbers() is ("moved" in words)
    assert (recipe.frozen() != before) is written
    assert words in capsys.readouterr().out
    trained = before["training"] | ({processor: {"a": 2.0}} if written else {})
    assert recipe.frozen()["training"] == (now["training"] if "training" in raised else trained)


# Checks that compare config/, code or pages with what is written down. The pages' own come last:
# `make freeze` updates the pages.
PAGES, CONFIG = "tests/house/test_docs.py", "tests/contracts/test_frozen_config.py"
CHECKS = ["tests/house", "--ignore", PAGES, CONFIG]
CHECKS += ["tests/contracts/test_plugins.py", "tests/cli/test_metrics.py"]
CHECKS += ["tests/workflow/test_plan.py", "tests/workflow/test_job_sizes.py"]


@pytest.fixture(scope="module")
def outsiders(tmp_path_factory):
    """A copy of the project with the paper, the method and the metric of the pages on adding."""
    root = tmp_path_factory.mktemp("outsider")
    copy_project(root)
    paper = ROOT / "tests" / "support" / "fourth_paper"
    shutil.copytree(paper, root / "config" / "papers" / "reader2026", dirs_exist_ok=True)
    page = (ROOT / "docs" / "adding_a_metric.md").read_text(encoding="utf-8")
    written = {
        f"lib/fathom/methods/{NAME}.py": CODE,
        f"config/methods/{NAME}.yaml": CARD,
        "lib/fathom/scoring/metrics/exact.py": page.split("```python\n")[1].partition("```")[0],
    }
    for name, text in written.items():
        (root / name).write_text(text, encoding="utf-8")
    (line,) = re.findall("^    (exact: {.*)$", page, re.M)
    columns = root / "config" / "columns.yaml"
    text = columns.read_text(encoding="utf-8")
    if f"  {line}\n" not in text:
        columns.write_text(text.replace("  ter: {", f"  {line}\n  ter: {{", 1), encoding="utf-8")
    return root


def python(root, *words):
    """Run a module of the copy, and return what it printed; it must succeed."""
    command = [sys.executable, "-m", *words]
    environment = os.environ | {"PYTHONPATH": str(root / "lib")}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
def test_a_paper_a_method_and_a_metric_that_are_added_as_the_pages_say_leave_every_check_green(
    outsiders,
):
    frozen = (outsiders / "tests/contracts/frozen_config.json.gz").read_bytes()
    checks = ("pytest", "-q", "-p", "no:cacheprovider", "-m", "not pipeline and not slurm")
    python(outsiders, *checks, *CHECKS)
    said = python(outsiders, "tests.contracts.freeze")
    for line in ("runs added: reader2026/", "updated: README.md"):
        assert f"\n{line}" in f"\n{said}"
    assert "moved" not in said
    assert (outsiders / "tests/contracts/frozen_config.json.gz").read_bytes() != frozen
    python(outsiders, *checks, PAGES, CONFIG, "tests/contracts/test_frozen_claims.py")
    python(outsiders, *checks, "tests/contracts/test_methods.py", "-k", NAME)
