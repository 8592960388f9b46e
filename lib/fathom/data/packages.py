"""A wheel through the ordinary pip, with the settings that the user's pip has."""

import sys
from pathlib import Path

from fathom.config.schema.source import Package
from fathom.data.answers import LIMITS, Limits
from fathom.data.clients import Client

_PIP = Client(
    name="pip",
    files="*.whl",
    by_hand="pip download --no-deps {package}",
    install="make the environment with `make environment`",
    causes=(
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
    folder = folder.resolve()  # pip runs in it
    requirements = folder / "requirement.txt"
    requirements.write_text(f"{source.asked} --hash=sha256:{source.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--dest", str(folder)]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command += ["--requirement", str(requirements)]
    return _PIP.download(command, source.asked, source.bytes, folder, put, limits)
