"""What a start finds and what it will train: a few lines, printed before anything happens."""

from collections.abc import Iterator
from pathlib import Path

from fathom.workflow.targets import ALL, CLAIMS, READING, Targets

# Names in one line; Snakemake's own list of jobs has all of them.
MOST_NAMES = 12


def title(targets: Targets) -> str:
    """Return the first line of every start."""
    return f"fathom: scale {targets.project.scale(targets.scale).title}"


def lines(targets: Targets, target: str) -> list[str]:
    """Return what a target finds, what it trains, and what cannot be made yet.

    Raises:
        FathomError: the target cannot be made.
    """
    trainings = _trainings(targets, targets.names_of(target))
    if not trainings:
        what = "claims" if target == CLAIMS else "cells"
        note = f"; {what} without a result say `not run`" if target in READING else ""
        return [f"fathom: {target}: nothing will be trained{note}"]
    missing = [label for label, path in trainings.items() if not path.exists()]
    finished = len(trainings) - len(missing)
    line = (
        f"fathom: {target}: {finished} of {len(trainings)} trainings found, {len(missing)} to train"
    )
    printed = [f"{line}: {_first(missing)}" if missing else line]
    printed += _stale(targets, target)
    if target == ALL or target in targets.project.papers:
        printed += _not_built(targets, target)
    return printed


def _trainings(targets: Targets, names: list[str]) -> dict[str, Path]:
    """Return training.json by `<run>-<hash8>`, with the seed where it is not 1.

    A run comes after the one that it starts from.
    """
    runs, trainings = targets.runs, {}
    for name in names:
        start = targets.project.start_name(name)
        for each_name in (*([start] if start else []), name):
            spec = runs.spec(each_name)
            for seed in runs.seeds(name):
                label = spec.folder if seed == 1 else f"{spec.folder} seed {seed}"
                trainings[f"{spec.paper}/{label}"] = targets.paths.training(spec, seed)
    return trainings


def missing(targets: Targets, target: str) -> list[Path]:
    """Return the training.json of each training that a target needs and that is not there.

    Raises:
        FathomError: the target cannot be made.
    """
    trainings = _trainings(targets, targets.names_of(target)).values()
    return [path for path in trainings if not path.exists()]


def _first(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], *([f"and {more} more"] if more > 0 else [])])


def _stale(targets: Targets, target: str) -> Iterator[str]:
    """Yield how many trainings were made by an older recipe, and what happens to them."""
    runs = targets.runs
    stale = [
        name
        for name in targets.names_of(target)
        for seed in runs.seeds(name)
        if runs.stale(name, seed)
    ]
    if stale:
        again = targets.project.switches.retrain == "stale"
        verdict = "trained again from nothing" if again else "kept; --config retrain=stale"
        yield f"fathom: {len(stale)} trainings of an older recipe: {verdict}"


def _not_built(targets: Targets, target: str) -> Iterator[str]:
    """Yield the runs that cannot be trained yet, by their first reason, then tables and figures."""
    papers = [target] if target in targets.project.papers else list(targets.project.papers)
    reasons: dict[str, dict[str, list[str]]] = {}
    count = 0
    for name, reason in targets.runs.not_built.items():
        paper, run = name.split("/")
        if paper in papers:
            reasons.setdefault(reason.split("; ")[0], {}).setdefault(paper, []).append(run)
            count += len(targets.runs.seeds(name))
    if count:
        yield f"fathom: {count} trainings are not built yet:"
    for reason, runs in reasons.items():
        yield f"  {reason}:"
        yield from (f"    {paper}: {', '.join(names)}" for paper, names in runs.items())
    waiting = [name for name in targets.not_built if targets.artefacts[name].paper.name in papers]
    if waiting:
        yield f"fathom: tables and figures that are not built yet: {', '.join(waiting)}"
