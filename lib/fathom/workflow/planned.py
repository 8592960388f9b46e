"""The trainings of a target with their costs: how far they are, and how long they will take."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from fathom.config.schema.dataset import BuiltDataset
from fathom.config.schema.source import Source
from fathom.config.spec import Spec
from fathom.config.tables import Table
from fathom.results.run_state import RunState, run_state
from fathom.workflow.costs import Cost, Rates, cost, measured_seconds, peak_of
from fathom.workflow.targets import ALL, ROW, Targets

DEFAULT = "h200"


@dataclass(frozen=True)
class Planned:
    """One training, run and seed.

    Attributes:
        spec: the run.
        cost: of all its updates.
        state: how far it is.
        seconds: of all its updates, measured or expected.
    """

    spec: Spec
    cost: Cost
    state: RunState
    seconds: float

    @property
    def left(self) -> float:
        """The share that is not made yet."""
        made = self.cost.updates if self.state.ended else self.state.update or 0
        return max(0.0, 1 - made / self.cost.updates)


class Plan:
    """The trainings of targets, with their costs."""

    def __init__(self, targets: Targets, gpu: str | None):
        """Compute nothing yet.

        Args:
            targets: everything that can be asked for at a scale.
            gpu: the device that a user names; None for the default, and all that was measured.
        """
        self.targets, self._gpu = targets, gpu
        self._specs = {name: targets.runs.spec(name) for name in targets.runs.built}
        self._costs = {name: cost(spec, self._lines(spec)) for name, spec in self._specs.items()}

    @cached_property
    def rates(self) -> Rates:
        """The seconds of trainings: stated ones, until some are measured."""
        peak = peak_of(self._gpu or DEFAULT)
        measured = self._measured.items()
        return Rates(peak, ((self._specs[name], self._costs[name], s) for (name, _), s in measured))

    @cached_property
    def _measured(self) -> dict[tuple[str, int], float]:
        """The seconds of an update of each training that has made enough of them.

        Where a device is named, only those that ended on such a one.
        """
        seconds = {
            (name, seed): measured_seconds(self.targets.paths.run(spec, seed), self._gpu)
            for name, spec in self._specs.items()
            for seed in self.targets.runs.seeds(name)
        }
        return {key: value for key, value in seconds.items() if value is not None}

    def trainings(self, names: Iterable[str]) -> dict[tuple[str, int], Planned]:
        """Return the trainings of runs and of those that they start from, by run and seed."""
        planned = {}
        for name in self._with_starts(names):
            spec, known = self._specs[name], self._costs[name]
            for seed in self.targets.runs.seeds(name):
                own = self._measured.get((name, seed))
                seconds = own * known.updates if own else self.rates.seconds(spec, known)
                state = run_state(self.targets.paths.run(spec, seed))
                planned[name, seed] = Planned(spec, known, state, seconds)
        return planned

    def _with_starts(self, names: Iterable[str]) -> list[str]:
        """Return runs, each after the run that it starts from."""
        start = self.targets.project.start_name
        pairs = ((start(name), name) for name in names)
        return list(dict.fromkeys(name for pair in pairs for name in pair if name is not None))

    def groups(self, target: str, by_table: bool) -> dict[str, list[str]]:
        """Return the runs of a target by paper, or by table and figure."""
        names = self.targets.names_of(target)
        if not by_table:
            papers = dict.fromkeys(self._specs[name].paper for name in names)
            return {
                paper: [name for name in names if self._specs[name].paper == paper]
                for paper in papers
            }
        requested = {*names}
        groups = {}
        for title, artefact in self.targets.artefacts.items():
            own = [name for name in artefact.runs if name in requested]
            if own and target in (ALL, artefact.paper.name, title, f"{title}{ROW}"):
                groups[title] = own
        return groups

    def downloads(self, names: Iterable[str]) -> list[Source]:
        """Return the sources that runs need and that are not there."""
        project, paths = self.targets.project, self.targets.paths
        missing = {}
        for name in names:
            dataset = project.datasets[self._specs[name].data.dataset]
            for source in dataset.sources if isinstance(dataset, BuiltDataset) else ():
                if not (paths.source(source) / "source.json").exists():
                    missing[source] = project.sources[source]
        return [*missing.values()]

    def first(self, names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
        """Yield the rows that papers' tables say are trained first, with their runs."""
        requested = {*names}
        for title, artefact in self.targets.artefacts.items():
            drawn = artefact.spec
            first = drawn.settings.first if isinstance(drawn, Table) else None
            runs = [run for run in artefact.rows[first.row] if run in requested] if first else []
            if first and runs:
                yield f"{title}, row {first.row}", runs

    def _lines(self, spec: Spec) -> int | None:
        """Return the lines of a run's training text, as config expects them."""
        dataset = self.targets.project.datasets[spec.data.dataset]
        return dataset.training_lines() if isinstance(dataset, BuiltDataset) else None
