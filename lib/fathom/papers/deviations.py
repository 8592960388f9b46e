"""The ledger of a paper: what it leaves open or what is done otherwise, and why."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest
from fathom.papers.paper import Paper


@dataclass(frozen=True)
class Deviation:
    """One entry of the ledger; `applies` names artefacts, runs and methods."""

    name: str
    title: str
    paper: str
    released: str
    ours: str
    why: str
    applies: tuple[str, ...]


def from_mapping(value: Mapping[str, Any]) -> tuple[Deviation, ...]:
    """Build a paper's ledger from a mapping that has passed its schema."""
    return tuple(
        Deviation(
            name=name,
            title=each["title"],
            paper=each["paper"],
            released=each.get("released", ""),
            ours=each["ours"],
            why=each["why"],
            applies=tuple(each["applies"]),
        )
        for name, each in value.items()
    )


def findings(
    ledger: Iterable[Deviation],
    paper: Paper,
    runs: Iterable[str],
    methods: Iterable[str],
    file: YamlFile,
) -> Iterator[FathomError]:
    """Yield the entries of a ledger that apply to what does not exist."""
    known = (*paper.artefacts, *runs, *methods)
    for deviation in ledger:
        for position, name in enumerate(deviation.applies):
            if name not in known:
                where = file.where((deviation.name, "applies", position))
                yield FathomError(
                    f"no artefact, run or method '{name}'", where, nearest(name, known)
                )
