"""Say in one line what this machine lacks for the environment; the Makefile asks before it builds.

    python3 envs/doctor.py machine           Python's version, its venv module, free disk
    .venv/bin/python envs/doctor.py network  whether pip reaches the packages, and room for them;
                                             .venv/torch.lock gets the build of torch that pip takes
    .venv/bin/python envs/doctor.py cuda     status 0 if the installed torch needs CUDA's packages

Standard library only, and older Pythons can read it, since it refuses them.
"""

import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = os.path.join(ROOT, ".venv")
TRIED = (3, 11)
# Measured: 2.0 GB with a CPU build of torch, and pip unpacks each package before it moves it.
GIGABYTES = 4
# Estimated, with the packages of a CUDA build of torch.
GIGABYTES_CUDA = 12


def lacking_python():
    """Return what is wrong with this Python, or None."""
    if sys.version_info[:2] != TRIED:
        tried, this = (".".join(map(str, version)) for version in (TRIED, sys.version_info[:2]))
        remedy = (
            f"install Python {tried}, or name it: make PYTHON=/path/to/python{tried}, "
            "or install with pip (docs/installation.md)"
        )
        if sys.executable.startswith(ENVIRONMENT):
            remedy = f"delete {ENVIRONMENT} and run again"
        return f"envs/ has locks for Python {tried}, and {sys.executable} is {this}; {remedy}"
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return (
            f"{sys.executable} cannot make an environment (no venv or ensurepip); "
            "install your system's package for it (Debian: python3.11-venv)"
        )
    return None


def lacking_disk(gigabytes):
    """Return what is wrong with the disk, or None.

    Args:
        gigabytes: what the full environment takes; files already in .venv count as built.
    """
    present = 0
    for folder, _, names in os.walk(ENVIRONMENT):
        present += sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
    needed = gigabytes - present / 1e9
    free = shutil.disk_usage(ROOT).free / 1e9
    if free >= needed:
        return None
    return f"{free:.1f} GB are free at {ROOT}, {needed:.1f} GB are needed; make room there"


def lacking_network(index_options):
    """Return what keeps pip from the packages, or None.

    Args:
        index_options: options of pip that name a further index.
    """
    lock = os.path.join(ROOT, "envs", "torch.lock")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
    command += ["--retries", "1", "--timeout", "15", *index_options]
    # Without hashes, for which pip would download every file.
    with open(lock) as stream:
        text = stream.read()
    command += [line.split()[0] for line in text.split("\n") if "==" in line]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        words = [line[7:] for line in done.stderr.split("\n") if line.startswith("ERROR: ")]
        return (
            f"pip finds no packages ({words[-1] if words else 'it gave no reason'}); connect this "
            "machine, or tell pip where they are (PIP_INDEX_URL, PIP_FIND_LINKS)"
        )
    coming = [package["metadata"] for package in json.loads(done.stdout)["install"]]
    builds = [one["version"] for one in coming if one["name"] == "torch"]
    with open(os.path.join(ENVIRONMENT, "torch.lock"), "w") as stream:
        stream.write(of_one_build(text, builds))
    if any(one["name"].startswith("nvidia") for one in coming):
        return lacking_disk(GIGABYTES_CUDA)
    return None


def of_one_build(lock, versions):
    """Return a lock that accepts one build of torch.

    Where pip knows the hash of a file in advance, as of an index, it prefers that to a file of a
    folder, and would take another build than without hashes: CUDA's in place of one for a CPU.

    Args:
        lock: the content of torch.lock.
        versions: the version of torch that pip takes, such as 2.13.0+cpu; none where it has it.
    """
    for version in versions:
        public = version.split("+")[0]
        lock = lock.replace(f"\ntorch=={public} ", f"\ntorch=={version} ")
    return lock


def needs_cuda():
    """Return whether the torch that is installed is a build for CUDA, on a system that has it."""
    from importlib.metadata import requires

    return sys.platform == "linux" and any(need.startswith("nvidia-") for need in requires("torch"))


def main():
    """Run one group of checks; the first thing that is missing ends the command."""
    if sys.argv[1] == "cuda":
        sys.exit(not needs_cuda())
    missing = lacking_python()
    if sys.argv[1] == "machine":
        missing = missing or lacking_disk(GIGABYTES)
    else:
        missing = missing or lacking_network(sys.argv[2:])
    if missing:
        sys.exit(f"environment: {missing}")


if __name__ == "__main__":
    main()
