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
LOCKS = ("envs/requirements.lock", "envs/fairseq.lock", "envs/ctranslate2.lock")
LOCKS += ("envs/transformers.lock",)
# Some packages have files for one Python alone.
PYTHON = "{}.{}".format(*sys.version_info)
# Built here without a compiler, and so packed as its source.
AS_SOURCE = "fairseq-fixed"


def locks(index_options: list[str]) -> tuple[str, ...]:
    """Return the locks of this machine's environment.

    Args:
        index_options: options of pip that name a further index.
    """
    asked = [sys.executable, str(ROOT / "envs" / "doctor.py"), "torch", *index_options]
    torch = subprocess.run(asked, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return (torch, *LOCKS)


def packages(folder: Path, index_options: list[str]) -> None:
    """Download the packages of the locks."""
    for lock in locks(index_options):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--require-hashes", "--no-build-isolation", "--no-binary", AS_SOURCE]
        command += ["--dest", str(folder), *index_options, "-r", str(ROOT / lock)]
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
    parser.add_argument("--extra-index-url", metavar="ADDRESS", help="a further index, as of pip")
    given = parser.parse_args()
    further = given.extra_index_url
    with tempfile.TemporaryDirectory(dir=given.out.resolve().parent) as made:
        folder = Path(made)
        wheels = folder / WHEELS
        wheels.mkdir()
        packages(wheels, ["--extra-index-url", further] if further else [])
        (wheels / "python").write_text(PYTHON, encoding="utf-8")
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
    there = f"Python {PYTHON}, tar xf {given.out.name}, cd {TOP}, ./install-offline"
    sys.stdout.write(f"{given.out}: {size:.0f} MB; there: {there}\n")


if __name__ == "__main__":
    main()
