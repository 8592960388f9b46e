"""`fathom best-window`: the mean test score of the checkpoints that validation text chooses."""

from typing import Annotated

import typer

from fathom.cli.options import Device, Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import Gates, open_run
from fathom.decode.ready import require_decoder, require_weights


def best_window(
    run: Run,
    size: Annotated[
        int | None, typer.Option(help="Checkpoints of the window; by default the run's.", min=1)
    ] = None,
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Score a window of checkpoints, chosen on validation text.

    Validation text is translated with all weights that the training saved; test
    text only inside the consecutive checkpoints with the highest mean score.
    Interrupted and started again, it resumes.

    Example: fathom best-window en_de_transformer_transparent_6 --size 2
    """
    opened = open_run(run, scale, results, device)
    require_decoder(opened.spec)
    opened, kind = opened.with_window(size), opened.one_gates(gates)
    opened.require_decodable(kind)
    spec, paths = opened.spec, opened.paths
    ended = require_weights(spec, seed, paths).outcome
    from fathom.results.measured import MeasurementFile
    from fathom.scoring.window import best_window as choose

    report = report_of(f"{spec.folder} {kind}")
    if not ended.finished:
        MeasurementFile(spec, seed, paths, "window", gates=kind).measure(dict, report)
        return
    from fathom.decode.checkpoint_translations import (
        CheckpointTranslations,
        consecutive_updates,
    )

    trained = opened.trained(seed, device)
    updates = consecutive_updates(trained)
    path = choose(
        spec, seed, kind, paths, updates,
        lambda: CheckpointTranslations(trained, kind, report), report, opened.metrics,
    )  # fmt: skip
    report(str(path))
