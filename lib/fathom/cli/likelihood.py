"""`fathom likelihood`: how well a trained run predicts held-out text."""

import math
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fathom.cli.options import Device, Run, Scale, Seed, open_catalog, open_paths, report_of
from fathom.cli.translate import Gates, chosen_gates
from fathom.errors import FathomError, nearest
from fathom.io.files import write_json
from fathom.provenance.code_hash import stage_code
from fathom.runs.spec import Spec

if TYPE_CHECKING:
    from fathom.evaluation.perplexity import Perplexity
    from fathom.inference.likelihood import Likelihood

SPLITS = ("valid", "test")
_HEADINGS = ("task", "tokens", "nats", "bits", "perplexity")


def likelihood(
    run: Run,
    split: Annotated[str, typer.Option(help="The held-out text: valid or test.")] = "test",
    gates: Gates = None,
    scale: Scale = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Measure the perplexity of held-out text.

    Of pairs, the target sentences are predicted; of a masked language model's
    blocks, the hidden pieces, always the same ones. The numbers are a piece's.

    Example: fathom likelihood static_12_12 --split valid
    """
    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    chosen = chosen_gates(catalog, spec, gates)
    if split not in SPLITS:
        raise FathomError(f"no held-out split '{split}'", "--split", nearest(split, SPLITS))
    # Only now: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.evaluation.perplexity import by_task, in_all
    from fathom.inference.likelihood import likelihood as measure
    from fathom.training.environment import choose_device

    path = paths.likelihood(spec, seed, chosen, split)
    # What stands there may be of other weights; should this call fail, nothing is to be believed.
    path.unlink(missing_ok=True)
    place = choose_device(device or catalog.config["device"])
    found = measure(spec, paths.tensors(spec.data), paths.run(spec, seed), chosen, split, place)
    told = by_task(found.nats, found.tokens)
    # A mean over fewer tasks is another quantity.
    whole = in_all(found.nats, found.tokens) if told and not found.no_layer else None
    write_json(path, _described(spec, chosen, split, found, told, whole))
    tell = report_of(f"{spec.folder} {chosen}")
    if found.reason:
        tell(f"likelihood: {found.outcome.replace('_', ' ')} ({found.reason})")
    for task in found.no_layer:
        tell(f"likelihood: {task} has no layer left with {chosen} gates")
    if told:
        _print([*told.items(), *([("all", whole)] if whole else [])])
    tell(f"likelihood: {path}")


def _described(
    spec: Spec,
    gates: str,
    split: str,
    found: "Likelihood",
    told: dict[str, "Perplexity"],
    whole: "Perplexity | None",
) -> dict[str, Any]:
    """Return what the file says; a number that is not finite is null, since JSON has none."""
    return {
        "gates": gates,
        "split": split,
        "outcome": found.outcome,
        "reason": found.reason,
        "average_of": spec.evaluation.decoding.average_of,
        "updates": list(found.updates),
        "tasks": {task: _numbers(each) for task, each in told.items()},
        "all": _numbers(whole) if whole else None,
        "no_layer": list(found.no_layer),
        "code": asdict(stage_code("likelihood", spec.model.architecture, spec.method.name)),
        "versions": {each: version(each) for each in ("torch", "fairseq-fixed")},
    }


def _numbers(found: "Perplexity") -> dict[str, float | int | None]:
    """Return what is told of some tokens."""
    numbers = {"nats": found.nats, "bits": found.bits, "perplexity": found.value}
    finite = {name: each if math.isfinite(each) else None for name, each in numbers.items()}
    return {"tokens": found.tokens} | finite


def _print(told: list[tuple[str, "Perplexity"]]) -> None:
    """Print a line a task, the columns parted by tabs."""
    print("\t".join(_HEADINGS))
    for task, each in told:
        print(f"{task}\t{each.tokens}\t{each.nats:.4f}\t{each.bits:.4f}\t{each.value:.4f}")
