"""`fathom status`: what is drawn, trained and compared so far."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from fathom.cli.options import (
    Json,
    Paper,
    Results,
    Scale,
    Seeds,
    open_artefacts,
    papers_named,
    report,
)
from fathom.cluster.status import waiting
from fathom.project.artefacts import Artefacts
from fathom.project.demands import Demands
from fathom.provenance.measurements import FINISHED
from fathom.provenance.run_state import run_state

Runs = Annotated[bool, typer.Option("--runs", help="Print a line for each run, too.")]


def status(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    runs: Runs = False,
    as_json: Json = False,
) -> None:
    """Count what exists: tables, figures, trainings by their outcome, and cells by verdict.

    It reads files alone, so it can be called while trainings run. Of jobs on a cluster it prints
    which wait, and which will not start, with the command that frees them, as the start that waits
    for them has seen it last.

    Example: fathom status latent_depth --runs
    """
    artefacts = open_artefacts(scale, results, seeds)
    names = papers_named(artefacts.project, paper, "status")
    drawn, trained = _drawn(artefacts), _trained(artefacts)
    cells = _cells(artefacts.paths.compare, names)
    if as_json:
        every = {name: {"drawn": drawn[name], "runs": trained[name]} for name in names}
        jobs = list(waiting(artefacts.paths.cluster))
        content = {"papers": every, "cells": cells, "jobs": jobs}
        print(json.dumps(content, indent=1, allow_nan=False))
        return
    for name in names:
        if runs:
            for run, state in trained[name].items():
                print(f"{run}  {_words(state)}")
        print(f"{name}: {_summary(drawn[name], trained[name])}")
    print(f"cells: {_counted(cells)}" if cells else "cells: not compared yet; snakemake compare")
    for line in waiting(artefacts.paths.cluster):
        print(line)
    top = artefacts.paths.top
    places = [path for path in (top / "report.html", artefacts.paths.compare) if path.exists()]
    report(f"see {', '.join(map(str, places))}" if places else f"nothing is drawn in {top} yet")


def _drawn(artefacts: Artefacts) -> dict[str, dict[str, bool]]:
    """Return which tables and figures of each paper are drawn, by target."""
    drawn: dict[str, dict[str, bool]] = {name: {} for name in artefacts.project.papers}
    for target, artefact in Demands(artefacts.project, artefacts.scale).artefacts.items():
        there = artefacts.is_drawn(artefact.paper, artefact.drawn)
        drawn[artefact.paper.name][f"{artefact.verb} {target}"] = there
    return drawn


def _trained(artefacts: Artefacts) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the state of each training of each paper, by the run's name and seed."""
    states: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in artefacts.project.papers}
    for name in artefacts.project.entries:
        spec = artefacts.project.spec(name, artefacts.scale)
        for seed in artefacts.seeds_of(name):
            state = run_state(artefacts.paths.run(spec, seed))
            label = name if seed == 1 else f"{name} seed {seed}"
            of = spec.training.updates
            states[spec.paper][label] = {"state": state.kind, "update": state.update, "of": of}
    return states


def _cells(path: Path, papers: list[str]) -> dict[str, int]:
    """Return how many reported cells have each verdict; none before the first comparison."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as stream:
        verdicts = [row["verdict"] for row in csv.DictReader(stream) if row["paper"] in papers]
    return dict(Counter(verdicts).most_common())


def _summary(drawn: dict[str, bool], trained: dict[str, dict[str, Any]]) -> str:
    """Return one line on a paper."""
    parts = []
    for verb in ("table", "figure"):
        done = [there for target, there in drawn.items() if target.startswith(f"{verb} ")]
        parts.append(f"{sum(done)} of {len(done)} {verb}s")
    states = Counter(state["state"] for state in trained.values())
    parts.append(f"{len(trained)} runs ({_counted(dict(states.most_common()))})")
    return ", ".join(parts)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def _words(state: dict[str, Any]) -> str:
    """Return a training's state, with its update where it is not at its end."""
    if state["update"] is None or state["state"] == FINISHED:
        return state["state"]
    return f"{state['state']} at update {state['update']} of {state['of']}"
