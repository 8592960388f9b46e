"""What jobs ask a cluster for, and what a start or a plan says of it.

All of it follows from the run, the site and the plan, so that no option of a command line drops a
GPU. Of a time that is a range, the longest counts: it is the safe choice until it is measured.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

from fathom.config.demand import arithmetic_of, memory_of_run
from fathom.config.spec import Spec
from fathom.config.switches import Site
from fathom.io.errors import FathomError
from fathom.results.run_state import read_state
from fathom.workflow.plan import (
    DEFAULT,
    RULES,
    TRAIN,
    DeviceJob,
    Plan,
    free_space,
    gigabytes,
)
from fathom.workflow.targets import Targets

# A limit is this many times the longest expected time, and so many minutes more.
_MARGIN, _BEFORE = 1.5, 30
# Hours from which a training is in another group of the table.
_LENGTHS = (1, 24)
# GPU-hours that a start may ask for where the user names no number.
UNASKED = 100


@dataclass(frozen=True)
class Request:
    """What a job asks for."""

    gpus: int  # of all nodes
    nodes: int
    cores: int  # of each node, as many for each of its GPUs
    memory_mb: int  # of a node's first process
    minutes: int

    @property
    def resources(self) -> dict[str, int]:
        """The resources of its rule, by Snakemake's names."""
        # A command line may ask for other GPUs; each has its cores.
        cores = self.cores * self.nodes // self.gpus if self.gpus else 0
        devices = {"gpu": self.gpus, "nodes": self.nodes, "cpus_per_gpu": cores}
        return devices | {"mem_mb": self.memory_mb, "runtime": self.minutes}


def request(spec: Spec, rule: str, site: Site, hours: float, shared: int = 0) -> Request:
    """Return what a job of a run asks for.

    A training has the fewest GPUs of 1, 2, 4, … with which it takes `training_hours` at most. All
    other jobs have one.

    Args:
        hours: on one device, at most.
        shared: micro-batches of the run's updates, which its GPUs must share evenly; 0 for any.
    """
    gpus, nodes = 1, 1
    while (
        rule == TRAIN
        and hours / gpus > site.training_hours
        and 2 * gpus <= site.max_gpus
        and shared % (2 * gpus) == 0
    ):
        gpus *= 2
    while gpus > nodes * site.gpus_per_node:
        nodes *= 2
    return Request(
        gpus=gpus,
        nodes=nodes,
        cores=site.cores_per_gpu * gpus // nodes,
        memory_mb=memory_of_run(spec),
        minutes=min(site.longest_minutes, ceil(60 * _MARGIN * hours / gpus) + _BEFORE),
    )


