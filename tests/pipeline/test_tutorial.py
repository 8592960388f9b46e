"""What docs/tutorial.md types, in a project whose rows have trained for fewer updates."""

import shutil
from pathlib import Path

import pytest

from tests.pipeline.conftest import ROOT, Project

pytestmark = pytest.mark.pipeline

# They make what the shared project has.
MADE = ("make reproduce", ". .venv/bin/activate", "fathom run latent_depth_table5")
LEFT = (
    "results/tiny/latent_depth.html",
    "results/tiny/latent_depth/table5_curves.svg",
    "results/tiny/help_texts/table1.csv",
    "results/tiny/dropout/table1.csv",
    "exported/checkpoint.pt",
    "exported/README.md",
)


def test_the_tutorials_commands_run_in_their_order_and_leave_what_it_names(finished, tmp_path):
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in text.split("\n") if line.startswith("    ")]
    assert {*MADE} < {*commands}
    script = "\n".join(["set -eu", *(line for line in commands if line not in MADE)])
    project = Project(tmp_path / "fathom")
    shutil.copytree(finished.folder, project.folder, symlinks=True)
    printed = project.shell(script)
    assert [name for name in LEFT if not Path(project.folder, name).is_file()] == []
    assert "dropout: 1 of 2 trainings found, 1 to train" in printed
