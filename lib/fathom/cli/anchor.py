"""`fathom anchor`: the one run by which a reader sees whether a scale works at all."""

import typer

from fathom.cli.options import Scale, Seed, open_catalog, open_paths
from fathom.errors import FathomError
from fathom.provenance.manifest import FINISHED, read


def anchor(scale: Scale = None, seed: Seed = 1) -> None:
    """Check that a scale's anchor run has learnt.

    It must end as far under the unigram yardstick as the scale says; exit
    code 1 if it does not.

    Example: fathom anchor --scale tiny
    """
    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    wanted = catalog.scale(name).anchor
    if wanted is None:
        print(f"scale {name} has no anchor run")
        raise typer.Exit
    path = paths.manifest(catalog.spec(wanted.run, name), seed)
    manifest = read(path)
    outcome, validation = manifest["outcome"], manifest["validation"]
    if outcome["kind"] != FINISHED or validation["nll"] is None:
        raise FathomError(
            f"{wanted.run} {outcome['kind'].replace('_', ' ')} at update {outcome['update']}"
            f" ({outcome['reason']})",
            str(path),
            "look at the train.log beside it",
        )
    under = validation["unigram_nll"] - validation["nll"]
    said = f"{wanted.run} ends {under:.2f} nats a token under the unigram yardstick"
    if under < wanted.nats_under_unigram:
        raise FathomError(
            f"{said}, not {wanted.nats_under_unigram:g}",
            str(path),
            "look at the metrics.tsv beside it",
        )
    print(f"{said} ({wanted.nats_under_unigram:g} are wanted): the network has learnt")
