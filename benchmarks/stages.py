"""Where the time of finished jobs went: seconds by rule and kind of network.

    python -m benchmarks.stages [--results results]

Snakemake records when the job of each file began and ended; nothing is measured again. Of a job
that ran several times the last time counts.
"""

import argparse
import json
import re
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peer.results import Cell, Table, described, machine, markdown
from benchmarks.peer.workload import SCALE
from fathom.cli.options import open_project
from fathom.config.project import Project
from fathom.io.errors import FathomError
from fathom.io.files import write_json
from fathom.train.environment import choose_device

COLUMNS = ("rule", "kind of network", "jobs", "seconds a job", "seconds", "share, %")
# What a job's file belongs to if it is not in the folder of a run.
NO_RUN = "–"
RUN = re.compile(r"(?:^|/)runs/([^/]+/[^/]+)/")


@dataclass(frozen=True)
class Job:
    """One job that has ended.

    Attributes:
        rule: of the workflow.
        began: as Snakemake has it, in seconds since 1970; with the rule, it names the job.
        ended: the same.
        output: one of its files.
    """

    rule: str
    began: float
    ended: float
    output: str

    @property
    def seconds(self) -> float:
        """The time from its start to its end."""
        return self.ended - self.began


def jobs(metadata: Path) -> Iterator[Job]:
    """Yield each finished job once, from the records of a working directory.

    Args:
        metadata: the folder `.snakemake/metadata`: a record for each file, named by its path.
    """
    seen = set()
    for path in sorted(path for path in metadata.rglob("*") if path.is_file()):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["incomplete"] or not record["endtime"]:
            continue
        # A long name is split into folders, whose names begin with @.
        name = "".join(part.removeprefix("@") for part in path.relative_to(metadata).parts)
        job = Job(record["rule"], record["starttime"], record["endtime"], b64decode(name).decode())
        if (job.rule, job.began) not in seen:
            seen.add((job.rule, job.began))
            yield job


def table(done: Iterable[Job], kinds: Mapping[str, str]) -> Table:
    """Return the seconds of jobs by rule and kind of network, the longest first.

    Args:
        done: jobs.
        kinds: the kind of network of each run, by paper and folder of the run.
    """
    counts: Counter[tuple[str, str]] = Counter()
    seconds: Counter[tuple[str, str]] = Counter()
    for job in done:
        run = RUN.search(job.output)
        kind = kinds.get(run[1], NO_RUN) if run else NO_RUN
        counts[job.rule, kind] += 1
        seconds[job.rule, kind] += job.seconds
    total = seconds.total()
    rows: list[list[Cell]] = [
        [*key, counts[key], spent / counts[key], spent, 100 * spent / total]
        for key, spent in seconds.most_common()
    ]
    rows.append(["all", NO_RUN, counts.total(), total / counts.total(), total, 100.0])
    title = "Seconds of jobs, from the start of a job to its end, while others ran"
    return Table("stages", title, COLUMNS, rows, {"stages.seconds": total})


def kinds_of_runs(project: Project, scale: str) -> dict[str, str]:
    """Return paper and kind of network of each run, by paper and folder of the run."""
    specs = [project.spec(name, scale) for name in project.entries]
    return {
        f"{spec.paper}/{spec.folder}": f"{spec.paper}, {spec.model.architecture}" for spec in specs
    }


def main() -> None:
    """Read, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=Path("results"))
    results = parser.parse_args().results
    metadata = Path(".snakemake") / "metadata"
    if not metadata.is_dir():
        raise FathomError("no jobs have ended here", str(metadata), "make reproduce-all")
    facts = machine(choose_device("cpu"))
    made = table(jobs(metadata), kinds_of_runs(open_project(), SCALE))
    write_json(results / "bench" / "stages.json", {"facts": facts, "tables": [vars(made)]})
    sys.stdout.write(f"{markdown(made)}\n{described(facts)}\n")


if __name__ == "__main__":
    main()
