"""`fathom score`: hypotheses to scores."""

from fathom.cli.options import Results, Run, Scale, Seed, report_of, suggest
from fathom.cli.run_options import Gates, Split, open_run
from fathom.decode.ready import require_decoder, require_made, require_training


def score(
    run: Run,
    split: Split = None,
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
) -> None:
    """Score a run's hypotheses with every metric.

    Without --split and --gates every decoding that config asks for is scored.

    Example: fathom score m2o_diverse_12_12
    """
    opened = open_run(run, scale, results)
    spec, paths = opened.spec, opened.paths
    require_decoder(spec)
    decodings = opened.decodings(split, gates)
    require_training(spec, seed, paths)
    for one, kind in decodings:
        command = paths.command("translate", spec.name, seed)
        named = f"{command} --split {one} --gates {kind}" if split or gates else command
        require_made(paths.decoding(spec, seed, one, kind) / "decoding.json", named)
    from fathom.scoring.score import score as score_decoding

    for one, kind in decodings:
        report = report_of(f"{spec.folder} {one}, {kind}")
        score_decoding(spec, seed, one, kind, paths, report, opened.metrics)
    suggest(f"fathom status {spec.paper} --runs --scale {paths.scale}")
