"""One point of a curve of training, in a process of its own, so that its memory is its own too.

python -m benchmarks.growth.point <json>
"""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch

from benchmarks.growth.languages import Dealt
from benchmarks.peer import contenders
from benchmarks.peer.contenders import Job
from benchmarks.peer.resident import resident
from benchmarks.peer.timing import alternate, clock, spread, timed
from benchmarks.peer.workload import ROOT, STATIC, Shape
from fathom.config.schema.run import BatchSettings

ROUNDS, WARM_UP, POOL = 3, 2, 8


@dataclass(frozen=True)
class Point:
    """What is measured.

    Attributes:
        results: the folder of results, whose text is used.
        contender: by its name in tables.
        run: the run whose method it is.
        layers: of encoder and decoder.
        tokens: target tokens of an update.
        languages: the tasks over which the text is dealt.
        device: where the networks are.
    """

    results: str
    contender: str
    run: str = STATIC
    layers: tuple[int, int] = (6, 6)
    tokens: int = 1024
    languages: int = 8
    device: str = "cpu"

    def measured(self) -> tuple[float, float]:
        """Return ms an update and peak MB, from a process of its own."""
        command = [sys.executable, "-m", "benchmarks.growth.point", json.dumps(asdict(self))]
        done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        milliseconds, megabytes = done.stdout.split()[-2:]
        return float(milliseconds), float(megabytes)


def main() -> None:
    """Measure the point of the command line."""
    values = json.loads(sys.argv[1])
    point = Point(**values | {"layers": tuple(values["layers"])})
    torch.set_num_threads(1)
    device = torch.device(point.device)
    workload = Dealt(Path(point.results), device, point.languages)
    spec = workload.spec(Shape("point", point.run, point.layers))
    batch = BatchSettings(tokens=point.tokens, per="update", pool=POOL)
    training = spec.training.model_copy(update={"batch": batch})
    spec = replace(spec, training=training)
    batches = workload.updates(workload.training(spec), ROUNDS + WARM_UP)
    job = Job(workload, spec, batches)
    before = resident()
    update = contenders.named(job, point.contender)
    seconds = alternate({"": timed(clock(device), update)}, ROUNDS, WARM_UP)[""]
    cuda = device.type == "cuda"
    taken = torch.cuda.max_memory_allocated() / 2**20 if cuda else resident() - before
    sys.stdout.write(f"{1000 * spread(seconds).middle:.3f} {taken:.1f}\n")


if __name__ == "__main__":
    main()
