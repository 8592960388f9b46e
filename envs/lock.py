"""Generate the locks and the conda file from envs/versions.txt; `make lock` runs this.

    python envs/lock.py              resolve versions.txt in a temporary environment; write all
    python envs/lock.py --derived    write again what follows from the locks, without a network

torch.lock holds torch and what it needs on a CPU (a CUDA build names its own packages exactly, by
itself); fairseq.lock the one package that is built here; requirements.lock all else.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
TORCH, FAIRSEQ = "torch", "fairseq-fixed"
BUILDERS = ("setuptools", "wheel")
# What fairseq-fixed asks for and must not get: see versions.txt.
REFUSED = ("torch", "torchaudio")
# Only a CUDA build of torch needs these, and it pins them in its own metadata.
CUDA = re.compile(r"(nvidia|cuda)-|triton$")
NAME = re.compile(r"[\w.-]+")


def canonical(name: str) -> str:
    """Return a package's name as indexes compare it, without extras."""
    return re.sub(r"[-_.]+", "-", name.split("[")[0]).lower()


def pins(text: str) -> dict[str, str]:
    """Read `name==version` lines, which may have extras and a hash.

    Args:
        text: the content of versions.txt or of a lock.

    Returns:
        The line without its hash, by the package's canonical name.
    """
    lines = (line.split(" --hash")[0].strip() for line in text.split("\n"))
    lines = [line for line in lines if line and not line.startswith("#")]
    return {canonical(line.split("==")[0]): line for line in lines}


def header(versions: str) -> str:
    """Return the first lines of a generated file, with the fingerprint of the list's pins."""
    listed = "\n".join(sorted(pins(versions).values()))
    fingerprint = hashlib.sha256(listed.encode()).hexdigest()[:16]
    return f"# Made by `make lock` from versions.txt (pins {fingerprint}). Not edited by hand.\n"


def conda_file(versions: str, locks: dict[str, str]) -> str:
    """Return envs/fathom.yaml: the same pins for `snakemake --sdm conda`.

    fairseq-fixed and fathom follow in fathom.post-deploy.sh, since a conda file cannot leave out a
    requirement.

    Args:
        versions: the content of versions.txt.
        locks: the content of each lock, by file name.
    """
    both = pins(locks["torch.lock"] + locks["requirements.lock"])
    lines = [line for _, line in sorted(both.items())]
    listed = "".join(f"      - {line}\n" for line in lines)
    return (
        f"{header(versions)}name: fathom\nchannels: [conda-forge, nodefaults]\n"
        f"dependencies:\n  - python=3.11\n  - pip\n  - pip:\n{listed}"
    )


def post_deploy(versions: str, locks: dict[str, str]) -> str:
    """Return envs/fathom.post-deploy.sh, which Snakemake runs inside the new conda environment."""
    return (
        f"#!/bin/sh\n{header(versions)}set -eu\n"
        "READTHEDOCS=1 python -m pip install --no-cache-dir --no-deps --no-build-isolation "
        f"--no-binary {FAIRSEQ} {pins(locks['fairseq.lock'])[FAIRSEQ]}\n"
        "python -m pip install --no-deps --no-build-isolation --editable .\n"
    )


class Resolver:
    """A temporary environment in which pip resolves the list."""

    def __init__(self, folder: Path):
        """Make the environment in `folder`."""
        venv.create(folder, with_pip=True)
        self.python = folder / "bin" / "python"

    def pip(self, *words: str) -> dict:
        """Run pip and return its report, if it was asked for one."""
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", *words]
        sys.stderr.write(f"  pip {' '.join(words)[:90]}\n")
        environment = {**os.environ, "READTHEDOCS": "1"}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit("lock: pip failed, see its message above; nothing was written")
        return json.loads(done.stdout) if "--report" in words else {}

    def resolve(self, *packages: str) -> dict[str, str]:
        """Return all that an installation of packages would bring, as pins without local parts."""
        words = ("--dry-run", "--ignore-installed", "--quiet", "--report", "-")
        report = self.pip("install", *words, *packages)
        installed = [item["metadata"] for item in report["install"]]
        pinned = {canonical(package["name"]): package for package in installed}
        return {
            name: f"{package['name']}=={package['version'].split('+')[0]}"
            for name, package in sorted(pinned.items())
        }

    def source(self, package: str) -> tuple[list[str], str]:
        """Return what a package asks for, and the SHA-256 of its source archive."""
        words = ("--dry-run", "--no-deps", "--no-build-isolation", "--quiet", "--report", "-")
        words += ("--no-binary", canonical(package.split("==")[0]))
        report = self.pip("install", *words, package)
        [package] = report["install"]
        needs = [need for need in package["metadata"]["requires_dist"] if "extra ==" not in need]
        return needs, package["download_info"]["archive_info"]["hashes"]["sha256"]


def resolve(versions: str) -> dict[str, str]:
    """Resolve the list; return the content of each lock by file name.

    Args:
        versions: the content of versions.txt.
    """
    listed = pins(versions)
    first = [listed[name] for name in (TORCH, *BUILDERS)]
    with tempfile.TemporaryDirectory() as folder:
        resolver = Resolver(Path(folder))
        # The source archive says what it needs only where torch is installed.
        resolver.pip("install", "--quiet", *first)
        needs, digest = resolver.source(listed[FAIRSEQ])
        needs = [need for need in needs if canonical(NAME.match(need)[0]) not in REFUSED]
        with_torch = resolver.resolve(*first)
        rest = [line for name, line in listed.items() if name != FAIRSEQ]
        everything = resolver.resolve(*rest, *needs)
    everything = {name: line for name, line in everything.items() if not CUDA.match(name)}
    bodies = {
        "torch.lock": [line for name, line in everything.items() if name in with_torch],
        "requirements.lock": [line for name, line in everything.items() if name not in with_torch],
        "fairseq.lock": [f"{listed[FAIRSEQ]} --hash=sha256:{digest}"],
    }
    return {
        name: header(versions) + "".join(f"{line}\n" for line in lines)
        for name, lines in bodies.items()
    }


def main() -> None:
    """Write the locks, unless only derived files are asked for, and then the derived files."""
    versions = (HERE / "versions.txt").read_text(encoding="utf-8")
    names = ("torch.lock", "requirements.lock", "fairseq.lock")
    if "--derived" in sys.argv[1:]:
        files = {name: (HERE / name).read_text(encoding="utf-8") for name in names}
    else:
        files = resolve(versions)
    files["fathom.yaml"] = conda_file(versions, files)
    files["fathom.post-deploy.sh"] = post_deploy(versions, files)
    for name, text in files.items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")
        sys.stderr.write(f"  wrote envs/{name}\n")


if __name__ == "__main__":
    main()
