"""Write one file with which a machine without a network installs fathom and makes the tiny scale.

    .venv/bin/python envs/bundle.py [--out fathom-bundle.tar] [--without-sources]

It holds the files of this commit, the packages of the locks for this kind of machine and Python,
and the sources that the tiny scale fetches. There, after `tar xf`, `./install-offline` makes the
environment.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOP = "fathom"
WHEELS = "wheels"
# Where `fathom fetch` looks for a file before it asks an address.
BY_HAND = "results/sources/by_hand"
# The lock of torch as the environment has it: of one build.
LOCKS = (".venv/torch.lock", "envs/requirements.lock", "envs/fairseq.lock")
LOCKS += ("envs/ctranslate2.lock", "envs/transformers.lock")
# As well, where torch is a build for CUDA.
CUDA_LOCK = "envs/cuda.lock"
# Built here without a compiler, and so packed as its source.
AS_SOURCE = "fairseq-fixed"


def locks() -> tuple[str, ...]:
    """Return the locks of the environment that runs this."""
    asked = [sys.executable, str(ROOT / "envs" / "doctor.py"), "cuda"]
    needs_cuda = subprocess.run(asked, check=False).returncode == 0
    return (*LOCKS, CUDA_LOCK) if needs_cuda else LOCKS


def packages(folder: Path) -> None:
    """Download the packages of the locks."""
    for lock in locks():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--require-hashes", "--no-build-isolation", "--no-binary", AS_SOURCE]
        command += ["--dest", str(folder), "-r", str(ROOT / lock)]
        subprocess.run(command, check=True, env=os.environ | {"READTHEDOCS": "1"})


def sources(results: Path) -> Iterator[Path]:
    """Fetch the sources of the tiny scale; yield their files."""
    fathom = Path(sys.executable).parent / "fathom"
    listed = subprocess.run(
        [fathom, "plan", "all", "--scale", "tiny", "--json", "--results", results],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for source in json.loads(listed.stdout)["downloads"]:
        name = source["source"]
        subprocess.run([fathom, "fetch", name, "--results", results], cwd=ROOT, check=True)
        folder = results / "sources" / name
        yield folder / json.loads((folder / "source.json").read_text())["file"]


def code() -> list[str]:
    """Return the files of this commit, by their path from the top."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return listed.stdout.rstrip("\0").split("\0")


def main() -> None:
    """Download, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("fathom-bundle.tar"), help="the file")
    parser.add_argument("--without-sources", action="store_true", help="pack no text")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.out.resolve().parent) as made:
        folder = Path(made)
        wheels = folder / WHEELS
        wheels.mkdir()
        packages(wheels)
        part = folder / given.out.name
        with tarfile.open(part, "w") as bundle:
            for name in code():
                bundle.add(ROOT / name, f"{TOP}/{name}")
            for path in sorted(wheels.iterdir()):
                bundle.add(path, f"{TOP}/{WHEELS}/{path.name}")
            for path in () if given.without_sources else sources(folder / "results"):
                bundle.add(path, f"{TOP}/{BY_HAND}/{path.name}")
        part.replace(given.out)
    size = given.out.stat().st_size / 1e6
    there = f"tar xf {given.out.name}, cd {TOP}, ./install-offline"
    sys.stdout.write(f"{given.out}: {size:.0f} MB; there: {there}\n")


if __name__ == "__main__":
    main()
