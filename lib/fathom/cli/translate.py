"""`fathom translate`: test sentences to hypotheses, or a user's own text."""

import sys
from typing import Annotated

import typer

from fathom.cli.options import Device, Run, Scale, Seed, open_catalog, open_paths, report_of
from fathom.errors import FathomError, nearest
from fathom.project.project import Catalog
from fathom.runs.spec import Spec

Gates = Annotated[
    str | None, typer.Option(help="plain, soft or hard; else those that are compared.")
]


def translate(
    run: Run,
    gates: Gates = None,
    task: Annotated[
        str | None, typer.Option(help="Translate standard input, text of this task, instead.")
    ] = None,
    scale: Scale = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Translate a run's test sentences, or your own.

    With --task, standard input is translated line by line to standard output.

    Example: fathom translate static_12_12 --task fra < sentences.txt
    """
    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    chosen = chosen_gates(catalog, spec, gates)
    # Only now: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.inference import translate as decoding
    from fathom.training.environment import choose_device

    place = choose_device(device or catalog.config["device"])
    tensors, folder = paths.tensors(spec.data), paths.run(spec, seed)
    if task is None:
        tell = report_of(f"{spec.folder} {chosen}")
        decoding.translate(spec, tensors, folder, chosen, place, tell)
        return
    lines = _typed_lines()
    subwords = paths.subwords(spec.data)
    for line in decoding.translate_lines(
        spec, tensors, subwords, folder, chosen, task, lines, place
    ):
        typer.echo(line)


def _typed_lines() -> list[str]:
    """Return the lines of standard input; the last may lack its end."""
    try:
        lines = sys.stdin.buffer.read().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        what = f"not UTF-8 at byte {error.start + 1}"
        raise FathomError(what, "standard input", "convert the text first") from None
    return lines if lines[-1] else lines[:-1]


def chosen_gates(catalog: Catalog, spec: Spec, gates: str | None) -> str:
    """Return the gates that the user names, or those that are compared.

    Raises:
        FathomError: the run is not decoded with such gates.
    """
    chosen, valid = gates or spec.evaluation.compared_gates, catalog.gates(spec)
    if chosen not in valid:
        what = f"run {spec.run} is not decoded with '{chosen}' gates"
        raise FathomError(what, "--gates", nearest(chosen, valid))
    return chosen
