"""`fathom summarise`: everything that is known of a run to its manifest."""

from fathom.cli.options import Results, Run, Scale, Seed, report_of, suggest
from fathom.cli.run_options import open_run
from fathom.inference.ready import require_training


def summarise(run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1) -> None:
    """Write the manifest of a trained run.

    It gathers outcome and measurements; what was not measured yet is left out.

    Example: fathom summarise m2o_diverse_12_12
    """
    opened = open_run(run, scale, results)
    require_training(opened.spec, seed, opened.paths)
    from fathom.evaluation.summarise import summarise as write_manifest

    write_manifest(opened.spec, seed, opened.paths, report_of(opened.spec.folder))
    suggest(f"fathom status {opened.spec.paper} --runs --scale {opened.paths.scale}")
