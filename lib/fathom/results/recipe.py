"""Which code made a result: the recipe of each stage, and for audit the commit and the sources.

RECIPE is raised by whoever changes the numbers of a stage. A comment, a message or a new file
changes no number and leaves it as it is. The frozen tiny runs (tests/pipeline/reference.json) show
when a number has moved and its recipe was not raised. Nothing is made again because of the commit.
"""

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

RECIPE = {"training": 3, "decoding": 1, "scoring": 3}
PACKAGE = Path(__file__).resolve().parents[1]


def stale(recorded: Mapping[str, int]) -> dict[str, str]:
    """Return the stages whose recorded recipe is not today's, each with a sentence that says so."""
    return {
        stage: f"recipe {recipe} is older than {RECIPE[stage]}"
        if recipe < RECIPE[stage]
        else f"recipe {recipe} is newer than {RECIPE[stage]}: update fathom"
        for stage, recipe in recorded.items()
        if recipe != RECIPE[stage]
    }


def sources() -> dict[str, str | None]:
    """Return the commit and the hash of the package's Python files, as result files record them."""
    return {"commit": commit(PACKAGE), "sources_sha256": hashed(PACKAGE)}


def commit(folder: Path) -> str | None:
    """Return the commit of the clone that tracks a folder, with `-dirty` where files differ.

    None outside a clone, and in a clone that does not track the folder, as around an environment.
    """
    # An installed package may lie in an environment below somebody else's clone.
    if not _git(folder, "ls-files"):
        return None
    return _git(folder, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty") or None


def _git(folder: Path, *words: str) -> str:
    """Return what git answers in a folder; nothing where it refuses, or is not installed."""
    command = ["git", *words]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def hashed(folder: Path, pattern: str = "*.py") -> str:
    """Return one SHA-256 over the paths and bytes of all files of a pattern in a folder."""
    digest = hashlib.sha256()
    for path in sorted(filter(Path.is_file, folder.rglob(pattern))):
        digest.update(f"{path.relative_to(folder).as_posix()}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
