"""What the jobs of a run ask a cluster for: GPUs, nodes, cores, memory and time.

All of it follows from the run and the site, so that no option of a command line drops a GPU.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from pathlib import Path

from fathom.config.demand import arithmetic_of, memory_of_run
from fathom.config.spec import Spec
from fathom.config.switches import Site
from fathom.io.errors import FathomError
from fathom.results.run_state import read_state
from fathom.workflow.plan import TRAIN, Plan
from fathom.workflow.targets import ALL, Targets

# Seconds of a run's job of a rule on one device.
Rates = Callable[[Spec, str], float]
# A limit is this many times the expected time, and so many minutes more for what comes before.
_MARGIN, _BEFORE = 1.5, 30
# GPU-hours that a start may ask for where the user names no number.
UNASKED = 100


@dataclass(frozen=True)
class Request:
    """What a job asks for."""

    gpus: int  # of all nodes
    nodes: int
    cores: int  # of each node
    memory_mb: int  # of a node's first process
    minutes: int
    hours: float  # that it is expected to take
    rule: str

    @property
    def resources(self) -> dict[str, int]:
        """The resources of its rule, by Snakemake's names."""
        memory = {"mem_mb": self.memory_mb, "runtime": self.minutes}
        return {"gpu": self.gpus, "nodes": self.nodes} | memory

    @property
    def gpu_hours(self) -> float:
        """The GPU-hours that it is expected to take."""
        return self.gpus * self.hours


def request(spec: Spec, rule: str, site: Site, rates: Rates, shared: int = 0) -> Request:
    """Return what a job of a run asks for.

    A training has the fewest GPUs of 1, 2, 4, … with which it takes `training_hours` at most. All
    other jobs have one.

    Args:
        shared: micro-batches of the run's updates, which its GPUs must share evenly; 0 for any.
    """
    hours, gpus, nodes = rates(spec, rule) / 3600, 1, 1
    while (
        rule == TRAIN
        and hours / gpus > site.training_hours
        and 2 * gpus <= site.max_gpus
        and shared % (2 * gpus) == 0
    ):
        gpus *= 2
    while gpus > nodes * site.gpus_per_node:
        nodes *= 2
    hours, on_node = hours / gpus, gpus // nodes
    return Request(
        gpus=gpus,
        nodes=nodes,
        cores=site.cores_per_gpu * on_node,
        memory_mb=memory_of_run(spec),
        minutes=min(site.longest_minutes, ceil(60 * _MARGIN * hours) + _BEFORE),
        hours=hours,
        rule=rule,
    )


