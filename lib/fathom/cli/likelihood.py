"""`fathom likelihood`: how well a trained run predicts held-out text."""

from typing import Annotated

import typer

from fathom.cli.options import Device, Results, Run, Scale, Seed, report_of
from fathom.cli.run_options import Gates, one_split, open_run
from fathom.decode.ready import require_weights
from fathom.results.measurements import Record


def likelihood(
    run: Run,
    split: Annotated[str, typer.Option(help="The held-out text: valid or test.")] = "valid",
    gates: Gates = None,
    scale: Scale = None,
    results: Results = None,
    seed: Seed = 1,
    device: Device = None,
) -> None:
    """Measure NLL and perplexity of held-out text.

    Of pairs, the target sentences are predicted; of a masked language model's
    blocks, the hidden pieces, always the same ones. The numbers are a piece's.

    Example: fathom likelihood m2o_diverse_12_12 --split valid
    """
    opened = open_run(run, scale, results, device)
    kind, text = opened.one_gates(gates), one_split(split)
    require_weights(opened.spec, seed, opened.paths)
    from fathom.decode import likelihood
    from fathom.results.measured import MeasurementFile

    def records() -> dict[str, Record]:
        from fathom.decode.likelihood import likelihood as predict

        sums = predict(opened.trained(seed, device), text, kind)
        return likelihood.records(sums.nats, sums.tokens, sums.no_layer, text, kind)

    report = report_of(f"{opened.spec.folder} {text}, {kind}")
    file = MeasurementFile(opened.spec, seed, opened.paths, "likelihood", text, kind)
    for line in likelihood.table(file.measure(records, report)):
        print(line)
