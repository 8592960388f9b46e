"""`fathom anchor`: the one run by which a reader sees whether a scale works at all."""

import typer

from fathom.cli.options import Scale, Seed, open_catalog, open_paths
from fathom.records.errors import FathomError


def anchor(scale: Scale = None, seed: Seed = 1) -> None:
    """Check that the scale's anchor run has learnt something; exit code 1 if not.

    Example: fathom anchor --scale tiny
    """
    from fathom.records.manifest import read

    catalog = open_catalog()
    name, paths = open_paths(catalog, scale)
    wanted = catalog.scale(name).anchor
    if wanted is None:
        print(f"scale {name} has no anchor run")
        raise typer.Exit
    path = paths.manifest(catalog.spec(wanted.run, name), seed)
    manifest = read(path)
    validation = manifest["validation"]
    if validation["nll"] is None:
        raise FathomError(
            f"{wanted.run} ended as {manifest['outcome']['kind']}", str(path), "look at its train.log"
        )
    under = validation["unigram_nll"] - validation["nll"]
    said = f"{wanted.run} ends {under:.2f} nats a token under the unigram yardstick"
    if under < wanted.nats_under_unigram:
        raise FathomError(
            f"{said}, less than {wanted.nats_under_unigram:g}", str(path), "look at metrics.tsv"
        )
    print(f"{said} ({wanted.nats_under_unigram:g} are wanted): the network has learnt")