@dataclass(frozen=True)
class Sizes:
    """The requests of the jobs of targets; on a workstation each has what it always had."""

    targets: Targets
    on_cluster: bool
    # What the targets of this start lack, by file.
    begun: dict[Path, Request] = field(default_factory=dict, compare=False)

    @property
    def site(self) -> Site:
        """The cluster."""
        return self.targets.project.switches.site

    def of(self, spec: Spec, rule: str, seed: int) -> Request:
        """Return what a job of a run and seed asks for."""
        gpus = self.targets.gpus
        if not self.on_cluster:
            memory, minutes = memory_of_run(spec), self.site.longest_minutes
            return Request(gpus, 1, 1, memory, minutes, hours=0.0, rule=rule)
        if not gpus:
            site = self.site.model_copy(update={"max_gpus": 1})
            return replace(request(spec, rule, site, self._seconds), gpus=0, cores=1)
        shared = self.targets.project.switches.micro_batches
        if not shared and (state := read_state(self.targets.paths.run(spec, seed))):
            shared = state.micro_batches
        return request(spec, rule, self.site, self._seconds, shared)

    def missing(self, target: str) -> dict[Path, Request]:
        """Return the requests of the GPU jobs whose file a target lacks, by the file."""
        trainings = self._plan.trainings(self.targets.names_of(target)).values()
        jobs = [*(each.job for each in trainings), *self._plan.others(target)]
        return {
            job.path: self.of(self.targets.spec(self._built[job.run]), job.rule, job.seed)
            for job in jobs
            if not job.path.exists()
        }

    def table(self, target: str) -> list[str]:
        """Return the requests of what a target lacks as lines, without a cluster none."""
        requests = self.missing(target) if self.on_cluster and self.targets.gpus else {}
        groups: dict[tuple[str, int], list[Request]] = {}
        for each in requests.values():
            groups.setdefault((each.rule, each.gpus), []).append(each)
        lines = []
        for (rule, gpus), each in groups.items():
            hours = [shown(bound(one.hours for one in each)) for bound in (min, max)]
            spent = shown(sum(one.gpu_hours for one in each))
            words = f"{len(each):7,} {rule:18}  {gpus} GPU{'s' * (gpus > 1):1}"
            lines.append(f"{words}  {' to '.join(dict.fromkeys(hours)):>12} h each")
            lines[-1] += f"  {spent:>6} GPU-hours"
        if not lines:
            return []
        if (spent := sum(each.gpu_hours for each in requests.values())) > self.limit:
            lines.append(f"  {shown(spent)} GPU-hours: a start needs {self._key(spent)}")
        return [f"fathom: jobs on GPUs, expected on {self.expected_on}:", *lines]

    def refuse_hours(self, target: str) -> None:
        """Refuse a start whose targets lack more GPU-hours than the user allows.

        Raises:
            FathomError: If they do; it names the key to write, and a table that is allowed.
        """
        if not self.on_cluster:
            return
        self.begun.update(self.missing(target))
        hours = sum(each.gpu_hours for each in self.begun.values())
        if hours <= self.limit:
            return
        trainings = sum(each.rule == TRAIN for each in self.begun.values())
        what = f"{target} asks for {shown(hours)} GPU-hours"
        what += f" ({trainings} trainings, {self.expected_on}), more than {self.limit}"
        remedy = f"write {self._key(hours)}{self._smaller(target)}"
        raise FathomError(what, "gpu_hours", remedy)

    @property
    def limit(self) -> int:
        """The most GPU-hours of a start."""
        return self.targets.project.switches.gpu_hours or UNASKED

    def _key(self, hours: float) -> str:
        """Return what a user writes for so many hours, and where."""
        step = 10 ** max(len(str(int(hours))) - 2, 0)
        place = self.targets.given.at(("site",)).file
        return f"gpu_hours: {step * ceil(hours / step)} into {place}"

    def _smaller(self, target: str) -> str:
        """Return the words that name the cheapest table of a target that is allowed."""
        papers = [name for name in self.targets.project.papers if target in (ALL, name)]
        tables = [
            name
            for name in self.targets.tables
            if name not in self.targets.artefacts_not_built
            and self.targets.artefacts[name].paper.name in papers
        ]
        costs = {
            name: sum(each.gpu_hours for each in self.missing(name).values()) for name in tables
        }
        allowed = {name: hours for name, hours in costs.items() if 0 < hours <= self.limit}
        if not allowed:
            return ""
        name = min(allowed, key=allowed.__getitem__)
        return f", or begin with {name} ({shown(allowed[name])} GPU-hours)"

    @property
    def expected_on(self) -> str:
        """The device and arithmetic of which hours are expected, and by what."""
        tf32 = self.targets.project.switches.matmul == "tf32"
        used = {arithmetic_of(self.targets.spec(name), tf32) for name in self.targets.built}
        measured = len(self._plan.measured)
        by = f"by {measured} trainings here" if measured else "not measured"
        return f"{self.site.gpu}, {', '.join(sorted(used))}; {by}"

    # Times

    @cached_property
    def _plan(self) -> Plan:
        return Plan(self.targets, self.site.gpu if self.targets.gpus else "cpu")

    @cached_property
    def _built(self) -> dict[str, str]:
        """The names by which runs are asked for, by the run that is trained."""
        return {self.targets.spec(name).name: name for name in self.targets.built}

    def _seconds(self, spec: Spec, rule: str) -> float:
        """Return how long a job is expected to take on one device, of all seeds at most."""
        name = self._built[spec.name]
        if rule != TRAIN:
            return self._plan.seconds_after(rule, name)
        planned = self._plan.trainings([name])
        return max(each.job.seconds for (run, _), each in planned.items() if run == spec.name)


def shown(number: float) -> str:
    """Return a number of hours with two digits that count."""
    if number < 0.1:
        return "<0.1"
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
