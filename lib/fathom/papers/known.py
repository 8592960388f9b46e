"""What a paper's files may name: runs and corpora, and what of them a table needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
    """

    tasks: tuple[str, ...]
    group: str
    updates: int | str
    seeds: tuple[int, ...]
    gates: tuple[str, ...]
    stacks: tuple[str, ...] = ()

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
    """

    runs: Mapping[str, KnownRun]
    corpora: Mapping[str, tuple[str, ...]]
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    methods: tuple[str, ...] = ()

    def names(self, paper: str) -> tuple[str, ...]:
        """Return the names by which a paper's files may call runs: its own, short, come first."""
        start = f"{paper}/"
        own = [name.removeprefix(start) for name in self.runs if name.startswith(start)]
        return (*own, *(name for name in self.runs if not name.startswith(start)))


def full_name(paper: str, run: str) -> str:
    """Return `<paper>/<run>` of a run that a paper's files name."""
    return run if "/" in run else f"{paper}/{run}"
