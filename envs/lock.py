"""Generate the locks and the conda file from envs/versions.txt; `make lock` runs this.

    python envs/lock.py              resolve versions.txt in a temporary environment; write all
    python envs/lock.py --hashes     keep the versions of the locks, and look their files up again
    python envs/lock.py --derived    write again what follows from the locks, without a network
    … --index <address>              a further index, whose build of torch is accepted too

torch.lock holds torch and what it needs on a CPU; cuda.lock what a build with CUDA needs as well;
fairseq.lock the one package that is built here; requirements.lock all else. ctranslate2.lock,
transformers.lock, docs.lock and slurm_official.lock come from lists of their own: what `make
ctranslate2`, `make transformers`, `make docs` and `make test-slurm` add. Each pin has the SHA-256
of every file of its release that this Python can use, on any platform; pip accepts no other file.

torch has several builds of one version. `torch==2.13.0` means them all, and the hashes say which
are accepted: those of the default index, which need CUDA on Linux, those of `--index`, and the one
that pip chooses where the lock is made. So one lock serves machines with and without a GPU; another
build needs a lock of its own (`make lock TORCH_INDEX=<address>`). No address is written.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
TORCH, FAIRSEQ = "torch", "fairseq-fixed"
BUILDERS = ("setuptools", "wheel")
# What fairseq-fixed asks for and must not get: see versions.txt.
REFUSED = ("torch", "torchaudio")
# Only a CUDA build of torch needs these.
CUDA = re.compile(r"(nvidia|cuda)-|triton$")
NAME = re.compile(r"[\w.-]+")
LOCKS = ("torch.lock", "cuda.lock", "requirements.lock", "fairseq.lock")
# What fathom can also use, by the name of its list and its lock.
OPTIONAL = ("ctranslate2", "docs", "slurm_official", "transformers")
# pip names the file that this machine takes; uv names all files of a release.
UV = "uv==0.13.9"
PYTHON = "3.11"
SOURCE = re.compile(r"\.(tar\.\w+|zip)$")
# A source archive, or a wheel with tags that Python 3.11 can use.
USABLE = re.compile(
    rf"{SOURCE.pattern}|-([\w.]*\.)?(cp311|py3\d*)[\w.]*-\w+-|-cp3([2-9]|10|11)-abi3-"
)


def canonical(name: str) -> str:
    """Return a package's name as indexes compare it, without extras."""
    return re.sub(r"[-_.]+", "-", name.split("[")[0]).lower()


def pins(text: str) -> dict[str, str]:
    """Read `name==version` lines, which may have extras and a hash.

    Args:
        text: the content of versions.txt or of a lock.

    Returns:
        The line without its hashes, by the package's canonical name.
    """
    lines = (line.split(" --hash")[0].strip(" \\") for line in text.split("\n"))
    lines = [line for line in lines if line and not line.startswith(("#", "--hash"))]
    return {canonical(line.split("==")[0]): line for line in lines}


def hashes(text: str) -> dict[str, set[str]]:
    """Return the SHA-256 of each file that a lock accepts, by the package's canonical name."""
    entries = re.findall(r"^([\w.-]+)==((?:.*\\\n)*.*)", text, re.MULTILINE)
    return {canonical(name): set(re.findall("sha256:(\\w+)", rest)) for name, rest in entries}


def locked(lines: Iterable[str], files: Mapping[str, set[str]]) -> str:
    """Return pins as pip reads them, each with its hashes."""
    entries = ((line, sorted(files[canonical(line.split("==")[0])])) for line in lines)
    return "".join(
        " \\\n    ".join([line, *(f"--hash=sha256:{digest}" for digest in digests)]) + "\n"
        for line, digests in entries
    )


def list_of(lock: str) -> str:
    """Return the file name of the list that a lock comes from."""
    return "versions.txt" if lock in LOCKS else f"{Path(lock).stem}.txt"


