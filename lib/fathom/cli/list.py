"""`fathom list`: the names that other verbs take."""

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Annotated, Any

import typer

from fathom.artefacts.needs import Needs
from fathom.cli.options import Json, Results, Scale, open_paths, open_project, suggest
from fathom.config.paths import Paths
from fathom.config.project import Project
from fathom.io.errors import FathomError, nearest
from fathom.results.run_state import NOT_STARTED, run_state

Kind = Annotated[
    str,
    typer.Argument(
        help="artefacts, tables, figures, runs, papers, methods, datasets, sources or scales."
    ),
]

# Fields by name.
Rows = dict[str, dict[str, Any]]
# What a user may ask of a name of each kind.
NEXT = {"artefacts": "plan", "tables": "plan", "figures": "plan", "papers": "plan", "runs": "show"}


def list(
    kind: Kind = "artefacts", scale: Scale = None, results: Results = None, as_json: Json = False
) -> None:
    """List tables, figures, runs or other names, with their state.

    Example: fathom list runs --scale paper
    """
    project = open_project()
    _, paths = open_paths(project, scale, results)
    if kind not in KINDS:
        raise FathomError(f"no kind '{kind}'", "list", nearest(kind, KINDS))
    rows = KINDS[kind](project, paths)
    if as_json:
        print(json.dumps(rows, indent=1, allow_nan=False))
        return
    width = max(map(len, rows), default=0)
    for row, fields in rows.items():
        print(f"{row:{width}}  {_text(fields)}".rstrip())
    verb = NEXT.get(kind)
    if verb and rows:
        suggest(f"fathom {verb} {next(iter(rows))} --scale {paths.scale}")


def _text(fields: Mapping[str, Any]) -> str:
    """Return what a line has after a name: its title, or how many seeds, and how far it is."""
    kinds = dict.fromkeys(fields.get("states", {}).values())
    text = fields["title"] if "title" in fields else f"seeds {len(fields['states'])}"
    notes = []
    if fields.get("drawn"):
        notes.append("drawn")
    elif fields.get("ended"):
        notes.append(f"{fields['ended']} of {fields['trainings']} trainings")
    if {*kinds} - {NOT_STARTED}:
        notes.append(", ".join(kinds))
    if fields.get("not_built"):
        notes.append(f"not built: {fields['not_built']}")
    return f"{text}  [{'; '.join(notes)}]" if notes else text


def _artefacts(
    project: Project, paths: Paths, verbs: Collection[str] = ("table", "figure")
) -> Rows:
    from fathom.artefacts.artefacts import Artefacts

    needs, artefacts = Needs(project, paths.scale), Artefacts(project, paths)
    rows: Rows = {}
    for target, artefact in needs.artefacts.items():
        if artefact.verb not in verbs:
            continue
        trainings = [
            paths.training(project.spec(run, paths.scale), seed)
            for run in artefact.runs
            for seed in artefacts.seeds_of(run)
        ]
        rows[target] = {
            "title": artefact.spec.title,
            "drawn": artefacts.is_drawn(artefact.paper, artefact.spec),
            "trainings": len(trainings),
            "ended": sum(path.exists() for path in trainings),
            "not_built": needs.not_built(artefact) or None,
        }
    return rows


def _runs(project: Project, paths: Paths) -> Rows:
    rows: Rows = {}
    for name in project.entries:
        spec, seeds = project.spec(name, paths.scale), project.seeds(name, paths.scale)
        rows[name] = {
            "states": {seed: run_state(paths.run(spec, seed)).kind for seed in seeds},
            "not_built": project.not_built(name, paths.scale) or None,
        }
    return rows


def _datasets(project: Project, _: Paths) -> Rows:
    return {
        name: {"title": dataset.title, "not_built": dataset.not_built or None}
        for name, dataset in project.datasets.items()
    }


def _titles(titles: Callable[[Project], Mapping[str, str]]) -> Callable[[Project, Paths], Rows]:
    """Return what lists names that have a title alone."""
    return lambda project, _: {name: {"title": title} for name, title in titles(project).items()}


KINDS: dict[str, Callable[[Project, Paths], Rows]] = {
    "artefacts": _artefacts,
    "tables": partial(_artefacts, verbs=["table"]),
    "figures": partial(_artefacts, verbs=["figure"]),
    "runs": _runs,
    "papers": _titles(lambda of: {name: paper.about.title for name, paper in of.papers.items()}),
    "methods": _titles(lambda of: {name: card.about.summary for name, card in of.methods.items()}),
    "datasets": _datasets,
    "sources": _titles(lambda of: {name: source.title for name, source in of.sources.items()}),
    "scales": _titles(lambda of: {name: scale.title for name, scale in of.scales.items()}),
}
