"""What a paper's files may name: runs and corpora, and what of them a table needs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from fathom.io.errors import unknown


@dataclass(frozen=True)
class KnownRun:
    """What tables and figures need of a run, at the paper's own settings.

    Attributes:
        tasks: of its data, in the order of the data set.
        group: runs of one group are compared with each other.
        updates: how long it is trained: a number, or a text such as `75 epochs`.
        seeds: the seeds with which it is trained.
        gates: the gates with which it may be decoded; ("plain",) for a run without gates.
        stacks: the stacks that have gates.
        layers: how many each stack has.
    """

    tasks: tuple[str, ...]
    group: str
    updates: int | str
    seeds: tuple[int, ...]
    gates: tuple[str, ...]
    stacks: tuple[str, ...] = ()
    layers: Mapping[str, int] = field(default_factory=dict)

    @property
    def gated(self) -> bool:
        """Whether its layers have gates."""
        return self.gates != ("plain",)


@dataclass(frozen=True)
class Known:
    """Everything that a paper's files may name.

    Attributes:
        runs: by full name, `<paper>/<run>`.
        corpora: the tasks of each data set.
        families: names of families, by paper.
        methods: names of methods.
        unresolved: full names of the runs whose settings are wrong.
    """

    runs: Mapping[str, KnownRun]
    corpora: Mapping[str, tuple[str, ...]]
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    unresolved: Collection[str] = ()

    def run(self, paper: str, run: str, where: str) -> tuple[str, KnownRun]:
        """Return the full name of a run that a paper's file names, and what is known of it.

        Args:
            paper: the paper.
            run: the name as written.
            where: file, line and key of the name.

        Raises:
            Dependent: there is no such run, or its own settings are wrong.
        """
        name = full_name(paper, run)
        if name not in self.runs:
            raise unknown("run", run, where, self.names(paper), name)
        return name, self.runs[name]

    def names(self, paper: str) -> tuple[str, ...]:
        """Return the names by which a paper's files may call runs: its own, short, come first."""
        start = f"{paper}/"
        names = (*self.runs, *self.unresolved)
        own = [name.removeprefix(start) for name in names if name.startswith(start)]
        return (*own, *(name for name in names if not name.startswith(start)))


def full_name(paper: str, run: str) -> str:
    """Return `<paper>/<run>` of a run that a paper's files name."""
    return run if "/" in run else f"{paper}/{run}"
