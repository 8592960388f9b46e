"""The benchmark: ours and the peers in turns, on the same text, shapes and tokens.

    python -m benchmarks.peer [--device cpu|cuda] [--results results] [--rounds 10] [part …]

It prints the machine and its tables as Markdown; docs/performance.md has such tables. It never
fails for being slow.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.peer import operations, training, translation
from benchmarks.peer.results import Table, described, machine, markdown
from benchmarks.peer.training import Rounds
from benchmarks.peer.workload import Workload
from fathom.train.environment import choose_device
from fathom.workflow.setup import ALLOCATOR

WARM_UP = 3
Part = Callable[[Workload, Rounds], Iterator[Table]]


def of_training(workload: Workload, rounds: Rounds) -> Iterator[Table]:
    """Yield tokens a second of all shapes."""
    for shape in workload.static_shapes:
        yield training.static(workload, shape, rounds)
    for shape in workload.method_shapes:
        yield training.of_method(workload, shape, rounds)
    for stack in ("encoder", "decoder"):
        yield training.latent_example(workload, stack, rounds)


def of_translation(workload: Workload, rounds: Rounds) -> Iterator[Table]:
    """Yield sentences a second of the first static shape, with a beam and without."""
    spec = workload.spec(workload.static_shapes[0])
    network = translation.trained(workload, spec)
    for beam in (5, 1):
        yield translation.table(workload, network, spec, beam, max(rounds.counted // 3, 1))


def of_operations(workload: Workload, rounds: Rounds) -> Iterator[Table]:
    """Yield operations by layer, which are the same in each round."""
    yield operations.table(workload)


PARTS: dict[str, Part] = {
    "training": of_training,
    "operations": of_operations,
    "translation": of_translation,
}


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}, or all")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where the text is")
    parser.add_argument("--rounds", type=int, default=10, help="rounds whose medians are taken")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part '{min(unknown)}'; there are {', '.join(PARTS)}")
    return given


def main() -> None:
    """Measure and print."""
    given = arguments()
    if not ALLOCATOR.items() <= os.environ.items():
        # As the workflow starts its jobs; all contenders and all their processes get the same.
        command = [sys.executable, "-m", "benchmarks.peer", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | ALLOCATOR)
    workload = Workload(given.results.absolute(), choose_device(given.device))
    workload.prepare()
    rounds, began = Rounds(given.rounds, WARM_UP), time.monotonic()
    sys.stdout.write(f"{described(machine(workload.device))} {given.rounds} rounds.\n\n")
    for name in given.parts or PARTS:
        for table in PARTS[name](workload, rounds):
            sys.stdout.write(f"{markdown(table)}\n")
            sys.stdout.flush()
    sys.stderr.write(f"bench: {(time.monotonic() - began) / 60:.1f} minutes\n")


if __name__ == "__main__":
    main()
