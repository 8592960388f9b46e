"""Install what build.sh has made beside this Python's torch, and write what all parts say.

    python3 -m benchmarks.first_gpu [--carried .carried] [--out FOLDER] [--device auto] [part …]

This file needs Python's library alone. Each part is a process with a time limit (parts.py), so one
that fails or hangs ends nothing but itself.
"""

import argparse
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Timer
from typing import Any

ROOT = Path(__file__).parents[2]
# Seconds of each part. Those whose result would change most come first.
LIMITS = {"machine": 60, "right": 180, "waits": 120, "fast": 240, "compiled": 480}
LIMITS |= {"train": 300, "translate": 180}
Row = dict[str, Any]


def needs(carried: Path) -> Iterator[str]:
    """Yield what is missing here, in words."""
    here = "{}.{}".format(*sys.version_info)
    made = f"bash benchmarks/first_gpu/build.sh {carried}"
    try:
        version = (carried / "python").read_text(encoding="utf-8").strip()
        if version != here:
            yield f"Python {version}, for which {carried} was made; this is {here}"
    except OSError:
        yield f"the folder {carried}: where there is a network, `{made} {here}`"
    for package in ("torch", "pip"):
        if importlib.util.find_spec(package) is None:
            yield f"{package} in {sys.executable}"


def install(carried: Path, out: Path) -> dict[str, str]:
    """Install the wheels and copy the text; return the environment of the parts."""
    packages = out / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-compile", "--target", packages, *(carried / "wheels").glob("*.whl")]
    subprocess.run(command, check=True)
    shutil.copytree(carried / "text", out / "results", dirs_exist_ok=True)
    folders = (ROOT, ROOT / "lib", packages, Path(__file__).parent / "stand_ins")
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}


def rows(
    part: str, device: str, out: Path, environment: Mapping[str, str], limit: float
) -> Iterator[Row]:
    """Run a part; yield its rows as it prints them, and one for its end if it fails."""
    command = [sys.executable, "-m", "benchmarks.first_gpu.parts", part, device, out / "results"]
    log = out / f"{part}.log"
    with log.open("w", encoding="utf-8") as errors, subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        # With the processes that the part has started.
        start, timer = time.monotonic(), Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        try:
            yield from ({"part": part} | json.loads(line) for line in process.stdout or ())
            process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        lines = log.read_text(encoding="utf-8").splitlines() or ["killed"]
        ended = lines[-1] if time.monotonic() - start < limit else f"no end after {limit} s"
        yield {"part": part, "failed": f"{ended}; {log} has more"}


def text(row: Row) -> str:
    """Return a row as a line."""
    values = (f"{key} {value}" for key, value in row.items() if key != "part")
    return f"{row['part']}: {', '.join(values)}"


def main() -> int:
    """Run the parts; return 1 if something is missing, failed or is not right."""
    parser = argparse.ArgumentParser(prog="first_gpu")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(LIMITS)}, or all")
    parser.add_argument("--carried", type=Path, default=Path(".carried"))
    parser.add_argument("--out", type=Path, default=Path("results/first_gpu"))
    parser.add_argument("--device", default="auto", help="auto, cpu or cuda")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(LIMITS):
        parser.error(f"no part '{min(unknown)}'; there are {', '.join(LIMITS)}")
    if missing := [*needs(given.carried)]:
        sys.stderr.write("".join(f"first-gpu: needs {what}\n" for what in missing))
        return 1
    # So that the process of a part, in a session of its own, ends with this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = given.out.resolve()
    environment, found = install(given.carried, out), []
    for part in given.parts or LIMITS:
        for row in rows(part, given.device, out, environment, LIMITS[part]):
            found.append(row)
            sys.stdout.write(f"{text(row)}\n")
            sys.stdout.flush()
        (out / "first_gpu.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
        lines = "".join(f"- {text(row)}\n" for row in found)
        (out / "first_gpu.md").write_text(lines, encoding="utf-8")
    sys.stdout.write(f"written: {out / 'first_gpu.json'}, first_gpu.md\n")
    return int(any("failed" in row for row in found))


if __name__ == "__main__":
    sys.exit(main())
