"""Papers as data: citation, equations, tables and figures."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fathom.config.yaml_files import YamlFile
from fathom.errors import FathomError, nearest
from fathom.papers.columns import Column, Metric


@dataclass(frozen=True)
class Bars:
    """What a figure of grouped bars shows: rows of a table, less its baseline row.

    Attributes:
        table: the table's id.
        baseline: the row that is subtracted.
        columns: ids of the table's columns, one group of bars each.
        axis: label of the vertical axis.
        series: label of each drawn row.
        not_drawn: rows that stand in the CSV alone.
    """

    table: str
    baseline: str
    columns: tuple[str, ...]
    axis: str
    series: dict[str, str]
    not_drawn: tuple[str, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Every row that the figure needs, the baseline first."""
        return (self.baseline, *self.series, *self.not_drawn)


@dataclass(frozen=True)
class Artefact:
    """A table or figure. A figure's rows and columns are those that it takes from its table.

    Attributes:
        name: its id within the paper.
        kind: "table", or the name of the figure kind's module.
        title, caption, section: what is printed with it, and where the paper discusses it.
        rows: row id as printed -> run, in the paper's order.
        columns: in the paper's order.
        groups: explanation of each group of columns that is printed apart.
        metric: of the columns that read scores.
        reported: file of the reported numbers, or None.
        bars: what a figure of grouped bars shows, or None.
    """

    name: str
    kind: str
    title: str
    caption: str
    section: str
    rows: dict[str, str]
    columns: tuple[Column, ...]
    groups: dict[str, str]
    metric: Metric | None
    reported: str | None
    bars: Bars | None

    @property
    def verb(self) -> str:
        """The command that draws it: table or figure."""
        return "table" if self.kind == "table" else "figure"

    def column(self, name: str) -> Column:
        """Return a column by its id.

        Raises:
            FathomError: the artefact has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        known = [column.name for column in self.columns]
        raise FathomError(f"no column '{name}'", self.name, nearest(name, known))


@dataclass(frozen=True)
class Equation:
    """A numbered equation or algorithm; `reason` says why no function computes it."""

    name: str
    title: str
    reason: str

    @property
    def computed(self) -> bool:
        """Whether exactly one function claims it by its tag."""
        return not self.reason


@dataclass(frozen=True)
class Paper:
    """A paper: what it is, what it computes, what it prints."""

    name: str
    title: str
    authors: tuple[str, ...]
    url: str
    citation: dict[str, str]
    equations: dict[str, Equation]
    artefacts: dict[str, Artefact]

    @classmethod
    def from_mapping(cls, name: str, value: dict[str, Any]) -> "Paper":
        """Build a paper from a mapping that has passed its schema."""
        artefacts: dict[str, Artefact] = {}
        for key, each in sorted(value["artefacts"].items(), key=lambda item: "bars" in item[1]):
            artefacts[key] = _artefact(key, each, artefacts)
        return cls(
            name=name,
            title=value["title"],
            authors=tuple(value["authors"]),
            url=value["url"],
            citation=dict(value["citation"]),
            equations={
                key: Equation(key, each["title"], each.get("reason", ""))
                for key, each in value["equations"].items()
            },
            artefacts={key: artefacts[key] for key in value["artefacts"]},
        )

    @property
    def reference(self) -> str:
        """One line that names the paper: authors, title, year."""
        return f"{', '.join(self.authors)}: {self.title}. {self.citation['year']}"


def find_artefact(papers: Mapping[str, Paper], target: str, verb: str) -> tuple[Paper, Artefact]:
    """Return the paper and artefact that a target `<paper>_<artefact>` names.

    Args:
        papers: all papers by id.
        target: what the user typed.
        verb: "table" or "figure": which of the two it must be.

    Raises:
        FathomError: there is no such target, or it is the other of the two.
    """
    targets = {
        f"{paper.name}_{artefact.name}": (paper, artefact)
        for paper in papers.values()
        for artefact in paper.artefacts.values()
    }
    if target not in targets:
        fitting = [name for name, (_, each) in targets.items() if each.verb == verb]
        raise FathomError(f"no {verb} '{target}'", "target", nearest(target, fitting))
    paper, artefact = targets[target]
    if artefact.verb != verb:
        raise FathomError(
            f"a {artefact.verb}, not a {verb}", target, f"draw it with `fathom {artefact.verb}`"
        )
    return paper, artefact


def findings(paper: Paper, runs: Iterable[str], file: YamlFile) -> Iterator[FathomError]:
    """Yield what a paper.yaml says that its schema cannot refuse.

    Args:
        paper: the paper, built from the file.
        runs: the names of the paper's runs.
        file: paper.yaml, for the places of the keys.
    """
    runs = tuple(runs)
    for artefact in paper.artefacts.values():
        place = ("artefacts", artefact.name)
        if artefact.bars is not None:
            yield from _bars_findings(paper, artefact.bars, (*place, "bars"), file)
            continue
        yield from _table_findings(artefact, runs, place, file)


def _table_findings(
    artefact: Artefact, runs: tuple[str, ...], place: tuple[str, ...], file: YamlFile
) -> Iterator[FathomError]:
    for row, run in artefact.rows.items():
        if run not in runs:
            where = file.where((*place, "rows", row))
            yield FathomError(f"no run '{run}'", where, nearest(run, runs))
    for column in artefact.columns:
        key = (*place, "columns", column.name)
        try:
            column.expression  # noqa: B018  (parsing is the check)
        except FathomError as error:
            yield FathomError(error.what, file.where((*key, "value")), error.remedy)
        if column.group and column.group not in artefact.groups:
            where = file.where((*key, "group"))
            yield FathomError(
                f"no group '{column.group}'", where, nearest(column.group, artefact.groups)
            )
    known = [column.name for column in artefact.columns]
    for name in artefact.metric.unknown_for if artefact.metric else ():
        if name not in known:
            where = file.where((*place, "metric", "unknown_for"))
            yield FathomError(f"no column '{name}'", where, nearest(name, known))


def _bars_findings(
    paper: Paper, bars: Bars, place: tuple[str, ...], file: YamlFile
) -> Iterator[FathomError]:
    tables = {name: each for name, each in paper.artefacts.items() if each.kind == "table"}
    if bars.table not in tables:
        where = file.where((*place, "table"))
        yield FathomError(f"no table '{bars.table}'", where, nearest(bars.table, tables))
        return
    table = tables[bars.table]
    for row in bars.rows:
        if row not in table.rows:
            yield FathomError(
                f"table {table.name} has no row '{row}'",
                file.where((*place, "series", row)),
                nearest(row, table.rows),
            )
    columns = [column.name for column in table.columns]
    for name in bars.columns:
        if name not in columns:
            where = file.where((*place, "columns"))
            yield FathomError(
                f"table {table.name} has no column '{name}'", where, nearest(name, columns)
            )


def _artefact(name: str, value: dict[str, Any], tables: Mapping[str, Artefact]) -> Artefact:
    """Build one artefact; a figure takes rows, columns and metric from a table built before."""
    bars = _bars(value["bars"]) if "bars" in value else None
    table = tables.get(bars.table) if bars else None
    if bars and table:
        rows = {row: table.rows[row] for row in bars.rows if row in table.rows}
        by_name = {column.name: column for column in table.columns}
        columns = tuple(by_name[each] for each in bars.columns if each in by_name)
        metric = table.metric
    else:
        rows = dict(value.get("rows", {}))
        columns = tuple(
            Column.from_mapping(key, each) for key, each in value.get("columns", {}).items()
        )
        metric = Metric.from_mapping(value["metric"]) if "metric" in value else None
    return Artefact(
        name=name,
        kind=value["kind"],
        title=value["title"],
        caption=value["caption"],
        section=value["section"],
        rows=rows,
        columns=columns,
        groups=dict(value.get("groups", {})),
        metric=metric,
        reported=value.get("reported"),
        bars=bars,
    )


def _bars(value: dict[str, Any]) -> Bars:
    return Bars(
        table=value["table"],
        baseline=value["baseline"],
        columns=tuple(value["columns"]),
        axis=value["axis"],
        series=dict(value["series"]),
        not_drawn=tuple(value.get("not_drawn", ())),
    )
