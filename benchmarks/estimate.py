"""What all tables and figures of the papers would cost at the tiny scale: an estimate.

    python -m benchmarks.estimate [--results results]

Every network that they ask for makes a few updates on the text of one data set, dealt over as many
languages as its own has. Runs with equal networks are measured once. The rest follows from the
numbers of `benchmarks.peer` and of two constants below.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch

from benchmarks.growth.languages import Dealt
from benchmarks.peer.contenders import OURS
from benchmarks.peer.results import Cell, Table, all_numbers, described, machine, markdown
from benchmarks.peer.start_up import OURS as START
from benchmarks.peer.timing import alternate, clock, spread, timed
from benchmarks.peer.workload import SCALE, Workload
from fathom.artefacts.needs import Needs
from fathom.config.spec import Spec
from fathom.io.files import read_json, write_json
from fathom.train.environment import choose_device

ROUNDS, WARM_UP = 3, 1
# User seconds of a job besides its own work (Snakemake and the start of a command), and jobs of a
# run: train, translate, score and summarise.
JOB, JOBS = 0.5, 4
# Translations for the best window of checkpoints, where a run asks for one.
WINDOW = 6
# Cores, and the share of their time in which the workflow keeps them busy.
CORES, BUSY = 2, 0.95
COLUMNS = ("group", "runs", "updates", "ms an update, mean", "training, s")


@dataclass(frozen=True)
class Cost:
    """What one run costs.

    Attributes:
        group: paper and architecture.
        updates: of the run.
        seconds: of an update.
    """

    group: str
    updates: int
    seconds: float


def updates_of(spec: Spec) -> int:
    """Return the updates of a run; the tiny scale counts none in epochs."""
    return int(spec.training.updates)


def measured(results: Path, specs: Iterable[Spec]) -> list[Cost]:
    """Return the cost of each run; equal networks with equal batches are measured once."""

    @cache
    def text(languages: int, longest: int | None) -> Dealt:
        return Dealt(results, torch.device("cpu"), languages, longest)

    seconds: dict[tuple, float] = {}
    costs = []
    for spec in specs:
        training = spec.training
        key = repr((spec.model, spec.method, training.batch, len(spec.data.tasks)))
        if key not in seconds:
            # A block begins with a symbol of its own.
            longest = None if spec.model.block is None else spec.model.block - 1
            seconds[key] = _seconds(text(len(spec.data.tasks), longest), spec)
        group = f"{spec.paper}, {spec.model.architecture}"
        costs.append(Cost(group, updates_of(spec), seconds[key]))
    return costs


def _seconds(workload: Dealt, spec: Spec) -> float:
    """Return the median seconds of an update of a run, on the text of another data set.

    That text has two dictionaries, so a network that ties all its tables ties those of the decoder.
    """
    tied = spec.model.tie_embeddings
    model = spec.model.model_copy(update={"tie_embeddings": "decoder" if tied == "all" else tied})
    training = workload.training(replace(spec, model=model, start=None))
    batches = workload.updates(training, ROUNDS + WARM_UP)
    update = timed(
        clock(workload.device),
        lambda number: training.two_level.update(number, batches[number - 1]),
    )
    return spread(alternate({"": update}, ROUNDS, WARM_UP)[""]).middle


def table(costs: Sequence[Cost], translations: int, numbers: Mapping[str, float]) -> Table:
    """Return the costs by group, and the sum with everything besides training.

    Args:
        costs: of all runs.
        translations: of the test sentences of a data set.
        numbers: of `benchmarks.peer`.
    """
    groups: dict[str, list[Cost]] = {}
    for cost in costs:
        groups.setdefault(cost.group, []).append(cost)
    rows: list[list[Cell]] = []
    for group, own in sorted(groups.items()):
        total = sum(cost.updates * cost.seconds for cost in own)
        mean = 1000 * sum(cost.seconds for cost in own) / len(own)
        rows.append([group, len(own), sum(cost.updates for cost in own), mean, total])
    sets = numbers[f"translation.beam_5.{OURS}.sets_per_second"]
    parts = {
        "starts of trainings": len(costs) * numbers[f"first_update.{START}"],
        f"{translations} translations": translations / sets,
        "starts of translations": len(costs) * numbers[f"first_update.{START}"],
        f"{JOBS * len(costs)} jobs": JOBS * len(costs) * JOB,
    }
    rows += [[name, None, None, None, seconds] for name, seconds in parts.items()]
    total = sum(float(row[-1] or 0) for row in rows)
    minutes = total / CORES / BUSY / 60
    rows.append([f"all: {minutes:.0f} minutes on two cores", len(costs), None, None, total])
    title = "All tables and figures at the tiny scale, one seed: CPU seconds, estimated"
    return Table("estimate", title, COLUMNS, rows, {"estimate.minutes": minutes})


def asked(needs: Needs) -> tuple[list[Spec], int]:
    """Return the runs that all tables and figures ask for, and the translations of all of them."""
    names = dict.fromkeys(run for item in needs.artefacts.values() for run in item.runs)
    specs = [needs.project.spec(name, SCALE) for name in names]
    windows = [spec for spec in specs if spec.decoding is not None and spec.decoding.window]
    translations = sum(len(needs.decodings(name)) for name in names)
    return specs, translations + WINDOW * len(windows)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"), help="where the text is")
    parser.add_argument("--out", type=Path, help="a folder for the table; else <results>/bench")
    given = parser.parse_args()
    workload = Workload(given.results.absolute(), choose_device("cpu"))
    facts = machine(workload.device)
    workload.prepare()
    out = given.out or workload.results / "bench"
    rates = read_json(out / "cpu.json", "run `make bench` first")
    specs, translations = asked(Needs(workload.project, SCALE))
    numbers = all_numbers([Table(**values) for values in rates["tables"]])
    made = table(measured(workload.results, specs), translations, numbers)
    write_json(out / "estimate.json", {"facts": facts, "tables": [vars(made)]})
    sys.stdout.write(f"{markdown(made)}\n{described(facts)}\n")


if __name__ == "__main__":
    main()
