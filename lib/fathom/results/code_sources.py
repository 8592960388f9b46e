"""Which code was there when a result was made, for audit: the commit, and one hash of the sources.

Nothing is made again because of them; the recipe alone says whether numbers may have moved.
"""

import hashlib
import subprocess
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def sources() -> dict[str, str | None]:
    """Return the commit and the hash of the package's Python files, as result files record them."""
    return {"commit": commit(PACKAGE), "sources_sha256": hashed(PACKAGE)}


def commit(folder: Path) -> str | None:
    """Return the commit of the clone that tracks a folder, with `-dirty` where files differ.

    None outside a clone, and in one that does not track the folder, as around an environment.
    """
    # A package that was installed is below somebody else's clone at times.
    if not _git(folder, "ls-files"):
        return None
    return _git(folder, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty") or None


def _git(folder: Path, *words: str) -> str:
    """Return what git answers in a folder; nothing where it refuses, or is not there."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, check=False
        )
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