@dataclass(frozen=True)
class Sizes:
    """The requests of the jobs of targets; on a workstation each has what it always had."""

    targets: Targets
    on_cluster: bool
    gpu: str | None = None  # of which times are expected, as of `Plan`
    # What the targets of this start lack, by file, and the runs of them.
    begun: dict[Path, DeviceJob] = field(default_factory=dict, compare=False)
    begun_runs: set[str] = field(default_factory=set, compare=False)

    @property
    def site(self) -> Site:
        """The cluster."""
        return self.targets.project.switches.site

    @cached_property
    def plan(self) -> Plan:
        """The expected times."""
        return Plan(self.targets, self.gpu)

    @cached_property
    def _built(self) -> dict[str, str]:
        """The names by which runs are asked for, by the run that is trained."""
        return {self.targets.spec(name).name: name for name in self.targets.built}

    def of(self, spec: Spec, rule: str, seed: int) -> Request:
        """Return what a job of a run and seed asks for."""
        if not self.on_cluster:
            memory = memory_of_run(spec)
            return Request(self.targets.gpus, 1, 1, memory, self.site.longest_minutes)
        longest = self.plan.seconds(rule, self._built[spec.name], seed)[1] / 3600
        if not self.targets.gpus:
            site = self.site.model_copy(update={"max_gpus": 1})
            return replace(request(spec, rule, site, longest), gpus=0, cores=1)
        shared = self.targets.project.switches.micro_batches
        if not shared and (state := read_state(self.targets.paths.run(spec, seed))):
            shared = state.micro_batches
        return request(spec, rule, self.site, longest, shared)

    def gpus_of(self, job: DeviceJob) -> int:
        """Return the GPUs that a planned job asks for, or 1 for its core."""
        return self.of(self.targets.spec(self._built[job.run]), job.rule, job.seed).gpus or 1

    def hours_each(self, job: DeviceJob) -> tuple[float, float]:
        """Return the hours that a planned job has left on its GPUs, at best and at most."""
        best, most = job.hours_left
        return best / self.gpus_of(job), most / self.gpus_of(job)

    def missing(self, target: str) -> dict[Path, DeviceJob]:
        """Return the jobs of networks whose file a target lacks, in whole or part, by the file."""
        jobs = self.plan.jobs(target) if self.on_cluster else ()
        return {job.path: job for job in jobs if job.left}

    def table(self, target: str) -> list[dict[str, Any]]:
        """Return what a target asks of a cluster: the jobs of each rule, trainings by their length.

        Hours are those that are left, at best and at most.
        """
        groups: dict[tuple[int, int, int], list[DeviceJob]] = {}
        for job in self.missing(target).values():
            longest = self.hours_each(job)[1] if job.rule == TRAIN else 0
            length = sum(longest >= hours for hours in _LENGTHS)
            groups.setdefault((RULES.index(job.rule), length, self.gpus_of(job)), []).append(job)
        return [
            {
                "rule": RULES[rule],
                "jobs": len(jobs),
                "gpus": gpus,
                "hours_each": [
                    min(job.hours_left[0] for job in jobs) / gpus,
                    max(job.hours_left[1] for job in jobs) / gpus,
                ],
                "gpu_hours": hours_of(jobs),
            }
            for (rule, _, gpus), jobs in sorted(groups.items())
        ]

    def lines(self, target: str) -> Iterator[str]:
        """Yield what a user must know before a start: jobs, GPU-hours, disk, downloads."""
        if jobs := self.missing(target).values():
            unit = self._unit
            yield f"jobs on {unit}s, expected on {self._expected_on(jobs)}:"
            for each in self.table(target):
                yield (
                    f"{each['jobs']:7,} {each['rule']:18}  {each['gpus']} {unit}"
                    f"{'s' * (each['gpus'] > 1):1}  {between(each['hours_each']):>14} h each"
                    f"  {between(each['gpu_hours']):>14} {unit}-hours"
                )
            spent = hours_of(jobs)
            refused = self.targets.ready_only and spent[1] > self.limit
            needs = f": a start needs {self._key(spent)}" if refused else ""
            yield f"  in all {between(spent)} {unit}-hours{needs}"
        if runs := self.targets.names_of(target):
            yield self.plan.disk(runs)
            yield from self.plan.fetched(runs)

    def hours(self, target: str) -> Iterator[str]:
        """Yield how long a start on this machine is expected to compute, where that is known."""
        with suppress(FathomError):  # updates in epochs of a text that nobody has counted
            if jobs := [job for job in self.plan.jobs(target) if job.left]:
                spent = between(hours_of(jobs))
                yield f"expected: {spent} {self._unit}-hours on {self._expected_on(jobs)}"

    def refuse_hours(self, target: str) -> None:
        """Refuse a start whose targets lack more hours than the user allows.

        Raises:
            FathomError: If they may; it names the key to write, and a table that is allowed.
        """
        self.begun.update(self.missing(target))
        hours = hours_of(self.begun.values())
        if hours[1] <= self.limit:
            return
        trainings = sum(each.rule == TRAIN for each in self.begun.values())
        which = f"{trainings} trainings, {self._expected_on(self.begun.values())}"
        asked = f"{between(hours)} {self._unit}-hours ({which})"
        what = f"{target} asks for {asked}, more than {self.limit}"
        remedy = f"write {self._key(hours)}{self._smaller(target)}"
        raise FathomError(what, "gpu_hours", remedy)

    def refuse_disk(self, target: str) -> None:
        """Refuse a start on a cluster whose targets write more than the disk has free.

        Raises:
            FathomError: If they do; it names what takes most, and how to go on.
        """
        if not (self.on_cluster and self.targets.project.switches.check_disk):
            return
        self.begun_runs.update(self.targets.names_of(target))
        sizes, results = self.plan.written(self.begun_runs), self.targets.paths.results
        free = free_space(results)
        if sizes.total() <= free:
            return
        [(most, of_it)] = sizes.most_common(1)
        what = (
            f"the trainings of {target} write {gigabytes(sizes.total())}, and {gigabytes(free)} "
            f"are free; {most} alone takes {gigabytes(of_it)}"
        )
        remedy = "make room (`fathom clean` lists what can go), or name a folder on another disk as"
        remedy += " `results`; without this check: --config check_disk=false"
        raise FathomError(what, str(results), remedy)

    @property
    def _unit(self) -> str:
        return "core" if self.gpu == "cpu" else "GPU"

    @property
    def limit(self) -> int:
        """The most GPU-hours of a start, or core-hours of one without GPUs."""
        return self.targets.project.switches.gpu_hours or UNASKED

    def _key(self, hours: tuple[float, float]) -> str:
        """Return what a user writes for so many hours, and where."""
        step = 10 ** max(len(str(int(hours[1]))) - 2, 0)
        place = self.targets.project.given.at(("site",)).file
        return f"gpu_hours: {step * ceil(hours[1] / step)} into {place}"

    def _smaller(self, target: str) -> str:
        """Return the words that name the cheapest table that is allowed."""
        costs = {
            name: hours_of(self.missing(name).values())
            for name in self.targets.tables
            if name not in self.targets.artefacts_not_built
            and self.targets.has_part(target, self.targets.artefacts[name])
        }
        allowed = {name: hours for name, hours in costs.items() if 0 < hours[1] <= self.limit}
        if not allowed:
            return ""
        name = min(allowed, key=lambda name: allowed[name][1])
        return f", or begin with {name} ({between(allowed[name])} {self._unit}-hours)"

    def _expected_on(self, jobs: Iterable[DeviceJob]) -> str:
        """Return the device and arithmetic of which the hours of jobs are expected, and by what."""
        tf32 = self.targets.project.switches.matmul == "tf32"
        specs = (self.targets.spec(name) for name in {self._built[job.run] for job in jobs})
        used = {arithmetic_of(spec, tf32) for spec in specs}
        measured = len(self.plan.measured)
        by = f"by {measured} trainings here" if measured else "not measured"
        return f"{self.gpu or DEFAULT}, {', '.join(sorted(used))}; {by}"


def hours_of(jobs: Iterable[DeviceJob]) -> tuple[float, float]:
    """Return the hours on one device that jobs have left together, at best and at most."""
    hours = [job.hours_left for job in jobs]
    return sum(best for best, _ in hours), sum(most for _, most in hours)


def between(hours: Iterable[float]) -> str:
    """Return hours at best and at most, once where they are alike, with two digits that count."""
    return " to ".join(dict.fromkeys(map(_shown, hours)))


def _shown(number: float) -> str:
    if number < 0.1:
        return "<0.1"
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"
