"""`fathom status`: what is drawn, trained and compared so far, and how each training goes."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from fathom.artefacts.artefacts import Artefacts
from fathom.artefacts.needs import Needs
from fathom.cli.durations import duration
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
from fathom.cli.watching import watch
from fathom.results.run_state import (
    FAILED,
    NOT_STARTED,
    RUNNING,
    SILENT,
    STALE,
    STOPPED,
)
from fathom.workflow.progress import QUEUED, WAITING, Progress, Progresses

Runs = Annotated[bool, typer.Option("--runs", help="Print a line for each run, too.")]
Watch = Annotated[bool, typer.Option("--watch", help="Print it every few seconds until Ctrl-C.")]
# Printed also without --runs: what runs, and what a user may have to do something about.
_PRINTED = (RUNNING, QUEUED, STOPPED, FAILED, STALE)


def status(
    paper: Paper = None,
    scale: Scale = None,
    results: Results = None,
    seeds: Seeds = None,
    runs: Runs = False,
    watching: Watch = False,
    as_json: Json = False,
) -> None:
    """Print what is drawn and compared, and how trainings go.

    It reads files alone, so it can be called while trainings run, from any
    machine that has them. A training is waiting (for other jobs of a start that
    runs), queued (on a cluster, with the command that frees it where it will not
    start), running (with loss, speed and time left), finished, diverged, failed
    (with its last lines), stopped, stale (its process is gone; the next start
    resumes it) or not started.

    Example: fathom status latent_depth --runs
    """
    artefacts = open_artefacts(scale, results, seeds)
    names = papers_named(artefacts.project, paper, "status")

    def lines() -> list[str]:
        now = _Page(artefacts, names)
        if as_json:
            return [json.dumps(now.as_json(), indent=None if watching else 1, allow_nan=False)]
        return [*now.lines(runs)]

    if watching:
        watch(lines)
        return
    print(*lines(), sep="\n")
    if not as_json:
        top = artefacts.paths.top
        places = [path for path in (top / "report.html", artefacts.paths.compare) if path.exists()]
        report(f"see {', '.join(map(str, places))}" if places else f"nothing is drawn in {top} yet")


class _Page:
    """What the files say at one moment."""

    def __init__(self, artefacts: Artefacts, papers: list[str]):
        self.papers, self.drawn = papers, _drawn(artefacts)
        self.read = Progresses(artefacts.paths)
        self.trained = _trained(artefacts, self.read)
        self.cells = _cells(artefacts.paths.compare, papers)

    def lines(self, runs: bool) -> list[str]:
        """Return what a user reads; `runs` for every training."""
        lines = []
        for name in self.papers:
            for run, progress in self.trained[name].items():
                if runs or progress.kind in _PRINTED:
                    lines.append(f"{run}  {described(progress)}")
                    lines += [f"    {line}" for line in progress.last_lines]
            lines.append(f"{name}: {_summary(self.drawn[name], self.trained[name])}")
        counted = _counted(self.cells) if self.cells else "not compared yet; snakemake compare"
        lines.append(f"cells: {counted}")
        return [*lines, *(f"{job.name}: {job}" for job in self.read.other_jobs)]

    def as_json(self) -> dict[str, Any]:
        """Return the same as JSON has it, of all runs."""
        every = {
            name: {
                "drawn": self.drawn[name],
                "runs": {run: _fields(one) for run, one in self.trained[name].items()},
            }
            for name in self.papers
        }
        jobs = [f"{job.name}: {job}" for job in self.read.jobs]
        return {"papers": every, "cells": self.cells, "jobs": jobs}


def _drawn(artefacts: Artefacts) -> dict[str, dict[str, bool]]:
    """Return which tables and figures of each paper are drawn, by target."""
    drawn: dict[str, dict[str, bool]] = {name: {} for name in artefacts.project.papers}
    for target, artefact in Needs(artefacts.project, artefacts.scale).artefacts.items():
        there = artefacts.is_drawn(artefact.paper, artefact.spec)
        drawn[artefact.paper.name][f"{artefact.verb} {target}"] = there
    return drawn


def _trained(artefacts: Artefacts, read: Progresses) -> dict[str, dict[str, Progress]]:
    """Return how each training of each paper goes, by the run's name and seed."""
    trained: dict[str, dict[str, Progress]] = {name: {} for name in artefacts.project.papers}
    for name in artefacts.project.entries:
        spec = artefacts.project.spec(name, artefacts.scale)
        for seed in artefacts.seeds_of(name):
            label = name if seed == 1 else f"{name} seed {seed}"
            trained[spec.paper][label] = read.of(spec, seed)
    return trained


def _cells(path: Path, papers: list[str]) -> dict[str, int]:
    """Return how many reported cells have each verdict; none before the first comparison."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as stream:
        verdicts = [row["verdict"] for row in csv.DictReader(stream) if row["paper"] in papers]
    return Counter(verdicts)


def _summary(drawn: dict[str, bool], trained: dict[str, Progress]) -> str:
    """Return one line on a paper."""
    parts = []
    for verb in ("table", "figure"):
        done = [there for target, there in drawn.items() if target.startswith(f"{verb} ")]
        parts.append(f"{sum(done)} of {len(done)} {verb}s")
    kinds = Counter(progress.kind for progress in trained.values())
    parts.append(f"{len(trained)} runs" + (f" ({_counted(kinds)})" if kinds else ""))
    return ", ".join(parts)


def _counted(counts: Mapping[str, int]) -> str:
    """Return counts as text, the largest first."""
    return ", ".join(f"{count} {words}" for words, count in Counter(counts).most_common())


def described(progress: Progress) -> str:
    """Return how a training goes, as the end of a line."""
    state, pace = progress.state, progress.pace
    text = progress.kind
    if state.update and not (state.ended and state.update == progress.updates):
        of = f" of {progress.updates}" if progress.updates else ""
        text += f" at update {state.update:,}{of}" if pace else f", update {state.update:,}{of}"
    if pace:
        text += f", NLL {pace.nll:.3f} nats" if pace.nll is not None else ""
        text += f", {pace.tokens_per_second:,.0f} tokens/s" if pace.tokens_per_second else ""
    if progress.seconds_left is not None:
        text += f", {duration(progress.seconds_left)} left"
    if progress.kind == RUNNING and (state.silent or 0) > SILENT:
        text += f", no sign of life for {duration(state.silent or 0)}"
    if progress.kind == STALE:
        text += f": {state.holder} has ended without a word; the next start resumes it"
    elif progress.kind not in (RUNNING, WAITING, NOT_STARTED, "finished") and progress.reason:
        text += f": {progress.reason}"
    if progress.log:
        text += f"; its lines: {progress.log}"
    return text


def _fields(progress: Progress) -> dict[str, Any]:
    """Return how a training goes as JSON has it."""
    state, pace, job = progress.state, progress.pace, progress.job
    return {
        "state": progress.kind,
        "update": state.update,
        "of": progress.updates,
        "nll": pace and pace.nll,
        "tokens_per_second": pace and pace.tokens_per_second,
        "seconds_left": progress.seconds_left,
        "reason": progress.reason,
        "process": str(state.holder) if state.holder else None,
        "seconds_silent": state.silent,
        "job": job and job.number,
        "cure": job and job.cure,
        "log": str(progress.log) if progress.log else None,
        "last_lines": progress.last_lines,
    }
