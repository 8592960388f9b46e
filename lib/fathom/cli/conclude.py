"""`fathom conclude`: everything that is known of a run to its manifest."""

from fathom.cli.options import Run, Scale, Seed, open_catalog, open_paths, report


def conclude(run: Run, scale: Scale = None, seed: Seed = 1) -> None:
    """Write the manifest of a scored run.

    All that is known of it in one file, from which tables, figures and the
    comparison are made.

    Example: fathom conclude static_12_12
    """
    from fathom.evaluation.summarise import conclude as write_manifest

    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    write_manifest(spec, seed, catalog.gates(spec), paths, report)
