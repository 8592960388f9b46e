"""Break the equations one at a time, and find the test that notices each time.

    python benchmarks/mutants.py                 all of mutants.yaml; writes mutants.csv
    python benchmarks/mutants.py latent_layers   one group; prints its rows
    python benchmarks/mutants.py --new           those without a row, or that no test noticed
    python benchmarks/mutants.py --check         only whether each text is in its file, once

A mutant is a text of a file, replaced. The tests of its group run in a copy of the project until
one fails. A mutant that no test notices is a hole in the tests: the script ends with status 1.
mutants.csv keeps the test that noticed each mutant when all of them ran last.
"""

import argparse
import csv
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".yaml")
RESULTS = Path(__file__).with_suffix(".csv")
# A mutant that makes a loop endless is noticed too.
LIMIT = 900
SURVIVED = "survived"
COLUMNS = ("group", "file", "breaks", "test", "seconds")


@dataclass(frozen=True)
class Mutant:
    """One broken line.

    Attributes:
        group: a method, or another part of the equations.
        tests: files and folders of the tests that run, in this order.
        file: the file that is broken, from the project's root.
        breaks: what the mutant gets wrong.
        old, new: the text that is there, and what replaces it.
    """

    group: str
    tests: tuple[str, ...]
    file: str
    breaks: str
    old: str
    new: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it in the table and among the results."""
        return self.group, self.file, self.breaks

    def problem(self, root: Path) -> str | None:
        """Return why the mutant cannot be made, or None."""
        path = root / self.file
        count = path.read_text(encoding="utf-8").count(self.old) if path.is_file() else 0
        if count == 1 and self.old != self.new:
            return None
        return f"{self.group}: {self.file} has {count} times {self.old!r}"

    def apply(self, root: Path) -> None:
        """Break the file under a root."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True)
class Verdict:
    """What the tests say of a mutant: the first that failed, how many ran before it, seconds."""

    killer: str
    passed: int
    seconds: float


Task = tuple[Mutant | None, str, tuple[str, ...]]


def read(path: Path = TABLE) -> list[Mutant]:
    """Return all mutants of the table, in its order."""
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [
        Mutant(group, tuple(entry["tests"]), file, **mutant)
        for group, entry in table.items()
        for file, mutants in entry["mutants"].items()
        for mutant in mutants
    ]


def problems(mutants: list[Mutant], root: Path = ROOT) -> list[str]:
    """Return what is wrong in the table: a text that is not there once, tests that are gone."""
    texts = [problem for mutant in mutants if (problem := mutant.problem(root))]
    tests = {(mutant.group, test) for mutant in mutants for test in mutant.tests}
    gone = [f"{group}: no {test}" for group, test in sorted(tests) if not (root / test).exists()]
    return texts + gone


class Recorder:
    """A pytest plugin: leaves out the tests of other methods, and keeps the first failure."""

    def __init__(self, group: str, methods: frozenset[str]):
        """Remember which tests to leave out.

        Args:
            group: the mutant's group; if it is a method, tests of the others are left out.
            methods: the names of all methods.
        """
        self.others = methods - {group} if group in methods else frozenset()
        self.killer, self.passed = SURVIVED, 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list) -> None:
        """Leave out tests that are parametrised with another method; run the long ones last."""
        items[:] = [item for item in items if not self._of_others(item)]
        items.sort(key=lambda item: item.get_closest_marker("slow") is not None)

    def _of_others(self, item: object) -> bool:
        call = getattr(item, "callspec", None)
        return call is not None and call.params.get("name") in self.others

    def pytest_collectreport(self, report: object) -> None:
        """A file that cannot be imported notices the mutant too."""
        if report.failed and self.killer == SURVIVED:
            self.killer = report.nodeid

    def pytest_runtest_logreport(self, report: object) -> None:
        """Count what passes, and keep the first that fails."""
        if report.failed and self.killer == SURVIVED:
            self.killer = report.nodeid
        self.passed += report.when == "call" and report.passed


