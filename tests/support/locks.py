"""What the lists and the locks of envs/ say."""

import re
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
ENVS = ROOT / "envs"


def text(name: str) -> str:
    """Return the content of a file of the project."""
    return (ROOT / name).read_text(encoding="utf-8")


def pythons() -> list[str]:
    """Return the Pythons that the locks are for, such as 3.11."""
    return re.findall(r"Programming Language :: Python :: (3\.\d+)", text("pyproject.toml"))


def requirements(content: str) -> list[Requirement]:
    """Return the requirements of a list or a lock, without hashes."""
    lines = (line.rstrip(" \\") for line in content.split("\n"))
    return [Requirement(line) for line in lines if line and line[0] not in "# "]


def locked(content: str, python: str | None = None, system: str | None = None) -> dict[str, str]:
    """Return the version of each package that a lock has for this machine.

    Args:
        content: the content of the lock.
        python: a Python, in place of the one that runs this.
        system: a system as `sys.platform` names it, in place of this one.
    """
    machine = {"python_version": python, "sys_platform": system}
    machine["python_full_version"] = python and f"{python}.9"
    given = {name: value for name, value in machine.items() if value}
    return {
        canonicalize_name(line.name): str(line.specifier)[2:]
        for line in requirements(content)
        if line.marker is None or line.marker.evaluate(given)
    }