def lists() -> dict[str, str]:
    """Return the content of the list of each lock, by the lock's file name."""
    locks = (*LOCKS, *(f"{name}.lock" for name in OPTIONAL))
    return {lock: (HERE / list_of(lock)).read_text(encoding="utf-8") for lock in locks}


def header(versions: str, name: str = "versions.txt") -> str:
    """Return the first lines of a generated file, with the fingerprint of the list's pins."""
    listed = "\n".join(sorted(pins(versions).values()))
    fingerprint = hashlib.sha256(listed.encode()).hexdigest()[:16]
    return f"# Made by `make lock` from {name} (pins {fingerprint}). Not edited by hand.\n"


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
        f"--require-hashes --no-binary {FAIRSEQ} -r envs/fairseq.lock\n"
        "python -m pip install --no-deps --no-build-isolation --editable .\n"
    )


class Resolver:
    """A temporary environment in which pip resolves the list.

    Args:
        folder: where it is made.
        index: the address of a further index, or nothing.
    """

    def __init__(self, folder: Path, index: str):
        """Make the environment."""
        venv.create(folder, with_pip=True)
        self.folder, self.python, self.index = folder, folder / "bin" / "python", index
        # Where a further index has a build of its own, uv prefers it, as pip does.
        further = ("--index", index, "--index-strategy", "unsafe-best-match") if index else ()
        self.indexes = dict.fromkeys((further, ()))
        self.pip("install", "--quiet", UV)

    def _run(self, *words: str) -> str:
        sys.stderr.write(f"  {' '.join(words)[:90]}\n")
        environment = {**os.environ, "READTHEDOCS": "1"}
        if "PIP_INDEX_URL" in os.environ:
            environment["UV_DEFAULT_INDEX"] = os.environ["PIP_INDEX_URL"]
        command = [str(self.python), "-m", *words]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(f"lock: {words[0]} failed, see its message above; nothing was written")
        return done.stdout.decode()

    def pip(self, *words: str) -> list[dict]:
        """Run pip and return what it would install, if it was asked for that."""
        words = ("pip", "--disable-pip-version-check", *words)
        if self.index:
            words += ("--extra-index-url", self.index)
        printed = self._run(*words)
        return json.loads(printed)["install"] if "--report" in words else []

    def resolve(self, *packages: str) -> dict[str, str]:
        """Return all that an installation of packages would bring, as pins without local parts."""
        words = ("--dry-run", "--ignore-installed", "--quiet", "--report", "-")
        installed = [item["metadata"] for item in self.pip("install", *words, *packages)]
        pinned = {canonical(package["name"]): package for package in installed}
        return {
            name: f"{package['name']}=={package['version'].split('+')[0]}"
            for name, package in sorted(pinned.items())
        }

    def chosen(self, package: str, *words: str) -> dict:
        """Return what pip says of the file that it takes for a package."""
        words = ("--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-", *words)
        [chosen] = self.pip("install", *words, package)
        return chosen

    def releases(self, lines: Iterable[str], *words: str) -> dict[str, tuple[str, dict[str, str]]]:
        """Return the pin of each package that uv resolves, and the SHA-256 of its files by address.

        Args:
            lines: pins.
            words: options of uv; without --no-deps, what the packages need comes too.
        """
        listed, answer = self.folder / "listed.txt", self.folder / "pylock.toml"
        listed.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        options = ("--quiet", "--no-config", "--universal", "--python-version", PYTHON)
        self._run("uv", "pip", "compile", str(listed), "-o", str(answer), *options, *words)
        resolved = tomllib.loads(answer.read_text(encoding="utf-8"))["packages"]
        releases: dict[str, tuple[str, dict[str, str]]] = {}
        for package in resolved:
            files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
            digests = {file["url"]: file["hashes"]["sha256"] for file in files}
            # A package may come in one version for each Python; this one's is the first.
            pin = f"{package['name']}=={package['version']}"
            releases.setdefault(package["name"], (pin, digests))
        return releases


