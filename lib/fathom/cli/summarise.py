"""`fathom summarise`: everything that is known of a run to its manifest, and a model card."""

from fathom.cli.options import Results, Run, Scale, Seed, report_of, suggest
from fathom.cli.run_options import open_run
from fathom.decode.ready import require_training


def summarise(run: Run, scale: Scale = None, results: Results = None, seed: Seed = 1) -> None:
    """Write the manifest and the model card of a trained run.

    They gather outcome and measurements; what was not measured yet is left out.

    Example: fathom summarise m2o_diverse_12_12
    """
    opened = open_run(run, scale, results)
    require_training(opened.spec, seed, opened.paths)
    from fathom.artefacts.model_card import model_card
    from fathom.io.files import write_text
    from fathom.results import manifest
    from fathom.scoring.summarise import summarise as write_manifest

    spec, paths = opened.spec, opened.paths
    write_manifest(spec, seed, paths, report_of(spec.folder))
    card = model_card(opened.project, spec, paths, manifest.read(paths.manifest(spec, seed)))
    write_text(paths.model_card(spec, seed), card)
    suggest(f"fathom status {opened.spec.paper} --runs --scale {opened.paths.scale}")
