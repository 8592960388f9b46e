"""What a paper leaves open or what is done differently, and why: deviations.yaml."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from fathom.config.section import AsTuple, Doc, Section
from fathom.config.setting_paths import unknown_part
from fathom.config.validation import check
from fathom.config.yaml_files import YamlFile
from fathom.io.errors import ANY, Dependent, FathomError, Partly, closest, nearest

PAPER = "paper"
# Besides settings of runs an entry may name short forms of runs.yaml and parts of paper.yaml.
_OF_ENTRIES = ("like", "layers")
OF_PAPER = ("metric", "marks")


class DeviationSettings(Section):
    """The form of an entry."""

    title: Annotated[str, Doc("A few words that name the choice.")]
    paper: Annotated[str, Doc("What the paper says, with the place, or that it is silent.")]
    released: Annotated[str, Doc("What the released code does, where there is any.")] = ""
    ours: Annotated[str, Doc("What is done here, at the paper's own scale.")]
    why: Annotated[str, Doc("What speaks for it.")]
    applies: Annotated[
        tuple[str, ...],
        AsTuple,
        Field(min_length=1),
        Doc("Families, methods, tables, figures, or `paper` for all of it; never runs."),
    ]
    settings: Annotated[
        tuple[str, ...],
        AsTuple,
        Doc("What it decides, as training.clip or metric.tokenize."),
    ] = ()


@dataclass(frozen=True)
class Deviation:
    """An entry of deviations.yaml.

    Attributes:
        name: its key.
        title: a few words that name the choice.
        paper, released, ours, why: what the paper says, what the released code does, what is done
            here, and what speaks for it.
        applies: families, methods, tables, figures, or `paper`.
        settings: paths of runs.yaml and paper.yaml that it decides.
    """

    name: str
    title: str
    paper: str
    released: str
    ours: str
    why: str
    applies: tuple[str, ...]
    settings: tuple[str, ...]


def load(file: YamlFile) -> dict[str, Deviation]:
    """Read a paper's deviations.yaml.

    Raises:
        Partly: everything that is wrong in the file alone.
    """
    entries: dict[str, Deviation] = {}
    findings: list[FathomError] = []
    for name, value in file.value.items():
        settings, wrong = check(DeviationSettings, value, file.where, (name,))
        findings += wrong
        if settings is not None:
            entries[name] = Deviation(name=name, **settings.model_dump())
    if findings:
        raise Partly(findings, entries, [name for name in file.value if name not in entries])
    return entries


def findings(
    deviations: Iterable[Deviation],
    file: YamlFile,
    names: Collection[str],
    runs: Collection[str],
) -> Iterator[FathomError]:
    """Yield entries that apply to what does not exist, or to a run.

    Args:
        deviations: the entries.
        file: deviations.yaml.
        names: the paper's families, tables and figures, and all methods.
        runs: the names of the paper's runs, which no entry lists.
    """
    for entry in deviations:
        for position, name in enumerate(entry.applies):
            where = file.where((entry.name, "applies", position))
            if name in runs:
                yield FathomError(f"'{name}' is a run", where, "name a family, method or table")
            elif name != PAPER and name not in names:
                what, valid = f"no family, method, table or figure '{name}'", (PAPER, *names)
                on = [(kind, name) for kind in ("family", "method", "table", "figure")]
                like = closest(name, valid) is not None
                yield Dependent(what, where, nearest(name, valid), on, like)


def setting_findings(
    deviations: Iterable[Deviation],
    files: Mapping[str, YamlFile],
    methods: Mapping[str, type[Section]],
) -> Iterator[FathomError]:
    """Yield the paths of entries that name no setting, with the nearest valid one.

    Args:
        deviations: the entries.
        files: the paper's files by kind, deviations.yaml among them.
        methods: the classes of all methods' settings.
    """
    for entry in deviations:
        for position, dotted in enumerate(entry.settings):
            wrong = _unknown(dotted, files.get("paper"), methods)
            if wrong and dotted not in _OF_ENTRIES:
                where = files["deviations"].where((entry.name, "settings", position))
                on = [(kind, ANY) for kind in ("method", "mark")]
                yield Dependent(f"no setting '{dotted}'", where, nearest(*wrong), on)


def _unknown(
    dotted: str, paper: YamlFile | None, methods: Mapping[str, type[Section]]
) -> tuple[str, Collection[str]] | None:
    """Return the part of a path that neither runs nor paper.yaml have, and what is possible."""
    first, *others = dotted.split(".")
    if paper is None or first not in OF_PAPER:
        part, names = unknown_part(dotted, methods) or ("", [])
        top = [*_OF_ENTRIES, *OF_PAPER] if part == first else []
        return (part, [*names, *top]) if part else None
    value = paper.value.get(first)
    for part in others:
        names = value if isinstance(value, Mapping) else {}
        if part not in names:
            return part, names
        value = names[part]
    return None
