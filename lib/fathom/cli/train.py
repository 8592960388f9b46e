"""`fathom train`: train one run."""

import typer

from fathom.cli.options import Device, Run, Scale, Seed, open_catalog, open_paths, report


def train(run: Run, scale: Scale = None, seed: Seed = 1, device: Device = None) -> None:
    """Train one run, or go on with it.

    A run that was killed goes on from its newest checkpoint; one that has
    ended is left alone.

    Example: fathom train static_12_12 --scale tiny --seed 1
    """
    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    # Only now: torch takes seconds, and a mistyped name need not wait for it.
    from fathom.training.loop import Launch, Places, Stopped
    from fathom.training.train import train as train_run

    launch = Launch(
        device=device or catalog.config["device"],
        tokens_per_device=catalog.config["tokens_per_device"],
        log_every=catalog.config["log_every"],
        diagnose_first=catalog.config["diagnose_first"],
        diagnose_every=catalog.config["diagnose_every"],
    )
    places = Places(paths.tensors(spec.data), paths.run(spec, seed), paths.base(spec, seed))
    try:
        train_run(spec, seed, places, launch, report)
    except Stopped as stopped:
        report(f"{spec.folder}: {stopped}")
        raise typer.Exit(128 + stopped.number) from None