def run(mutant: Mutant | None, group: str, tests: tuple[str, ...]) -> Verdict:
    """Run tests in a copy of the project, in this process; it must end afterwards.

    Args:
        mutant: what to break; None leaves the copy as it is.
        group: whose tests run.
        tests: their files and folders.
    """
    folder = Path(tempfile.mkdtemp(prefix="mutant-"))
    try:
        copy_project(folder)
        if mutant:
            mutant.apply(folder)
        os.chdir(folder)
        sys.path[:0] = [str(folder), str(folder / "lib")]
        sys.dont_write_bytecode = True
        os.environ["PYTHONPATH"] = str(folder / "lib")
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        (folder / "log").touch()
        log = os.open(folder / "log", os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(LIMIT)
        recorder = Recorder(group, method_names(folder))
        start = time.monotonic()
        options = ["-x", "-q", "-p", "no:cacheprovider"]
        pytest.main([*options, *tests], plugins=[recorder])
        return Verdict(recorder.killer, recorder.passed, time.monotonic() - start)
    finally:
        signal.alarm(0)
        shutil.rmtree(folder, ignore_errors=True)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {LIMIT} s")


def copy_project(folder: Path) -> None:
    """Copy what git tracks or would track."""
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def method_names(root: Path) -> frozenset[str]:
    """Return the names of all methods: their cards."""
    return frozenset(path.stem for path in (root / "config" / "methods").glob("*.yaml"))


def verdicts(tasks: list[Task], jobs: int) -> Iterator[Verdict]:
    """Yield the verdict of each task, in order; each has a process of its own.

    The processes are forks of this one, which has imported what takes seconds and is never broken.
    """
    import fairseq.models.transformer  # noqa: F401
    import torch

    torch.set_num_threads(1)
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(_in_a_process, tasks)


def _in_a_process(task: Task) -> Verdict:
    # Not a multiprocessing.Pool: its processes may have no children, and some tests fork.
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(run(*task)))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return Verdict("the process of the tests died", 0, 0.0)
    finally:
        process.join()


def row(mutant: Mutant, verdict: Verdict) -> dict[str, str]:
    """Return a mutant's row of mutants.csv; its test is "survived" if none failed."""
    test, seconds = verdict.killer.removeprefix("tests/"), f"{verdict.seconds:.0f}"
    return dict(zip(COLUMNS, (*mutant.key, test, seconds), strict=True))


def read_results(path: Path = RESULTS) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the rows of mutants.csv by group, file and what is broken."""
    with path.open(encoding="utf-8", newline="") as stream:
        return {tuple(line[key] for key in COLUMNS[:3]): line for line in csv.DictReader(stream)}


def write_results(rows: Iterable[Mapping[str, str]], path: Path = RESULTS) -> None:
    """Write mutants.csv."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Run the mutants of some groups, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("groups", nargs="*", help="groups of mutants.yaml; none for all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--new", action="store_true", help="keep the rows that name a test")
    parser.add_argument("--check", action="store_true", help="only look for the texts")
    options = parser.parse_args()
    mutants = read()
    known = {mutant.group for mutant in mutants}
    if unknown := set(options.groups) - known:
        sys.exit(f"mutants: no group {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    if gone := problems(mutants):
        sys.exit("\n".join(["mutants: correct mutants.yaml:", *gone]))
    if options.check:
        return
    every, rows = mutants, {}
    if options.new:
        rows = {
            item.key: result
            for item in every
            if (result := read_results().get(item.key)) and result["test"] != SURVIVED
        }
    mutants = [
        item
        for item in every
        if item.key not in rows and (not options.groups or item.group in options.groups)
    ]
    groups = dict.fromkeys((mutant.group, mutant.tests) for mutant in mutants)
    for (group, _), verdict in zip(
        groups, verdicts([(None, *group) for group in groups], options.jobs), strict=True
    ):
        sys.stderr.write(f"{group}: {verdict.passed} tests pass in {verdict.seconds:.0f} s\n")
        if verdict.killer != SURVIVED or not verdict.passed:
            sys.exit(f"mutants: {verdict.killer} fails without a mutant; fix it first")
    open_ = 0
    tasks = [(mutant, mutant.group, mutant.tests) for mutant in mutants]
    for mutant, verdict in zip(mutants, verdicts(tasks, options.jobs), strict=True):
        rows[mutant.key] = row(mutant, verdict)
        open_ += verdict.killer == SURVIVED
        sys.stderr.write(f"{mutant.group} {mutant.breaks}: {verdict.killer}\n")
    if not options.groups:
        write_results(rows[item.key] for item in every)
    if open_:
        sys.exit(f"mutants: {open_} of {len(mutants)} are noticed by no test")


if __name__ == "__main__":
    main()
