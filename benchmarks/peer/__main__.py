"""The benchmark: ours and the peers in turns, on the same text, shapes and tokens.

    python -m benchmarks.peer [--device cpu|cuda] [--results results] [--rounds 10] [part …]

It prints tables, and writes them with all numbers to <results>/bench/<device>.json and .md. It
never fails for being slow.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peer import goals, learning, operations, products, start_up, training, translation
from benchmarks.peer.results import Table, all_numbers, described, machine, markdown
from benchmarks.peer.training import Rounds
from benchmarks.peer.workload import Workload
from fathom.io.files import write_json, write_text
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


def of_learning(workload: Workload, rounds: Rounds) -> Iterator[Table]:
    """Yield the time to the peers' NLL, and the translations of the network that this trained."""
    limit = learning.LIMIT
    ours, peers, network = learning.trained(workload, limit)
    yield learning.table(workload, ours, peers, limit)
    spec = workload.spec(workload.static_shapes[0])
    for beam in (5, 1):
        yield translation.table(workload, network, spec, beam, max(rounds.counted // 3, 1))


def of_start_up(workload: Workload, rounds: Rounds) -> Iterator[Table]:
    """Yield the time to the first update."""
    yield start_up.table(workload, max(rounds.counted // 2, 1))


def of_operations(workload: Workload, rounds: Rounds) -> Iterator[Table]:
    """Yield operations, and the share of matrix products."""
    yield operations.table(workload)
    yield products.table(workload, rounds)


PARTS: dict[str, Part] = {
    "training": of_training,
    "operations": of_operations,
    "learning": of_learning,
    "start_up": of_start_up,
}


def write(stem: Path, facts: Mapping[str, Any], tables: Sequence[Table]) -> None:
    """Write tables and numbers as JSON and as Markdown.

    Args:
        stem: of both files, without their endings.
        facts: machine and versions.
        tables: all of them.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    content = {"facts": facts, "tables": [vars(table) for table in tables]}
    text = [f"{described(facts)}\n", *(markdown(table) for table in tables)]
    write_text(stem.with_suffix(".md"), "\n".join(text))
    write_json(stem.with_suffix(".json"), content)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}, or all")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where the text is")
    parser.add_argument("--out", type=Path, help="a folder for the tables; else <results>/bench")
    parser.add_argument("--rounds", type=int, default=10, help="rounds whose medians are taken")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part '{min(unknown)}'; there are {', '.join(PARTS)}")
    return given


def main() -> None:
    """Measure, print and write."""
    given = arguments()
    if not ALLOCATOR.items() <= os.environ.items():
        # As the workflow starts its jobs; all contenders and all their processes get the same.
        command = [sys.executable, "-m", "benchmarks.peer", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | ALLOCATOR)
    workload = Workload(given.results.absolute(), choose_device(given.device))
    facts = machine(workload.device) | {"allocator": ALLOCATOR, "rounds": given.rounds}
    workload.prepare()
    tables: list[Table] = []
    rounds, began = Rounds(given.rounds, WARM_UP), time.monotonic()
    for name in given.parts or PARTS:
        for table in PARTS[name](workload, rounds):
            tables.append(table)
            sys.stdout.write(f"{markdown(table)}\n")
            sys.stdout.flush()
    if workload.device.type == "cpu":
        tables.append(goals.table({"reached": all_numbers(tables)}))
        sys.stdout.write(f"{markdown(tables[-1])}\n")
    facts |= {"minutes": round((time.monotonic() - began) / 60, 1)}
    out = given.out or workload.results / "bench"
    write(out / workload.device.type, facts, tables)
    sys.stdout.write(f"{described(facts)}\n{facts['minutes']} minutes; tables: {out}\n")


if __name__ == "__main__":
    main()
