"""`fathom list`: the names that other verbs take."""

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated

import typer

from fathom.cli.options import Json, Scale, open_paths, open_project
from fathom.errors import FathomError, nearest
from fathom.project.demands import Demands
from fathom.project.project import Project

Kind = Annotated[
    str,
    typer.Argument(
        help="artefacts, tables, figures, runs, papers, methods, datasets, sources or scales."
    ),
]

Rows = dict[str, str]


def list(kind: Kind = "artefacts", scale: Scale = None, as_json: Json = False) -> None:
    """List the names of a kind, one a line, with what is not built yet.

    Example: fathom list runs --scale paper
    """
    project = open_project()
    name, _ = open_paths(project, scale)
    if kind not in KINDS:
        raise FathomError(f"no kind '{kind}'", "list", nearest(kind, KINDS))
    rows = KINDS[kind](project, name)
    if as_json:
        print(json.dumps(rows, indent=1, allow_nan=False))
        return
    width = max(map(len, rows), default=0)
    for row, text in rows.items():
        print(f"{row:{width}}  {text}".rstrip())


def _artefacts(project: Project, scale: str, verbs: Collection[str] = ("table", "figure")) -> Rows:
    demands = Demands(project, scale)
    return {
        target: _state(artefact.drawn.title, demands.not_built(artefact))
        for target, artefact in demands.artefacts.items()
        if artefact.verb in verbs
    }


def _runs(project: Project, scale: str) -> Rows:
    return {
        name: _state(f"seeds {len(project.seeds(name, scale))}", project.not_built(name, scale))
        for name in project.entries
    }


def _datasets(project: Project, scale: str) -> Rows:
    return {
        name: _state(dataset.title, "; ".join(reason for _, reason in dataset.not_built()))
        for name, dataset in project.datasets.items()
    }


def _state(text: str, reason: str) -> str:
    return f"{text}  [not built: {reason}]" if reason else text


KINDS: dict[str, Callable[[Project, str], Rows]] = {
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
