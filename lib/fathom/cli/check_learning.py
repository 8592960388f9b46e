"""`fathom check-learning`: the one run by which a reader sees whether a scale works at all."""

import json

import typer

from fathom.cli.options import Json, Results, Scale, Seed, open_paths, open_project
from fathom.decode.ready import require_training
from fathom.io.errors import FathomError


def check_learning(
    scale: Scale = None, results: Results = None, seed: Seed = 1, as_json: Json = False
) -> None:
    """Check that the run that a scale names has learnt.

    Its validation loss must be below the unigram baseline by what the scale
    requires; exit code 1 if it is not.

    Example: fathom check-learning --scale tiny
    """
    project = open_project()
    name, paths = open_paths(project, scale, results)
    required = project.scale(name).check_learning
    if required is None:
        print("null" if as_json else f"scale {name} names no run to check")
        raise typer.Exit
    run = project.run_name(required.run)
    spec = project.spec(run, name)
    training, path = require_training(spec, seed, paths), paths.training(spec, seed)
    ended, validation = training.outcome, training.validation
    below = training.unigram_nll - validation.nll if ended.finished and validation else None
    learnt = below is not None and below >= required.nats_below_unigram
    if as_json:
        content = {
            "run": run,
            "outcome": ended.kind,
            "nats_below_unigram": below,
            "required": required.nats_below_unigram,
            "learnt": learnt,
        }
        print(json.dumps(content, indent=1, allow_nan=False))
    if below is None:
        what = f"{run}: {ended.words} at update {ended.update}"
        raise FathomError(what, str(path), "read train.log next to it")
    line = f"{run}: validation loss is {below:.2f} nats below the unigram baseline"
    bound = f">= {required.nats_below_unigram:g} required"
    if not learnt:
        raise FathomError(f"{line} ({bound})", str(path), "read metrics.tsv next to it")
    if not as_json:
        print(f"{line} ({bound}): OK")
