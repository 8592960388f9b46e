"""`fathom list`: the names that other verbs take."""

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from fathom.cli.options import Json, Results, Scale, open_paths, open_project, suggest
from fathom.errors import FathomError, nearest
from fathom.project.demands import Artefact, Demands
from fathom.project.project import Project
from fathom.provenance.run_state import NOT_STARTED, run_state
from fathom.runs.paths import Paths

if TYPE_CHECKING:
    from fathom.project.artefacts import Artefacts

Kind = Annotated[
    str,
    typer.Argument(
        help="artefacts, tables, figures, runs, papers, methods, datasets, sources or scales."
    ),
]

Rows = dict[str, str]
# What a user may ask of a name of each kind.
NEXT = {"artefacts": "plan", "tables": "plan", "figures": "plan", "papers": "plan", "runs": "show"}


def list(
    kind: Kind = "artefacts", scale: Scale = None, results: Results = None, as_json: Json = False
) -> None:
    """List the names of a kind, one a line, and what is there.

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
    for row, text in rows.items():
        print(f"{row:{width}}  {text}".rstrip())
    verb = NEXT.get(kind)
    if verb and rows:
        suggest(f"fathom {verb} {next(iter(rows))} --scale {paths.scale}")


def _artefacts(
    project: Project, paths: Paths, verbs: Collection[str] = ("table", "figure")
) -> Rows:
    from fathom.project.artefacts import Artefacts

    demands, artefacts = Demands(project, paths.scale), Artefacts(project, paths)
    return {
        target: _state(
            artefact.drawn.title, _progress(artefacts, artefact), demands.not_built(artefact)
        )
        for target, artefact in demands.artefacts.items()
        if artefact.verb in verbs
    }


def _progress(artefacts: "Artefacts", artefact: Artefact) -> str:
    """Return whether a table or figure is drawn, or how many of its trainings have ended."""
    if artefacts.is_drawn(artefact.paper, artefact.drawn):
        return "drawn"
    trainings = [
        artefacts.paths.training(artefacts.project.spec(run, artefacts.scale), seed)
        for run in artefact.runs
        for seed in artefacts.seeds_of(run)
    ]
    ended = sum(path.exists() for path in trainings)
    return f"{ended} of {len(trainings)} trainings" if ended else ""


def _runs(project: Project, paths: Paths) -> Rows:
    return {
        name: _state(
            f"seeds {len(project.seeds(name, paths.scale))}",
            _states(project, paths, name),
            project.not_built(name, paths.scale),
        )
        for name in project.entries
    }


def _states(project: Project, paths: Paths, name: str) -> str:
    """Return how far the trainings of a run are; empty if none has started."""
    spec = project.spec(name, paths.scale)
    seeds = project.seeds(name, paths.scale)
    kinds = [run_state(paths.run(spec, seed)).kind for seed in seeds]
    return "" if {*kinds} == {NOT_STARTED} else ", ".join(dict.fromkeys(kinds))


def _datasets(project: Project, paths: Paths) -> Rows:
    return {
        name: _state(dataset.title, "", dataset.not_built)
        for name, dataset in project.datasets.items()
    }


def _state(text: str, progress: str, reason: str) -> str:
    notes = [progress] if progress else []
    notes += [f"not built: {reason}"] if reason else []
    return f"{text}  [{'; '.join(notes)}]" if notes else text


KINDS: dict[str, Callable[[Project, Paths], Rows]] = {
    "artefacts": _artefacts,
    "tables": partial(_artefacts, verbs=["table"]),
    "figures": partial(_artefacts, verbs=["figure"]),
    "runs": _runs,
    "papers": lambda project, _: {n: p.about.title for n, p in project.papers.items()},
    "methods": lambda project, _: {n: m.about.summary for n, m in project.methods.items()},
    "datasets": _datasets,
    "sources": lambda project, _: {n: s.title for n, s in project.sources.items()},
    "scales": lambda project, _: {n: s.title for n, s in project.scales.items()},
}