def resolve(given: Mapping[str, str], resolver: Resolver) -> dict[str, list[str]]:
    """Resolve the lists; return the pins of each lock by file name.

    Args:
        given: the list of each lock.
        resolver: what asks the index.
    """
    listed = pins(given["torch.lock"])
    first = [listed[name] for name in (TORCH, *BUILDERS)]
    # The source archive says what it needs only where torch is installed.
    resolver.pip("install", "--quiet", *first)
    words = ("--no-build-isolation", "--no-binary", FAIRSEQ)
    needs = resolver.chosen(listed[FAIRSEQ], *words)["metadata"]["requires_dist"]
    needs = [need for need in needs if "extra ==" not in need]
    needs = [need for need in needs if canonical(NAME.match(need)[0]) not in REFUSED]
    with_torch = resolver.resolve(*first)
    rest = [line for name, line in listed.items() if name != FAIRSEQ]
    everything = resolver.resolve(*rest, *needs)
    everything = {name: line for name, line in everything.items() if not CUDA.match(name)}
    for words in resolver.indexes:
        cuda = resolver.releases([listed[TORCH]], *words)
        if any(CUDA.match(name) for name in cuda):
            break
    further = {}
    for lock in set(given) - set(LOCKS):
        wanted = resolver.resolve(*everything.values(), *pins(given[lock]).values())
        further[lock] = [line for name, line in wanted.items() if name not in everything]
    return further | {
        "torch.lock": [line for name, line in everything.items() if name in with_torch],
        "cuda.lock": [pin for name, (pin, _) in cuda.items() if CUDA.match(name)],
        "requirements.lock": [line for name, line in everything.items() if name not in with_torch],
        "fairseq.lock": [listed[FAIRSEQ]],
    }


def with_hashes(
    given: Mapping[str, str], pinned: Mapping[str, list[str]], resolver: Resolver
) -> dict[str, str]:
    """Return the content of each lock by file name.

    Args:
        given: the list of each lock.
        pinned: the pins of each lock.
        resolver: what asks the index.
    """
    lines = [line for one in pinned.values() for line in one]
    files: dict[str, set[str]] = {}
    for words in resolver.indexes:
        for name, (_, digests) in resolver.releases(lines, "--no-deps", *words).items():
            # fairseq is built here, so no wheel of it is accepted.
            accepted = SOURCE if name == FAIRSEQ else USABLE
            usable = {digest for url, digest in digests.items() if accepted.search(url)}
            files[name] = files.get(name, set()) | usable
    torch = resolver.chosen(pins(given["torch.lock"])[TORCH])
    files[TORCH].add(torch["download_info"]["archive_info"]["hashes"]["sha256"])
    return {
        lock: header(given[lock], list_of(lock)) + locked(lines, files)
        for lock, lines in pinned.items()
    }


def main() -> None:
    """Write the locks, unless only derived files are asked for, and then the derived files."""
    parser = argparse.ArgumentParser(description="Write the locks and the conda file.")
    parser.add_argument("--hashes", action="store_true", help="keep the versions")
    parser.add_argument("--derived", action="store_true", help="keep the locks")
    parser.add_argument("--index", default="", help="a further index")
    asked = parser.parse_args()
    given, files = lists(), {}
    if asked.derived or asked.hashes:
        files = {name: (HERE / name).read_text(encoding="utf-8") for name in given}
    if not asked.derived:
        with tempfile.TemporaryDirectory() as folder:
            resolver = Resolver(Path(folder), asked.index)
            kept = {name: list(pins(text).values()) for name, text in files.items()}
            files = with_hashes(given, kept or resolve(given, resolver), resolver)
    files["fathom.yaml"] = conda_file(given["torch.lock"], files)
    files["fathom.post-deploy.sh"] = post_deploy(given["torch.lock"], files)
    for name, text in files.items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")
        sys.stderr.write(f"  wrote envs/{name}\n")


if __name__ == "__main__":
    main()
