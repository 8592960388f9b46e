"""`fathom score`: hypotheses to scores."""

from fathom.cli.options import Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import Gates, Split, open_run
from fathom.inference.ready import require_decoder


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
    require_decoder(opened.spec)
    from fathom.evaluation.score import score as score_decoding

    for one, kind in opened.decodings(split, gates):
        report = report_of(f"{opened.spec.folder} {one}, {kind}")
        score_decoding(opened.spec, seed, one, kind, opened.paths, report)
