"""The verbs that answer questions about config: list, show, validate, where, params."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fathom.cli.options import (
    Json,
    Paper,
    Results,
    Run,
    Scale,
    open_project,
    open_scale,
    papers_named,
)
from fathom.cli.terminal import answer, print_columns, print_lines, report, suggest, wrapped
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.io.errors import FathomError, nearest, refuse

if TYPE_CHECKING:
    from fathom.artefacts.parameters import PrintedCount
    from fathom.config.show import Setting

# Fields by name.
Rows = dict[str, dict[str, Any]]
KINDS = (
    *("artefacts", "tables", "figures", "runs", "papers"),
    *("methods", "datasets", "sources", "scales"),
)
# What a user may ask of a name of each kind.
NEXT = {"artefacts": "plan", "tables": "plan", "figures": "plan", "papers": "plan", "runs": "show"}

Kind = Annotated[
    str,
    typer.Argument(
        help="artefacts (tables and figures), tables, figures, runs, papers, methods, datasets, "
        "sources or scales."
    ),
]


def list(
    kind: Kind = "artefacts", scale: Scale = None, results: Results = None, as_json: Json = False
) -> None:
    """List tables, figures, runs or other names, with their state.

    Example: fathom list runs --scale paper
    """
    project, paths = open_scale(scale, results, of_results=True)
    if kind not in KINDS:
        raise FathomError(f"no kind '{kind}'", "list", nearest(kind, KINDS))
    first = None
    if kind in ("artefacts", "tables", "figures"):
        rows, first = _artefacts(project, paths, kind)
    elif kind == "runs":
        rows = _runs(project, paths)
    else:
        rows = _titles(project, kind)
    answer(as_json, rows, ())
    if as_json:
        return
    lines = [(row, *_text(fields)) for row, fields in rows.items()]
    columns = 3 if any(state for _, _, state in lines) else 2
    headings = ("name", "seeds" if kind == "runs" else "title", "state")
    print_columns(headings[:columns], (line[:columns] for line in lines))
    # A table of sizes or text trains nothing.
    first = first or next((row for row in rows if rows[row].get("trainings", 1)), None)
    if first and (verb := NEXT.get(kind)):
        suggest(paths.command(verb, first))


def _text(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a line has after a name: its title, or how many seeds, and how far it is."""
    title, state = fields.get("title", ""), "drawn" if fields.get("drawn") else ""
    if "states" in fields:
        title = str(len(fields["states"]))
        state = ", ".join(dict.fromkeys(fields["states"].values()))
    elif fields.get("trainings") and not state:
        state = f"{fields['ended']} of {fields['trainings']} trained"
    return title, f"not built: {fields['not_built']}" if fields.get("not_built") else state


def _artefacts(project: Project, paths: Paths, kind: str) -> tuple[Rows, str | None]:
    """Return tables and figures, and the first with the run that the scale watches, if any."""
    from fathom.workflow.targets import Targets

    targets = Targets(project, paths.scale, paths)
    watched = project.scale(paths.scale).check_learning
    rows: Rows = {}
    for target, artefact in targets.artefacts.items():
        if kind not in ("artefacts", f"{artefact.verb}s"):
            continue
        trainings = [
            paths.training(project.spec(run, paths.scale), seed)
            for run in artefact.runs
            for seed in project.seeds(run, paths.scale)
        ]
        rows[target] = {
            "title": artefact.spec.settings.title,
            "drawn": targets.is_drawn(artefact),
            "trainings": len(trainings),
            "ended": sum(path.exists() for path in trainings),
            "not_built": targets.not_built(artefact) or None,
        }
    runs = {name: targets.artefacts[name].runs for name in rows}
    return rows, next((name for name in rows if watched and watched.run in runs[name]), None)


def _runs(project: Project, paths: Paths) -> Rows:
    from fathom.results.run_state import run_state

    rows: Rows = {}
    for name in project.entries:
        spec, seeds = project.spec(name, paths.scale), project.seeds(name, paths.scale)
        rows[name] = {
            "states": {seed: run_state(paths.run(spec, seed)).kind for seed in seeds},
            "not_built": project.not_built(name, paths.scale) or None,
        }
    return rows


def _titles(project: Project, kind: str) -> Rows:
    """Return what lists names that have a title alone, or why they are not built."""
    if kind == "papers":
        return {
            name: {"title": paper.about.title + (" (a study)" if paper.is_study else "")}
            for name, paper in project.papers.items()
        }
    if kind == "methods":
        return {name: {"title": card.about.summary} for name, card in project.methods.items()}
    if kind == "datasets":
        return {
            name: {"title": dataset.title, "not_built": dataset.not_built or None}
            for name, dataset in project.datasets.items()
        }
    named = project.sources if kind == "sources" else project.scales
    return {name: {"title": item.title} for name, item in named.items()}


Changed = Annotated[bool, typer.Option("--changed", help="Only what the scale changes.")]


