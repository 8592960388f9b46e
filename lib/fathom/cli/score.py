"""`fathom score`: hypotheses to scores."""

from fathom.cli.options import Run, Scale, Seed, open_catalog, open_paths, report_of
from fathom.cli.translate import Gates, chosen_gates


def score(
    run: Run,
    gates: Gates = None,
    scale: Scale = None,
    seed: Seed = 1,
) -> None:
    """Score a run's hypotheses with every metric.

    All come from the same hypotheses; config says which of them is compared.

    Example: fathom score static_12_12
    """
    from fathom.evaluation.score import score as score_decoding

    catalog = open_catalog(check=False)
    name, paths = open_paths(catalog, scale)
    spec = catalog.run_named(run, name)
    chosen = chosen_gates(catalog, spec, gates)
    tell = report_of(f"{spec.folder} {chosen}")
    score_decoding(spec, paths.corpus(spec.data), paths.decoding(spec, seed, chosen), tell)
