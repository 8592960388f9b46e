"""A copy of the project in which the full chain has run once at tiny scale."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Project:
    """A folder with the project's files and what the chain has made."""

    folder: Path

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command of the environment there; return all that it printed.

        Args:
            words: the command; its first word is a program of the environment.
            code: the exit code that is right.
        """
        program = str(Path(sys.executable).with_name(words[0]))
        done = subprocess.run(
            [program, *words[1:]],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder / "lib"), "COLUMNS": "160"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout[-8000:]
        return done.stdout

    def training_files(self) -> dict[str, int]:
        """Return the time of the last change of every file that a training leaves."""
        files = self.folder.glob("results/tiny/runs/*/*/**/*")
        kinds = ("training.json", "last.pt", "metrics.tsv")
        return {str(path): path.stat().st_mtime_ns for path in files if path.name in kinds}


def copy_of_the_project(folder: Path) -> Project:
    """Copy what git tracks or would track; sources that are fetched already come along."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    for name in filter(None, listed):
        if (ROOT / name).exists():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
    sources = ROOT / "results" / "sources"
    if sources.is_dir():
        shutil.copytree(sources, folder / "results" / "sources", dirs_exist_ok=True)
    return Project(folder)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """The project after `snakemake`, with its report."""
    project = copy_of_the_project(tmp_path_factory.mktemp("project"))
    project.run("snakemake", "--cores", "2")
    project.run("snakemake", "--report", "results/tiny/report.html")
    return project
