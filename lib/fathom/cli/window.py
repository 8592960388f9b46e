"""`fathom window`: the mean test score of consecutive checkpoints that validation text chooses."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fathom.cli.options import Device, Run, Scale, Seed, open_catalog, open_paths, report_of
from fathom.cli.translate import Gates, chosen_gates
from fathom.errors import FathomError
from fathom.evaluation.window import chosen, judged
from fathom.io.files import sha256, write_json
from fathom.io.locks import only_writer
from fathom.provenance.code_hash import stage_code
from fathom.runs.spec import Spec

if TYPE_CHECKING:
    from fathom.evaluation.checkpoint_scores import CheckpointScores
    from fathom.inference.checkpoint_translations import KeptTranslations

FILE = "window.json"
CHOOSES, JUDGES = "valid", "test"
FEWER = "fewer checkpoints were kept than were asked for: all are taken"


def window(
    run: Run,
    size: Annotated[int, typer.Option(help="Checkpoints of the window.")] = 21,
    gates: Gates = None,
    scale: Scale = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Score a window of checkpoints, chosen on validation text.

    Validation text is translated with all weights that the training kept; test
    text only inside the consecutive checkpoints with the highest mean score.
    Stopped and started again, it goes on.

    Example: fathom window static_12_12 --size 5
    """
    if size < 1:
        raise FathomError(f"a window of {size} checkpoints", "--size", "give 1 or more")
    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    kind = chosen_gates(catalog, spec, gates)
    # Only now: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.evaluation.checkpoint_scores import CheckpointScores
    from fathom.inference.checkpoint_translations import KeptTranslations, kept_updates
    from fathom.training.environment import choose_device

    place = choose_device(device or catalog.config["device"])
    training, tensors = paths.run(spec, seed), paths.tensors(spec.data)
    updates = kept_updates(spec, training)
    scores = CheckpointScores(spec, paths.corpus(spec.data), (CHOOSES, JUDGES))
    folder = paths.window(spec, seed, kind)
    tell = report_of(f"{spec.folder} {kind}")
    with only_writer(folder / "lock"):
        (folder / FILE).unlink(missing_ok=True)
        made = KeptTranslations(spec, tensors, training, kind, folder, place, tell)
        found = _found(made, scores, updates, size)
        about = {"gates": kind, "seed": seed} | _about(spec, made, scores)
        # Last: a window that has it is whole.
        write_json(folder / FILE, about | found)
    for line in _table(found, scores.metric):
        print(line)
    tell(f"window: {folder / FILE}")


def _found(
    made: "KeptTranslations", scores: "CheckpointScores", updates: tuple[int, ...], size: int
) -> dict[str, Any]:
    """Translate, choose the window, and return what comes of it, as JSON has it."""
    from fathom.evaluation.checkpoint_scores import means

    candidates = made.of(CHOOSES, updates)
    curve = scores.of(CHOOSES, candidates)
    inside = chosen(means(curve), size)
    judges = made.of(JUDGES, inside)
    by_task = scores.of(JUDGES, judges)
    files = [
        path for part in (candidates, judges) for each in part.values() for path in each.values()
    ]
    return {
        "size": {"asked": size, "found": len(inside)},
        "note": FEWER if len(inside) < size else "",
        "updates": list(inside),
        CHOOSES: _rows(curve, means(curve)),
        JUDGES: _rows(by_task, means(by_task)),
        **_judged(means(by_task), inside, size),
        "tasks": {
            task: _judged({update: each[task] for update, each in by_task.items()}, inside, size)
            for task in by_task[inside[0]]
        },
        "files": {path.name: sha256(path) for path in files},
    }


def _rows(
    scores: Mapping[int, Mapping[str, float]], mean: Mapping[int, float]
) -> list[dict[str, Any]]:
    """Return a list in the order of the updates: keys of JSON would be sorted as text."""
    return [
        {"update": update, "mean": mean[update], "tasks": dict(each)}
        for update, each in scores.items()
    ]


def _judged(test: Mapping[int, float], inside: tuple[int, ...], size: int) -> dict[str, Any]:
    found = judged(test, inside, size)
    return {"mean": found.mean, "window_sd": found.window_sd}


def _about(spec: Spec, made: "KeptTranslations", scores: "CheckpointScores") -> dict[str, Any]:
    """Return what it was made of, as JSON has it."""
    return {
        "run": spec.run,
        "identity": spec.identity,
        "scale": spec.scale,
        "metric": {"name": scores.metric, "signature": scores.signature},
        "settings": asdict(made.settings),
        "code": {"decoding": asdict(made.code), "scoring": asdict(stage_code("window"))},
        "versions": made.versions | {"sacrebleu": version("sacrebleu")},
    }


def _table(found: Mapping[str, Any], metric: str) -> Iterator[str]:
    """Yield the window as a user reads it: its checkpoints, their mean and their spread."""
    yield f"update\t{CHOOSES} {metric}\t{JUDGES} {metric}"
    curve = {row["update"]: row["mean"] for row in found[CHOOSES]}
    for row in found[JUDGES]:
        yield f"{row['update']}\t{curve[row['update']]:.2f}\t{row['mean']:.2f}"
    inside = [curve[update] for update in found["updates"]]
    yield f"mean\t{fmean(inside):.2f}\t{found['mean']:.2f}"
    if found["window_sd"] is not None:
        yield f"window_sd\t\t{found['window_sd']:.2f}"
    size = found["size"]
    note = f" ({found['note']})" if found["note"] else ""
    yield f"{size['found']} of {len(curve)} kept checkpoints, {size['asked']} asked for{note}"
