"""A copy of the project in which the chain has run once, on a paper of three rows."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "tests" / "support" / "chain_paper"
TARGETS = (f"{PAPER.name}_table1", f"{PAPER.name}_figure1")
# Within these updates all three rows learn more than the frequencies of pieces.
UPDATES = 70
TINY = "config/scales/tiny.yaml"
SHORTER = (
    (
        "config/papers/latent_depth/scales.yaml",
        "m2o_diverse: 300, beta",
        f"m2o_diverse: {UPDATES}, beta",
    ),
    (TINY, "learning_rate: 5.0e-3, warmup: 100}}", "learning_rate: 5.0e-3, warmup: 20}}"),
    (TINY, "nats_below_unigram: 0.7}", "nats_below_unigram: 0.1}"),
)


@dataclass(frozen=True)
class Project:
    """A folder with the project's files and what the chain has made."""

    folder: Path

    def run(self, *words: str, code: int = 0, text: str = "") -> str:
        """Run a command of the environment there; return all that it printed.

        Args:
            words: the command; its first word is a program of the environment.
            code: the exit code that is right.
            text: standard input.
        """
        return self._printed(self._program(words), code, text)

    def shell(self, script: str) -> str:
        """Run lines of a shell there, as a user types them; return all that they printed."""
        return self._printed(["sh", "-c", script])

    def _printed(self, words: list[str], code: int = 0, text: str = "") -> str:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            input=text,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout[-8000:]
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen:
        """Start a command of the environment there, which prints nothing."""
        nowhere = subprocess.DEVNULL
        return subprocess.Popen(
            self._program(words),
            cwd=self.folder,
            env=self._environment,
            stdout=nowhere,
            stderr=nowhere,
        )

    def _program(self, words: tuple[str, ...]) -> list[str]:
        return [str(Path(sys.executable).with_name(words[0])), *words[1:]]

    @property
    def _environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        more = {"PATH": path, "PYTHONPATH": str(self.folder / "lib"), "COLUMNS": "160"}
        return os.environ | more

    def training_files(self) -> dict[str, int]:
        """Return the time of the last change of every file that a training leaves."""
        files = self.folder.glob("results/runs/**/*")
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


def shorten(project: Project) -> None:
    """Add the paper of three rows, and let its runs train for a quarter of tiny's updates."""
    shutil.copytree(PAPER, project.folder / "config" / "papers" / PAPER.name)
    for name, old, new in SHORTER:
        text = (project.folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (project.folder / name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id):
    """The project with the table, the figure and the comparison of that paper.

    The first process that asks makes it; the others wait and read it.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "finished"
    with FileLock(f"{folder}.lock"):
        if (folder / "results" / "tiny" / "compare.csv").exists():
            return Project(folder)
        project = copy_of_the_project(folder)
        shorten(project)
        project.run("snakemake", "--cores", "2", *TARGETS)
        project.run("snakemake", "--cores", "2", "compare")
        return project