def show(run: Run, scale: Scale = None, changed: Changed = False, results: Results = None) -> None:
    """Print a run's settings and where each value comes from.

    Each setting has a line: its value, file and line, the paper's value if the
    scale has another, and where the paper gives it (`silent`: it does not).

    Example: fathom show m2o_diverse_12_12 --scale tiny
    """
    from fathom.config.show import describe

    project, paths = open_scale(scale, results)
    spec = project.run_named(run, paths.scale)
    settings = [
        setting
        for setting in describe(project, spec.name, paths.scale)
        if setting.changed or not changed
    ]
    reason = project.not_built(spec.name, paths.scale)
    print(f"{spec.name} at scale {paths.scale}: {paths.run(spec, 1).parent}")
    if reason:
        print(wrapped(f"not built yet: {reason}"))
    if settings:
        print_columns(_SETTING, map(_setting, settings))
    made = paths.run_command(spec.name)
    suggest(f"fathom list runs --scale {paths.scale}" if reason else made)


_SETTING = ("setting", "value here", "where", "the paper's value", "source")


def _setting(setting: "Setting") -> tuple[str, ...]:
    """Return the cells of a setting; a paper's value that is the same is left out."""
    paper = _as_yaml(setting.paper) if setting.changed else ""
    return setting.path, _as_yaml(setting.value), setting.where, paper, setting.source


def _as_yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, allow_nan=False)


def validate() -> None:
    """Check every file of config/.

    All findings are printed, a line each; exit code 1 if there are any.

    Example: fathom validate
    """
    from fathom.artefacts.check import beyond_config

    project = open_project(check=beyond_config)
    refuse(project.files.absent.values())
    counts = {
        "papers": len(project.papers),
        "tables": sum(len(paper.tables) for paper in project.papers.values()),
        "figures": sum(len(paper.figures) for paper in project.papers.values()),
        "runs": len(project.entries),
        "methods": len(project.methods),
        "data sets": len(project.datasets),
        "sources": len(project.sources),
        "scales": len(project.scales),
    }
    words = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"config/ is valid: {words}")
    suggest("fathom list")


PaperOfEquation = Annotated[
    str | None, typer.Argument(help="A paper, as `fathom list papers` names it. Default: all.")
]
Number = Annotated[
    str | None,
    typer.Argument(help='The number of an equation, "Alg. 2", or a symbol as L_K. Default: all.'),
]


def where(paper: PaperOfEquation = None, number: Number = None) -> None:
    """Find the code and the test of an equation.

    Example: fathom where latent_depth 5
    """
    from fathom.artefacts.equations import entries, line

    project = open_project()
    papers = project.papers if paper is None else [paper]
    equations = [entry for name in papers for entry in entries(project, name, number)]
    print_lines(map(line, equations))


_HEADINGS = ("paper", "table", "cell", "printed", "ours", "difference", "verdict", "why")
_WORDS = {"agrees": "agree", "differs": "differ"}
Table = Annotated[str | None, typer.Option(help="A table, as <paper>_<table>. Default: all.")]


def params(paper: Paper = None, table: Table = None, results: Results = None) -> None:
    """Compare printed parameter counts with our networks.

    Networks are built without their tensors, at the papers' own settings. Each
    count agrees (`within` of `parameters` in config/columns.yaml: 1 %, or the
    printed digits), is a known misprint, is unexplained, or differs.

    Example: fathom params lamgd
    """
    from fathom.artefacts.parameters import printed_counts

    project, _ = open_scale(None, results, check=True)
    papers = papers_named(project, paper, "params")
    chosen = project.find(table, "table")[1] if table else None
    without_sizes = []
    all_counts = [*printed_counts(project, without_sizes)]
    counts = [
        count
        for count in all_counts
        if count.paper in papers
        and (chosen is None or (count.paper, count.table) == (chosen.paper, chosen.name))
    ]
    lines = [*map(_cells, counts)]
    for skipped in dict.fromkeys(map(str, without_sizes)):
        report(f"not counted: {skipped}")
    print_columns(_HEADINGS, lines)
    verdicts = Counter(line[_HEADINGS.index("verdict")] for line in lines)
    summary = ", ".join(f"{count} {_WORDS.get(word, word)}" for word, count in verdicts.items())
    if lines:
        report(f"{len(lines)} printed counts: {summary}")
    else:
        others = {f"{count.paper}_{count.table}" for count in all_counts}
        report(f"no parameter count is printed there; others: {', '.join(sorted(others))}")


def _cells(count: "PrintedCount") -> tuple[str, ...]:
    """Return a printed count next to that of its network, one cell for each heading."""
    ours, cell = count.ours(), count.cell
    sign = "" if count.added_to is None else "+"
    share = count.difference(ours)
    # Adding 0 takes the sign from a rounded −0.
    difference = "" if share is None else f"{round(100 * share, 2) + 0:+.2f} %"
    return (
        count.paper,
        count.table,
        f"{cell.row}, {cell.column}",
        f"{sign}{float(cell.value):g} M",
        f"{sign}{ours / 1e6:.3f} M",
        difference,
        count.verdict(ours),
        f"{float(cell.right):g} M is meant" if cell.right else count.reason or "",
    )
