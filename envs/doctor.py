"""Say in one line what this machine lacks for the environment; the Makefile asks before it builds.

    python3 envs/doctor.py machine           Python's version, its venv module, free disk
    .venv/bin/python envs/doctor.py torch    the lock of the build of torch that pip takes here;
                                             whether pip reaches the packages, and room for them

Standard library only, and older Pythons can read it, since it refuses them.
"""

import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = os.path.join(ROOT, ".venv")
# One of PyPI, and one of the index that `make lock` was given: of PyTorch, for CPUs.
TORCH_LOCKS = ("envs/torch.lock", "envs/torch_build.lock")
# Measured: 2.0 GB with a CPU build of torch, and pip unpacks each package before it moves it.
GIGABYTES = 4
# Estimated, with the packages of a CUDA build of torch.
GIGABYTES_CUDA = 12


def read(*names):
    """Return the content of a file of the project, or of .venv."""
    with open(os.path.join(ROOT, *names)) as stream:
        return stream.read()


def lacking_python():
    """Return what is wrong with this Python, or None."""
    supported = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))
    this = "{}.{}".format(*sys.version_info)
    if this not in supported:
        return (
            f"fathom runs on Python {', '.join(supported)}, and {sys.executable} is {this}; "
            f"install one of them or uv, or name it: make PYTHON=/path/to/python{supported[-1]}"
        )
    if os.path.exists(os.path.join(ENVIRONMENT, "pyvenv.cfg")):
        made = re.search(r"version\w* = (\d+\.\d+)", read(ENVIRONMENT, "pyvenv.cfg"))
        if made and made[1] != this:
            return f"{ENVIRONMENT} has Python {made[1]}, not {this}; delete it and run again"
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return (
            f"{sys.executable} cannot make an environment (no venv or ensurepip); "
            f"install your system's package for it (Debian, Ubuntu: python{this}-venv)"
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


def torch_lock(index_options):
    """Return the lock that has the file which pip takes for torch here.

    One version has several builds, and pip may know of some by an index or folder that it was told.
    It is asked without hashes: with them it prefers a file whose hash an index says, and so a build
    for CUDA in an index to one for CPUs in a folder.

    Args:
        index_options: options of pip that name a further index.
    """
    [pin] = re.findall("^torch==.*", read("envs", "torch.txt"), re.MULTILINE)
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-"]
    command += ["--ignore-installed", "--no-deps", "--retries", "1", "--timeout", "15"]
    done = subprocess.run([*command, *index_options, pin], capture_output=True, text=True)
    if done.returncode:
        words = [line[7:] for line in done.stderr.split("\n") if line.startswith("ERROR: ")]
        sys.exit(
            f"environment: pip finds no packages ({words[-1] if words else 'it gave no reason'}); "
            "connect this machine, or tell pip where they are (PIP_INDEX_URL, PIP_FIND_LINKS)"
        )
    [coming] = json.loads(done.stdout)["install"]
    needs = coming["metadata"].get("requires_dist", [])
    if sys.platform == "linux" and any(need.startswith("nvidia-") for need in needs):
        missing = lacking_disk(GIGABYTES_CUDA)
        if missing:
            sys.exit(f"environment: {missing}")
    return lock_of(coming["download_info"])


def lock_of(file):
    """Return the lock that has a file of torch.

    Args:
        file: its address and its hashes, as pip reports them.
    """
    [digest] = set(re.findall(r"\b[0-9a-f]{64}\b", json.dumps(file["archive_info"])))
    for lock in TORCH_LOCKS:
        if digest in read(lock):
            return lock
    sys.exit(
        f"environment: no lock has {file['url']}; for the build of another index: "
        "make lock TORCH_INDEX=<its address>, then make environment TORCH_INDEX=<its address>"
    )


def main():
    """Run one group of checks; the first thing that is missing ends the command."""
    if sys.argv[1] == "torch":
        sys.stdout.write(torch_lock(sys.argv[2:]) + "\n")
        return
    missing = lacking_python() or lacking_disk(GIGABYTES)
    if missing:
        sys.exit(f"environment: {missing}")


if __name__ == "__main__":
    main()
